// SPDX-License-Identifier: Apache-2.0
// Why 16 + log2 N bits hold each partial sum: a product of two int8 is at most 2^14 in magnitude, and ROWS more products on top
// of a sum of `rows` of them give one of rows + ROWS, in 22 bits as in 32. Starting from none this is each of N=64's stages.
//
// short
// prove bound 1, cover 1
module sums_proof (
    input wire               clk_i,
    input wire signed [7:0]  activation_i,
    input wire signed [7:0]  weight_i,
    input wire        [6:0]  rows_i,
    input wire signed [31:0] sum_i,
    input wire signed [16:0] product_0_i,
    input wire signed [16:0] product_1_i,
    input wire signed [16:0] product_2_i,
    input wire signed [16:0] product_3_i
);

    wire signed [31:0] bound   = rows_i <<< 14;
    wire signed [16:0] product = activation_i * weight_i;
    wire signed [31:0] wide    = sum_i + product_0_i + product_1_i + product_2_i + product_3_i;
    wire signed [21:0] narrow  = $signed(sum_i[21:0]) + product_0_i + product_1_i + product_2_i + product_3_i;

    always @* begin
        assume (rows_i <= 60);
        assume (sum_i <= bound & sum_i >= -bound);
        assume (product_0_i <= 16384 & product_0_i >= -16384 & product_1_i <= 16384 & product_1_i >= -16384);
        assume (product_2_i <= 16384 & product_2_i >= -16384 & product_3_i <= 16384 & product_3_i >= -16384);
        assert (product <= 16384 & product >= -16384);
        assert (wide <= bound + 4 * 16384 & wide >= -bound - 4 * 16384);
        assert (narrow == wide);
        cover (wide == 64 * 16384);
    end

endmodule
