// SPDX-License-Identifier: Apache-2.0
// N x N cells, with delays so that rows enter and leave whole.
// Latency: 2 * N - 1 cycles with move_i from activation_i to sum_o.
`default_nettype none

module array #(
    parameter N = 8
) (
    input  wire            clk_i,
    input  wire            move_i,
    input  wire [N-1:0]    load_i,        // bit k: weight_i is row k of the next tile
    input  wire [8*N-1:0]  weight_i,      // byte c for column c
    input  wire            switch_i,      // the activations are the first ones of that tile
    input  wire [8*N-1:0]  activation_i,  // byte k for row k
    output wire [32*N-1:0] sum_o          // column c in bits 32 * c and up
);

    wire              switch     [0:N-1][0:N];
    wire signed [7:0] activation [0:N-1][0:N];
    wire signed [31:0] sum       [0:N][0:N-1];

    genvar r, c;
    generate
        // Row r starts r cycles after row 0.
        for (r = 0; r < N; r = r + 1) begin : enter
            delay #(.WIDTH(9), .CYCLES(r)) u_delay (
                .clk_i (clk_i), .move_i (move_i),
                .data_i ({switch_i, activation_i[8*r +: 8]}),
                .data_o ({switch[r][0], activation[r][0]})
            );
        end
        // Column c ends c cycles after column 0.
        for (c = 0; c < N; c = c + 1) begin : leave
            assign sum[0][c] = 32'sd0;
            delay #(.WIDTH(32), .CYCLES(N - 1 - c)) u_delay (
                .clk_i (clk_i), .move_i (move_i), .data_i (sum[N][c]), .data_o (sum_o[32*c +: 32])
            );
        end
        for (r = 0; r < N; r = r + 1) begin : row
            for (c = 0; c < N; c = c + 1) begin : column
                pe u_pe (
                    .clk_i (clk_i), .move_i (move_i),
                    .load_i (load_i[r]), .weight_i (weight_i[8*c +: 8]),
                    .switch_i (switch[r][c]), .switch_o (switch[r][c+1]),
                    .activation_i (activation[r][c]), .activation_o (activation[r][c+1]),
                    .sum_i (sum[r][c]), .sum_o (sum[r+1][c])
                );
            end
        end
    endgenerate

endmodule

`default_nettype wire
