# SPDX-License-Identifier: Apache-2.0
# The accelerator's Verilog, top module first.
set(GEMM64_RTL
  gemm64.v
  gemm64_accumulator.v
  gemm64_accumulator_column.v
  gemm64_activations.v
  gemm64_array.v
  gemm64_bursts.v
  gemm64_commands.v
  gemm64_compute.v
  gemm64_control.v
  gemm64_counters.v
  gemm64_extent.v
  gemm64_fifo.v
  gemm64_parameter_sets.v
  gemm64_parameters.v
  gemm64_ram.v
  gemm64_reader.v
  gemm64_registers.v
  gemm64_requantize.v
  gemm64_request.v
  gemm64_results.v
  gemm64_skew.v
  gemm64_stage.v
  gemm64_weights.v
  gemm64_window.v
  gemm64_window_check.v)
