// SPDX-License-Identifier: Apache-2.0
// Product of two unsigned numbers, in full width, registered.
// Latency: 1 cycle from valid_i to product_o, which then holds.
// Handshake: none.
`default_nettype none

module gemm64_product #(
    parameter A_WIDTH = 32,
    parameter B_WIDTH = 32
) (
    input  wire                       clk_i,
    input  wire                       valid_i,
    input  wire [A_WIDTH-1:0]         a_i,
    input  wire [B_WIDTH-1:0]         b_i,
    output reg  [A_WIDTH+B_WIDTH-1:0] product_o
);

    always @(posedge clk_i) if (valid_i) product_o <= {{B_WIDTH{1'b0}}, a_i} * {{A_WIDTH{1'b0}}, b_i};

endmodule

`default_nettype wire
