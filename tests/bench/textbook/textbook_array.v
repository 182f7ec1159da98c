// SPDX-License-Identifier: Apache-2.0
// The weight-stationary systolic array as textbooks draw it: one module a processing element, N x N of them. What
// `make bench` compares gemm64_array with; no part of the accelerator.
// Latency: N + c cycles from activation_i to column c of sum_o; N cycles with load_i bring in a tile of weights.
// Handshake: none; the array moves in every cycle. Activations must not be in flight while weights are loaded.
`default_nettype none

module textbook_array #(
    parameter N = 64  // rows (along K) and columns (along N)
) (
    input  wire            clk_i,
    // Weights move down a row: the last row of the tile comes first
    input  wire            load_i,
    input  wire [8*N-1:0]  weight_i,      // byte c for column c
    // One row of activations: byte k for row k
    input  wire [8*N-1:0]  activation_i,
    // Sums, column c c cycles after column 0
    output wire [32*N-1:0] sum_o
);

    wire signed [7:0]  activation [0:N-1][0:N];
    wire signed [7:0]  weight     [0:N][0:N-1];
    wire signed [31:0] sum        [0:N][0:N-1];

    genvar r, c;
    generate
        // Row r is delayed by r cycles.
        for (r = 0; r < N; r = r + 1) begin : skew
            if (r == 0) begin : none
                assign activation[r][0] = activation_i[8*r +: 8];
            end else begin : delay
                reg [7:0] delay_q [0:r-1];
                integer i;
                always @(posedge clk_i) begin
                    delay_q[0] <= activation_i[8*r +: 8];
                    for (i = 1; i < r; i = i + 1) delay_q[i] <= delay_q[i-1];
                end
                assign activation[r][0] = delay_q[r-1];
            end
        end

        for (c = 0; c < N; c = c + 1) begin : edge_of
            assign weight[0][c]        = weight_i[8*c +: 8];
            assign sum[0][c]           = 32'sd0;
            assign sum_o[32*c +: 32]   = sum[N][c];
        end

        for (r = 0; r < N; r = r + 1) begin : row
            for (c = 0; c < N; c = c + 1) begin : column
                textbook_pe u_pe (
                    .clk_i        (clk_i),
                    .load_i       (load_i),
                    .weight_i     (weight[r][c]),
                    .weight_o     (weight[r+1][c]),
                    .activation_i (activation[r][c]),
                    .activation_o (activation[r][c+1]),
                    .sum_i        (sum[r][c]),
                    .sum_o        (sum[r+1][c])
                );
            end
        end
    endgenerate

endmodule

`default_nettype wire
