// SPDX-License-Identifier: Apache-2.0
// Made by scripts/codegen/generate.py from rtl/gemm64.json: edit that file, then run `scripts/codegen/generate.py`.
// To be included in a module: whether a command keeps the bounds of its fields.
function keeps_bounds;
    input [511:0] c;
    input [31:0] accumulator_rows, scratchpad_words;
    case (c[7:0])
        8'd1: keeps_bounds = (c[32 +: 32] >= 1)
            & (c[64 +: 32] >= 1);  // LOAD_WEIGHTS
        8'd2: keeps_bounds = (c[32 +: 32] >= 1)
            & (c[64 +: 32] >= 1)
            & (c[96 +: 32] >= 1)
            & (c[16 +: 16] >= 1)
            & (c[11] | c[16 +: 16] <= accumulator_rows)
            & (~c[11] | c[64 +: 32] <= 1)
            & (~c[11] | c[96 +: 32] <= 1)
            & (~c[11] | c[16 +: 16] <= c[448 +: 16])
            & (~c[11] | c[464 +: 16] < c[448 +: 16]);  // LOAD_ACTIVATIONS
        8'd3: keeps_bounds = (c[32 +: 32] >= 1)
            & (c[64 +: 32] >= 1)
            & (c[96 +: 32] >= 1)
            & (c[16 +: 16] >= 1)
            & (c[16 +: 16] <= accumulator_rows)
            & (~c[11] | c[96 +: 32] <= 1)
            & (~c[11] | c[32 +: 32] <= 65535)
            & (~c[11] | $signed(c[288 +: 32]) >= -131072)
            & (~c[11] | $signed(c[288 +: 32]) <= 131071)
            & (~c[11] | $signed(c[320 +: 32]) >= -131072)
            & (~c[11] | $signed(c[320 +: 32]) <= 131071);  // MATMUL
        8'd4: keeps_bounds = (c[32 +: 32] >= 1)
            & (c[96 +: 32] >= 1)
            & (c[16 +: 16] >= 1)
            & (c[16 +: 16] <= accumulator_rows);  // STORE
        8'd5: keeps_bounds = 1'b1;  // FINISH
        8'd6: keeps_bounds = 1'b1;  // FENCE
        8'd7: keeps_bounds = (c[32 +: 32] >= 1)
            & (c[64 +: 32] >= 1);  // LOAD_PARAMETERS
        8'd8: keeps_bounds = (c[448 +: 16] >= 1)
            & (c[448 +: 16] <= scratchpad_words)
            & (c[256 +: 8] >= 1)
            & (c[264 +: 8] >= 1)
            & (c[432 +: 16] >= 1)
            & (c[280 +: 8] <= c[448 +: 16])
            & (c[296 +: 8] <= c[448 +: 16])
            & (c[384 +: 16] < c[448 +: 16])
            & (c[400 +: 16] < c[448 +: 16])
            & (c[416 +: 16] < c[448 +: 16]);  // SET_WINDOW
        8'd9: keeps_bounds = (c[32 +: 32] >= 1)
            & (c[64 +: 32] >= 1)
            & (c[96 +: 32] >= 1)
            & (c[16 +: 16] >= 1);  // LOAD_OPERANDS
        8'd10: keeps_bounds = (c[32 +: 32] >= 1)
            & (c[64 +: 32] >= 1)
            & (c[16 +: 16] >= 1)
            & (c[16 +: 16] <= accumulator_rows)
            & (c[256 +: 8] >= 3)
            & (c[256 +: 8] <= 7)
            & (c[288 +: 8] >= 1)
            & (c[296 +: 8] >= 1)
            & (c[320 +: 16] >= 1)
            & (c[336 +: 16] >= 2)
            & (c[336 +: 16] <= 128)
            & (c[352 +: 16] >= 1)
            & (c[368 +: 16] >= 1);  // DEPTHWISE
        default: keeps_bounds = 1'b1;
    endcase
endfunction
function known_opcode;
    input [511:0] c;
    known_opcode = c[7:0] == 8'd1 | c[7:0] == 8'd2 | c[7:0] == 8'd3 | c[7:0] == 8'd4 | c[7:0] == 8'd5 | c[7:0] == 8'd6 | c[7:0] == 8'd7 | c[7:0] == 8'd8 | c[7:0] == 8'd9 | c[7:0] == 8'd10;
endfunction
