# SPDX-License-Identifier: Apache-2.0
# The table from which rtl_device.cpp makes devices. Both builds of it write their rows here, sim/ and sim/web, so that
# neither can miss a change of make().

# gemm64_table_row(CLASS <Verilator's class> N <n> [VARIANT <name>] [DEBUG] [AHEAD])
# Adds a model. DEBUG: built with ../waves/debug.vlt. AHEAD: its top is gemm64_ahead.
function(gemm64_table_row)
  cmake_parse_arguments(arg "DEBUG;AHEAD" "CLASS;N;VARIANT" "" ${ARGN})
  set(debug false)
  set(ahead false)
  # The root's clock and busy signal are for verilated_device.hpp.
  set(headers "#include <${arg_CLASS}.h>\n#include <${arg_CLASS}___024root.h>\n")
  if(arg_DEBUG)
    set(debug true)
  endif()
  if(arg_AHEAD)
    set(ahead true)
    # What Verilator calls at an edge of the clock.
    string(APPEND headers "void ${arg_CLASS}___024root___eval_nba(${arg_CLASS}___024root*);\n"
      "inline void evaluate_edge(${arg_CLASS}___024root* root) { ${arg_CLASS}___024root___eval_nba(root); }\n")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY GEMM64_MODEL_HEADERS "${headers}")
  set_property(GLOBAL APPEND_STRING PROPERTY GEMM64_MODEL_TABLE
    "{${arg_N}, \"${arg_VARIANT}\", ${debug}, make<${arg_CLASS}, ${debug}, ${ahead}>},\n")
endfunction()

# gemm64_write_table(<folder>)
# Writes sim/model_headers.inc and sim/model_table.inc of all rows into a folder for includes.
function(gemm64_write_table folder)
  get_property(headers GLOBAL PROPERTY GEMM64_MODEL_HEADERS)
  get_property(table GLOBAL PROPERTY GEMM64_MODEL_TABLE)
  file(CONFIGURE OUTPUT ${folder}/sim/model_headers.inc CONTENT "${headers}")
  file(CONFIGURE OUTPUT ${folder}/sim/model_table.inc CONTENT "${table}")
endfunction()
