// SPDX-License-Identifier: Apache-2.0
// N x N cells, with delays at the left and upper edge.
// Latency: row r of a tile's results is complete r + N cycles after its last operands.
`default_nettype none

module array #(
    parameter N = 8
) (
    input  wire            clk_i,
    input  wire            first_i,       // the operands are a tile's first ones
    input  wire            last_i,        // or its last ones
    input  wire [8*N-1:0]  activation_i,  // byte r for row r
    input  wire [8*N-1:0]  weight_i,      // byte c for column c
    input  wire [15:0]     row_i,         // which row of results
    output wire [32*N-1:0] result_o       // column c in bits 32 * c and up
);

    wire               first      [0:N-1][0:N];
    wire               last       [0:N-1][0:N];
    wire signed [7:0]  activation [0:N-1][0:N];
    wire signed [7:0]  weight     [0:N][0:N-1];
    wire        [32*N-1:0] result [0:N-1];

    assign result_o = result[row_i];

    genvar r, c;
    generate
        for (r = 0; r < N; r = r + 1) begin : edge_of
            delay #(.WIDTH(10), .CYCLES(r)) u_left (
                .clk_i (clk_i),
                .data_i ({first_i, last_i, activation_i[8*r +: 8]}),
                .data_o ({first[r][0], last[r][0], activation[r][0]})
            );
            delay #(.WIDTH(8), .CYCLES(r)) u_upper (
                .clk_i (clk_i), .data_i (weight_i[8*r +: 8]), .data_o (weight[0][r])
            );
        end
        for (r = 0; r < N; r = r + 1) begin : row
            for (c = 0; c < N; c = c + 1) begin : column
                pe u_pe (
                    .clk_i (clk_i),
                    .first_i (first[r][c]), .first_o (first[r][c+1]),
                    .last_i (last[r][c]), .last_o (last[r][c+1]),
                    .activation_i (activation[r][c]), .activation_o (activation[r][c+1]),
                    .weight_i (weight[r][c]), .weight_o (weight[r+1][c]),
                    .result_o (result[r][32*c +: 32])
                );
            end
        end
    endgenerate

endmodule

`default_nettype wire
