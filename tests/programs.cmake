# SPDX-License-Identifier: Apache-2.0
# How the programs of tests are made; builds of their own (tests/signoff/mutation) include it, too.
find_package(GTest REQUIRED)
include(GoogleTest)

# A precompiled header and the programs that use it must agree on this.
unset(CMAKE_POSITION_INDEPENDENT_CODE)

# Half of the time to compile a test goes into these headers.
set(GEMM64_TEST_HEADERS <Eigen/Core> ${CMAKE_CURRENT_LIST_DIR}/test.hpp)

# Templates of matchers and of the standard library cost as much as a test's own code: sources that share them are compiled
# as one. More at once would hardly help, and lengthen the build after a change.
set(GEMM64_TEST_UNITY_SOURCES 6)

# gemm64_precompile_tests(<program>): its headers are compiled once for all programs of tests, or once for all that know
# ONNX's messages, and several of its sources are compiled as one.
function(gemm64_precompile_tests name)
  get_target_property(libraries ${name} LINK_LIBRARIES)
  set(headers gemm64_test_headers)
  set(more)
  if(libraries MATCHES "gemm64_(onnx|commands)")
    set(headers gemm64_onnx_test_headers)
    set(more ${PROJECT_BINARY_DIR}/generated/host/graph/proto/onnx.pb.h)
  endif()
  if(NOT TARGET ${headers})
    set(empty ${PROJECT_BINARY_DIR}/generated/${headers}.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(${headers} OBJECT EXCLUDE_FROM_ALL ${empty})
    target_link_libraries(${headers} PRIVATE gemm64_base GTest::gmock)
    if(more)
      target_link_libraries(${headers} PRIVATE gemm64_kernels)
    endif()
    target_compile_options(${headers} PRIVATE ${GEMM64_WARNINGS})
    target_precompile_headers(${headers} PRIVATE ${GEMM64_TEST_HEADERS} ${more})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
  set_target_properties(${name} PROPERTIES UNITY_BUILD "${GEMM64_UNITY}" UNITY_BUILD_BATCH_SIZE ${GEMM64_TEST_UNITY_SOURCES})
  target_link_libraries(${name} PRIVATE gemm64_base)  # all must agree on the processor
endfunction()

# gemm64_label_tests(<program> [MATCHING <regular expression>] [COST <seconds>] LABELS <label>...)
# Labels the tests of a program whose names match; gtest_discover_tests() knows one label only. ctest starts those of a high
# COST first.
function(gemm64_label_tests name)
  cmake_parse_arguments(arg "" "MATCHING;COST" "LABELS" ${ARGN})
  if(arg_COST)
    set(arg_COST "COST ${arg_COST}")
  endif()
  get_property(files DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  list(LENGTH files count)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels_${count}.cmake)
  file(CONFIGURE OUTPUT ${script} @ONLY CONTENT [[
set(tests ${@name@_TESTS})
list(FILTER tests INCLUDE REGEX "@arg_MATCHING@")
if(tests)
  set_tests_properties(${tests} PROPERTIES LABELS "@arg_LABELS@" @arg_COST@)
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# gemm64_regression_program(<program>)
# All of its tests take long: `make regression` builds and runs it, and a build for `make test` does not know its tests.
function(gemm64_regression_program name)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  if(NOT TARGET gemm64_regression)
    add_custom_target(gemm64_regression)
  endif()
  add_dependencies(gemm64_regression ${name})
  # In place of CMake's own file, which adds a failing test for a program that is not built.
  get_property(files DIRECTORY PROPERTY TEST_INCLUDE_FILES)
  set(include ${files})
  list(FILTER include INCLUDE REGEX "/${name}\\[[0-9]+\\]_include[.]cmake$")
  if(NOT include)
    message(FATAL_ERROR "${name}: gtest_discover_tests() no longer includes a file <name>[<number>]_include.cmake")
  endif()
  string(REPLACE "_include.cmake" "_tests.cmake" tests "${include}")
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_if_built.cmake)
  file(CONFIGURE OUTPUT ${script} CONTENT "include(\"${tests}\" OPTIONAL)\n")
  list(TRANSFORM files REPLACE ".*/${name}\\[[0-9]+\\]_include[.]cmake$" "${script}")
  set_property(DIRECTORY PROPERTY TEST_INCLUDE_FILES ${files})
  gemm64_label_tests(${name} LABELS slow regression)
  get_target_property(sources ${name} SOURCES)
  list(FILTER sources INCLUDE REGEX "_test[.]cpp$")
  list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_property(GLOBAL APPEND PROPERTY GEMM64_REGRESSION_SOURCES ${sources})
endfunction()

# gemm64_add_tests(<name> SOURCES <file>... LIBRARIES <library>... [DEFINITIONS <name=value>...]
#   LABELS <label>... TIMEOUT <seconds> [ONLY_LIBRARIES] [APART] [SHARE <number>])
# A program of tests. ONLY_LIBRARIES: it links nothing else, and so has no precompiled headers. APART: its sources use the
# same names in their unnamed namespaces, and are compiled one by one. SHARE: of the seeds that a test draws with, one in
# <number> is run (tests/random.hpp); gemm64_all_seeds() adds tests of all.
function(gemm64_add_tests name)
  cmake_parse_arguments(arg "ONLY_LIBRARIES;APART" "SHARE;TIMEOUT" "SOURCES;LIBRARIES;DEFINITIONS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_compile_options(${name} PRIVATE ${GEMM64_WARNINGS})
  if(NOT arg_ONLY_LIBRARIES)
    gemm64_precompile_tests(${name})
  endif()
  if(arg_APART)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  list(GET arg_LABELS 0 label)
  set(environment)
  if(arg_SHARE)
    set(environment ENVIRONMENT GEMM64_TEST_SHARE=${arg_SHARE})
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS ${label} TIMEOUT ${arg_TIMEOUT} ${environment})
  gemm64_label_tests(${name} LABELS ${arg_LABELS})
endfunction()

# gemm64_all_seeds(<program> PARTS <number> LABELS <label>...)
# `make regression` runs the program's suites that draw with all their seeds, as <number> tests. Of these suites, what is
# labelled all_seeds runs there only.
function(gemm64_all_seeds name)
  cmake_parse_arguments(arg "" "PARTS" "LABELS" ${ARGN})
  get_target_property(sources ${name} SOURCES)
  set(suites)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    file(STRINGS ${source} draws REGEX "(for_seeds|seeds_to_run)\\(")
    file(STRINGS ${source} tests REGEX "^TEST(_F|_P)?\\(")
    if(draws)
      list(TRANSFORM tests REPLACE "^TEST[_FP]*\\(([A-Za-z0-9_]+).*" "*\\1.*")
      list(APPEND suites ${tests})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES suites)
  list(JOIN suites ":" suites)
  list(GET arg_LABELS 0 label)
  math(EXPR last "${arg_PARTS} - 1")
  foreach(part RANGE ${last})
    set(test ${label}.all_seeds_${part})
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1 "--gtest_filter=${suites}")
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS};regression" TIMEOUT 900 COST 60
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_PARTS};GTEST_SHARD_INDEX=${part}")
  endforeach()
endfunction()
