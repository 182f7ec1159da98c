// SPDX-License-Identifier: Apache-2.0
// A cell of a weight-stationary array: its weight stays, activations move right, sums move down.
// Latency: 1 cycle from activation_i and sum_i to activation_o and sum_o, in cycles with move_i.
`default_nettype none

module pe (
    input  wire               clk_i,
    input  wire               move_i,        // 0: the array stands still
    input  wire               load_i,        // weight_i is the next tile's weight
    input  wire signed [7:0]  weight_i,
    input  wire               switch_i,      // with the first activation of a tile
    output reg                switch_o,
    input  wire signed [7:0]  activation_i,
    output reg  signed [7:0]  activation_o,
    input  wire signed [31:0] sum_i,
    output reg  signed [31:0] sum_o
);

    reg  signed [7:0] next_q, weight_q;
    wire signed [7:0] weight = switch_i ? next_q : weight_q;

    always @(posedge clk_i) begin
        if (load_i) next_q <= weight_i;
        if (move_i) begin
            weight_q     <= weight;
            switch_o     <= switch_i;
            activation_o <= activation_i;
            sum_o        <= sum_i + activation_i * weight;
        end
    end

endmodule

`default_nettype wire
