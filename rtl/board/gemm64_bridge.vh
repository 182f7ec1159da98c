// SPDX-License-Identifier: Apache-2.0
// Made by scripts/codegen/generate.py from rtl/gemm64.json: edit that file, then run `scripts/codegen/generate.py`.
`ifndef GEMM64_BRIDGE_VH
`define GEMM64_BRIDGE_VH

// Commands of the bridge.
`define GEMM64_BRIDGE_PING           8'ha1
`define GEMM64_BRIDGE_READ_REGISTER  8'ha2
`define GEMM64_BRIDGE_WRITE_REGISTER 8'ha3
`define GEMM64_BRIDGE_READ_MEMORY    8'ha4
`define GEMM64_BRIDGE_WRITE_MEMORY   8'ha5
`define GEMM64_BRIDGE_WAIT           8'ha6
`define GEMM64_BRIDGE_RESET          8'ha7
`define GEMM64_BRIDGE_FIRST          8'ha1
`define GEMM64_BRIDGE_LAST           8'ha7

// What it says of itself.
`define GEMM64_BRIDGE_NAME 24'h343667

`endif
