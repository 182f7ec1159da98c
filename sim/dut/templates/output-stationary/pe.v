// SPDX-License-Identifier: Apache-2.0
// A cell of an output-stationary array: its sum stays, activations move right, weights move down.
// Latency: 1 cycle. Products of zeros are added in cycles without operands.
`default_nettype none

module pe (
    input  wire               clk_i,
    input  wire               first_i,       // of a tile: the sum restarts
    input  wire               last_i,        // of a tile: result_o holds its sum from the next cycle on
    output reg                first_o,
    output reg                last_o,
    input  wire signed [7:0]  activation_i,
    output reg  signed [7:0]  activation_o,
    input  wire signed [7:0]  weight_i,
    output reg  signed [7:0]  weight_o,
    output reg  signed [31:0] result_o
);

    reg  signed [31:0] sum_q;
    wire signed [31:0] sum = (first_i ? 32'sd0 : sum_q) + activation_i * weight_i;

    always @(posedge clk_i) begin
        sum_q        <= sum;
        first_o      <= first_i;
        last_o       <= last_i;
        activation_o <= activation_i;
        weight_o     <= weight_i;
        if (last_i) result_o <= sum;
    end

endmodule

`default_nettype wire
