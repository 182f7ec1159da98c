# SPDX-License-Identifier: Apache-2.0
# Writes assets.c, which embeds files of sim/dut and the protocol that the bench shares with the program.
set(dut ${PROJECT_SOURCE_DIR}/sim/dut)
file(GLOB_RECURSE files RELATIVE ${dut} CONFIGURE_DEPENDS ${dut}/*.cpp ${dut}/icarus_model.hpp ${dut}/proof.* ${dut}/templates/*)
list(SORT files)
set(embedded)
foreach(file IN LISTS files)
  list(APPEND embedded "${file}" "${dut}/${file}")
endforeach()
list(APPEND embedded bench_protocol.hpp ${CMAKE_CURRENT_SOURCE_DIR}/dut/bench_protocol.hpp)
set(code "// Written by host/dut/assets.cmake.\n")
set(table "")
set(depends)
set(number 0)
while(embedded)
  list(POP_FRONT embedded name path)
  set(symbol gemm64_dut_asset_${number})
  string(APPEND code
    "__asm__(\".pushsection .rodata,\\\"a\\\",@progbits\\n.global ${symbol}, ${symbol}_end\\n"
    "${symbol}: .incbin \\\"${path}\\\"\\n${symbol}_end: .byte 0\\n.popsection\\n\");\n"
    "extern const char ${symbol}[], ${symbol}_end[];\n")
  string(APPEND table "  {\"${name}\", ${symbol}, ${symbol}_end},\n")
  list(APPEND depends ${path})
  math(EXPR number "${number} + 1")
endwhile()
string(APPEND code "struct asset { const char *name, *begin, *end; };\n"
  "extern const struct asset gemm64_dut_assets[];\nconst struct asset gemm64_dut_assets[] = {\n${table}  {0, 0, 0}};\n")
set(assets ${CMAKE_CURRENT_BINARY_DIR}/dut_assets.c)
file(CONFIGURE OUTPUT ${assets} CONTENT "${code}" @ONLY)
set_source_files_properties(${assets} PROPERTIES OBJECT_DEPENDS "${depends}")
add_library(gemm64_dut_assets STATIC ${assets})
