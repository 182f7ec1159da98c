// SPDX-License-Identifier: Apache-2.0
// A processing element as textbooks draw it: a weight that stays, an activation that moves right, a sum that moves down.
// Latency: 1 cycle from activation_i and sum_i to activation_o and sum_o; 1 from weight_i to weight_o.
// Handshake: none.
`default_nettype none

module textbook_pe (
    input  wire               clk_i,
    input  wire               load_i,        // take the weight from above
    input  wire signed [7:0]  weight_i,
    output reg  signed [7:0]  weight_o,
    input  wire signed [7:0]  activation_i,  // from the left
    output reg  signed [7:0]  activation_o,
    input  wire signed [31:0] sum_i,         // from above
    output reg  signed [31:0] sum_o
);

    always @(posedge clk_i) begin
        if (load_i) weight_o <= weight_i;
        activation_o <= activation_i;
        sum_o        <= sum_i + activation_i * weight_o;
    end

endmodule

`default_nettype wire
