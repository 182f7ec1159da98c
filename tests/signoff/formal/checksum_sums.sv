// SPDX-License-Identifier: Apache-2.0
// What gemm64_checksum compares. The N results of a row add up to its activations' products with the sums of each row's
// weights, so right results are never reported as wrong: the sum of the weights has all the bits that it needs, and from column
// to column an activation times a sum of weights and another weight is what each gives by itself. That is asked of the solver
// for two columns; modulo 2^(16 + log2 N) it holds of any numbers. Where any one result is wrong, the two sides differ. For all
// operands and results.
//
// short
// prove bound 1, cover 1; N=2 N=4
module checksum_sums_proof #(
    parameter N = 2
) (
    input wire                               clk_i,
    input wire signed [7:0]                  activation_i,
    input wire signed [7+$clog2(N):0]        before_i,  // the sum of the weights of some columns
    input wire signed [7:0]                  weight_i,  // the next column's
    input wire        [(16+$clog2(N))*N-1:0] results_i,
    input wire        [15+$clog2(N):0]       wrong_i,
    input wire        [$clog2(N)-1:0]        column_i
);

    localparam BITS = 16 + $clog2(N), WIDE = 8 + $clog2(N);
    localparam signed [WIDE-1:0] LEAST = -(128 * (N - 1)), MOST = 127 * (N - 1);

    wire signed [WIDE-1:0] sum      = before_i + weight_i;
    wire signed [BITS-1:0] extended = before_i + weight_i;
    wire signed [BITS-1:0] together = activation_i * sum;
    wire signed [BITS-1:0] apart    = activation_i * before_i + activation_i * weight_i;

    reg [BITS-1:0] right, left;
    integer c;
    always @* begin
        assume (before_i >= LEAST & before_i <= MOST);
        left = 0;
        right = 0;
        for (c = 0; c < N; c = c + 1) begin
            right = right + results_i[BITS*c +: BITS];
            left  = left + (c == column_i ? wrong_i : results_i[BITS*c +: BITS]);
        end
        assert (sum == extended);
        if (N == 2) assert (together == apart);
        assert ((left == right) == (wrong_i == results_i[BITS*column_i +: BITS]));
        cover (together == 128 * 128 * N & activation_i == -128);
        cover (left != right);
    end

endmodule
