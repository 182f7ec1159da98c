# SPDX-License-Identifier: Apache-2.0
# The layers of host/ as targets. README.md has the one table of them: a row for each folder, with its layer and the
# folders that it may include. Targets link what it says, and scripts/ci/check-includes.py reads each include by it, before
# anything is compiled.

# Half of the time to compile goes into these headers; sources include what they use all the same.
set(GEMM64_HOST_HEADERS <algorithm> <filesystem> <functional> <map> <memory> <optional> <string> <vector>
  <Eigen/Core> <fmt/format.h> <nlohmann/json.hpp>)

# Runs again only when a source, or a folder of them, has changed: the file of dependencies lists all.
set(includes_checked ${CMAKE_CURRENT_BINARY_DIR}/includes_checked)
add_custom_command(
  OUTPUT ${includes_checked}
  COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/scripts/ci/check-includes.py --stamp ${includes_checked}
  DEPENDS ${PROJECT_SOURCE_DIR}/scripts/ci/check-includes.py
  DEPFILE ${includes_checked}.d
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  COMMENT "Checking which folder includes which" VERBATIM)
add_custom_target(gemm64_includes DEPENDS ${includes_checked})

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/README.md)
file(STRINGS README.md rows ENCODING UTF-8 REGEX "^\\| [a-z]+ \\| \\[[a-z/]+\\]")
foreach(row IN LISTS rows)
  string(REGEX MATCH "^\\| ([a-z]+) \\| \\[([a-z/]+)\\].*\\|([^|]*)\\|$" row "${row}")
  set(layer ${CMAKE_MATCH_1})
  set(layer_of_${CMAKE_MATCH_2} ${layer})
  string(REGEX MATCHALL "[a-z/]+" known "${CMAKE_MATCH_3}")
  foreach(folder IN LISTS known)
    if(NOT layer_of_${folder} STREQUAL layer)
      list(APPEND links_of_${layer} gemm64_${layer_of_${folder}})
    endif()
  endforeach()
endforeach()

option(GEMM64_UNITY "Compile several sources of a layer of host/ as one" ON)
set(GEMM64_UNITY_SOURCES 8 CACHE STRING "Sources compiled as one: more shorten a clean build, fewer the build after a change")

# gemm64_layer(<layer> [OPTIONS <option>...] [APART <file>...] SOURCES <file>...)
# Makes the library gemm64_<layer>, which links the layers that the table lets its folders include. Several sources
# are compiled as one, because that halves the processor time; APART lists sources that cannot share a compilation,
# since two of them use one name in their unnamed namespaces. Sources with COMPILE_OPTIONS are compiled separately anyway.
function(gemm64_layer layer)
  cmake_parse_arguments(arg "" "" "OPTIONS;APART;SOURCES" ${ARGN})
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(GET source PARENT_PATH folder)
    if(NOT "${layer_of_${folder}}" STREQUAL layer)
      message(FATAL_ERROR "host/${source} is in layer '${layer_of_${folder}}', by the table in host/README.md; "
        "host/CMakeLists.txt lists it in '${layer}'")
    endif()
  endforeach()
  set(target gemm64_${layer})
  if(GEMM64_MUTANT_OBJECTS)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/elsewhere.cpp CONTENT "")
    set(arg_SOURCES ${CMAKE_CURRENT_BINARY_DIR}/elsewhere.cpp)
  endif()
  add_library(${target} STATIC ${arg_SOURCES})
  if(GEMM64_MUTANT_OBJECTS)
    target_link_libraries(${target} INTERFACE ${GEMM64_MUTANT_OBJECTS}/host/lib${target}.a)
  endif()
  target_compile_options(${target} PRIVATE ${GEMM64_WARNINGS} ${arg_OPTIONS})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${GEMM64_UNITY} UNITY_BUILD_BATCH_SIZE ${GEMM64_UNITY_SOURCES})
  set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  add_dependencies(${target} gemm64_includes)
  set_property(GLOBAL APPEND PROPERTY GEMM64_LAYERS ${target})
  if(layer STREQUAL base)
    return()
  endif()
  set(links ${links_of_${layer}})
  list(REMOVE_DUPLICATES links)
  target_link_libraries(${target} PUBLIC ${links} gemm64_base)
  # Headers are precompiled twice, without ONNX's messages and with them.
  if(gemm64_kernels IN_LIST links)
    target_precompile_headers(${target} REUSE_FROM gemm64_kernels)
  elseif(NOT layer STREQUAL kernels)
    target_precompile_headers(${target} REUSE_FROM gemm64_base)
  endif()
endfunction()

# gemm64_reuse_objects(LIBRARY <library> OBJECTS <file>...)
# Builds what a build of mutants takes from another one, GEMM64_MUTANT_OBJECTS: the layers that a library links, and objects.
function(gemm64_reuse_objects)
  cmake_parse_arguments(arg "" "LIBRARY" "OBJECTS" ${ARGN})
  get_property(layers GLOBAL PROPERTY GEMM64_LAYERS)
  set(open ${arg_LIBRARY})
  set(files ${arg_OBJECTS})
  while(open)
    list(POP_FRONT open target)
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    foreach(link IN LISTS links)
      if(link IN_LIST layers AND NOT host/lib${link}.a IN_LIST files)
        list(APPEND open ${link})
        list(APPEND files host/lib${link}.a)
      endif()
    endforeach()
  endwhile()
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${GEMM64_MUTANT_OBJECTS} --target ${files} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
