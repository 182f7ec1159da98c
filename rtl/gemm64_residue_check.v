// SPDX-License-Identifier: Apache-2.0
// Finds wrong sums in a column of the accumulator: stores the remainder of each by 3 with it, adds remainders as the column adds
// sums, and compares when a sum is stored. A flip changes a sum by a power of two, which 3 never divides, wherever it happens:
// in memory, in what was read, or in the addition.
// Latency: follows the column by a cycle; 1 cycle from what the column shows to wrong_o.
// Handshake: none. A cycle may bring a sum from the array and one from the lanes, for different banks.
`default_nettype none

module gemm64_residue_check #(
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
    output wire                 wrong_o  // what was shown a cycle ago is not what was written there
);

    // Two digits to base 4 as one that leaves the same; 3 leaves what 0 does.
    function [1:0] fold;
        input [1:0] one, other;
        reg   [2:0] both;
        begin
            both = {1'b0, one} + {1'b0, other};
            fold = both[1:0] + {1'b0, both[2]};
        end
    endfunction

    // Of a whole number without sign, whose digits to base 4 leave what it does
    function [1:0] by_3;
        input [31:0] number;
        reg   [31:0] digits;
        integer      half, i;
        begin
            digits = number;
            for (half = 16; half > 1; half = half / 2)
                for (i = 0; i < half; i = i + 2) digits[i +: 2] = fold(digits[i +: 2], digits[i + half +: 2]);
            by_3 = digits[1:0] & {2{digits[1:0] != 2'd3}};
        end
    endfunction

    // A sum that wraps is less by 2^32, which leaves 1, than its two parts; the carry is from an addition of its own.
    wire [32:0] total = {1'b0, old_i} + {1'b0, sum_i};

    // A cycle later. The array and the lanes have registers of their own, since both may bring a sum in one cycle.
    reg                 read_0_q, read_1_q, add_0_q, add_1_q, lanes_0_q, lanes_1_q, first_q, carry_q, shown_bank_q;
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
    wire [1:0] parts = fold(fold(add_1_q ? rest_1 : rest_0, sum_q), {carry_q, 1'b0});
    wire [1:0] added = first_q ? sum_q : parts & {2{parts != 2'd3}};

    gemm64_ram #(.WIDTH(2), .DEPTH(ROWS), .ADDRESS_WIDTH(ROW_WIDTH)) u_rests_0 (
        .clk_i           (clk_i),
        .busy_i          (add_0_q | lanes_0_q | read_0_q),
        .write_i         (add_0_q | lanes_0_q),
        .write_address_i (lanes_0_q ? lanes_row_q : row_q),
        .write_data_i    (lanes_0_q ? lanes_sum_q : added),
        .read_i          (read_0_q),
        .read_address_i  (row_0_q),
        .data_o          (rest_0)
    );

    gemm64_ram #(.WIDTH(2), .DEPTH(ROWS), .ADDRESS_WIDTH(ROW_WIDTH)) u_rests_1 (
        .clk_i           (clk_i),
        .busy_i          (add_1_q | lanes_1_q | read_1_q),
        .write_i         (add_1_q | lanes_1_q),
        .write_address_i (lanes_1_q ? lanes_row_q : row_q),
        .write_data_i    (lanes_1_q ? lanes_sum_q : added),
        .read_i          (read_1_q),
        .read_address_i  (row_1_q),
        .data_o          (rest_1)
    );

    assign wrong_o = shown_q != (shown_bank_q ? rest_1 : rest_0);

endmodule

`default_nettype wire
