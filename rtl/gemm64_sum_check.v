// SPDX-License-Identifier: Apache-2.0
// Finds wrong sums in a column of the accumulator: keeps the remainder of each by 3 beside it, adds remainders as the column adds
// sums, and compares when a sum is stored. A flip changes a sum by a power of two, which 3 never divides, wherever it happens:
// in memory, in what was read, or in the addition.
// Latency: goes a clock behind the column; 1 clock from what the column shows to wrong_o.
// Handshake: none.
`default_nettype none

module gemm64_sum_check #(
    parameter ROWS      = 128,  // see gemm64_accumulator_column
    parameter ROW_WIDTH = 7
) (
    input  wire                 clk_i,
    // What the column does
    input  wire                 read_0_i,
    input  wire [ROW_WIDTH-1:0] row_0_i,
    input  wire                 read_1_i,
    input  wire [ROW_WIDTH-1:0] row_1_i,
    input  wire                 add_0_i,
    input  wire                 add_1_i,
    input  wire                 first_i,
    input  wire [ROW_WIDTH-1:0] row_i,
    input  wire [31:0]          sum_i,
    input  wire                 lanes_0_i,
    input  wire                 lanes_1_i,
    input  wire [ROW_WIDTH-1:0] lanes_row_i,
    input  wire [31:0]          lanes_sum_i,
    // What it has read from the bank that it adds to, and what it shows of the bank that is stored
    input  wire [31:0]          old_i,
    input  wire                 shown_i,
    input  wire                 shown_bank_i,
    input  wire [31:0]          shown_sum_i,
    output wire                 wrong_o  // what was shown a clock ago is not what was written there
);

    // Of a whole number without sign: 4, 16, 256 and 65536 leave 1.
    function [1:0] by_3;
        input [31:0] number;
        reg   [16:0] halves;
        reg   [9:0]  bytes;
        reg   [6:0]  nibbles;
        reg   [4:0]  less;
        reg   [3:0]  few;
        reg   [2:0]  least;
        begin
            halves  = {1'b0, number[31:16]} + {1'b0, number[15:0]};
            bytes   = {1'b0, halves[16:8]} + {2'd0, halves[7:0]};
            nibbles = {1'b0, bytes[9:4]} + {3'd0, bytes[3:0]};
            less    = {2'd0, nibbles[6:4]} + {1'b0, nibbles[3:0]};
            few     = {1'b0, less[4:2]} + {2'd0, less[1:0]};
            least   = {1'b0, few[3:2]} + {1'b0, few[1:0]};
            by_3    = least == 3'd5 ? 2'd2 : least == 3'd4 ? 2'd1 : least == 3'd3 ? 2'd0 : least[1:0];
        end
    endfunction

    // A sum that wraps is less by 2^32, which leaves 1, than its two parts; the carry is from an addition of its own.
    wire [32:0] total = {1'b0, old_i} + {1'b0, sum_i};

    // A clock behind
    reg                 read_0_q, read_1_q, add_0_q, add_1_q, first_q, carry_q, lanes_0_q, lanes_1_q, shown_bank_q;
    reg [ROW_WIDTH-1:0] row_0_q, row_1_q, row_q, lanes_row_q;
    reg [1:0]           sum_q, lanes_sum_q, shown_q;
    always @(posedge clk_i) begin
        {read_0_q, read_1_q, add_0_q, add_1_q, lanes_0_q, lanes_1_q} <= {read_0_i, read_1_i, add_0_i, add_1_i, lanes_0_i, lanes_1_i};
        if (read_0_i) row_0_q <= row_0_i;
        if (read_1_i) row_1_q <= row_1_i;
        if (add_0_i | add_1_i) {first_q, row_q, carry_q, sum_q} <= {first_i, row_i, total[32], by_3(sum_i)};
        if (lanes_0_i | lanes_1_i) {lanes_row_q, lanes_sum_q} <= {lanes_row_i, by_3(lanes_sum_i)};
        if (shown_i) {shown_bank_q, shown_q} <= {shown_bank_i, by_3(shown_sum_i)};
    end

    wire [1:0] rest_0, rest_1;  // read from each bank
    wire [1:0] rest  = add_1_q ? rest_1 : rest_0;
    wire [3:0] parts = {2'd0, rest} + {2'd0, sum_q} + {2'd0, carry_q, 1'b0};
    wire [1:0] added = first_q ? sum_q : by_3({28'd0, parts});

    gemm64_ram #(.WIDTH(2), .DEPTH(ROWS), .ADDRESS_WIDTH(ROW_WIDTH)) u_rests_0 (
        .clk_i           (clk_i),
        .busy_i          (lanes_0_q | add_0_q | read_0_q),
        .write_i         (lanes_0_q | add_0_q),
        .write_address_i (lanes_0_q ? lanes_row_q : row_q),
        .write_data_i    (lanes_0_q ? lanes_sum_q : added),
        .read_i          (read_0_q),
        .read_address_i  (row_0_q),
        .data_o          (rest_0)
    );

    gemm64_ram #(.WIDTH(2), .DEPTH(ROWS), .ADDRESS_WIDTH(ROW_WIDTH)) u_rests_1 (
        .clk_i           (clk_i),
        .busy_i          (lanes_1_q | add_1_q | read_1_q),
        .write_i         (lanes_1_q | add_1_q),
        .write_address_i (lanes_1_q ? lanes_row_q : row_q),
        .write_data_i    (lanes_1_q ? lanes_sum_q : added),
        .read_i          (read_1_q),
        .read_address_i  (row_1_q),
        .data_o          (rest_1)
    );

    assign wrong_o = shown_q != (shown_bank_q ? rest_1 : rest_0);

endmodule

`default_nettype wire
