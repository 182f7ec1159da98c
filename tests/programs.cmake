# SPDX-License-Identifier: Apache-2.0
# How the programs of tests are made; builds of their own (tests/mutants) include it, too.
find_package(GTest REQUIRED)
include(GoogleTest)

# Half of the time to compile a test goes into these headers; sources include what they use all the same.
set(GEMM64_TEST_HEADERS <algorithm> <filesystem> <functional> <map> <memory> <optional> <random> <string> <vector>
  <Eigen/Core> <fmt/format.h> <nlohmann/json.hpp> <gmock/gmock.h> <gtest/gtest.h>)

# gemm64_add_tests(<name> SOURCES <file>... LIBRARIES <library>... [DEFINITIONS <name=value>...] [PRECOMPILED]
#   LABELS <label>... TIMEOUT <seconds>)
# A program of tests. PRECOMPILED: it has so many sources that headers are compiled once for all.
function(gemm64_add_tests name)
  cmake_parse_arguments(arg "PRECOMPILED" "TIMEOUT" "SOURCES;LIBRARIES;DEFINITIONS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS})
  target_compile_options(${name} PRIVATE ${GEMM64_WARNINGS})
  if(arg_PRECOMPILED)
    target_precompile_headers(${name} PRIVATE ${GEMM64_TEST_HEADERS})
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
