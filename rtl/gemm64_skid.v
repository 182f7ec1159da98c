// SPDX-License-Identifier: Apache-2.0
// Parts the ready of a channel from who takes it: what comes while the taker does not take waits in a register.
// Latency: 0. Takes a word per cycle while each is taken in the cycle in which it came.
// Handshake: valid/ready on both sides; ready_o comes from a register. An offer stays until it is taken.
`default_nettype none

module gemm64_skid #(
    parameter WIDTH = 32  // bits of a word
) (
    input  wire             clk_i,
    input  wire             rst_ni,   // synchronous, active low
    // What comes
    input  wire             valid_i,
    output wire             ready_o,
    input  wire [WIDTH-1:0] data_i,
    // What is taken
    output wire             valid_o,
    input  wire             ready_i,
    output wire [WIDTH-1:0] data_o
);

    reg             held_q;
    reg [WIDTH-1:0] data_q;

    assign ready_o = ~held_q;
    assign valid_o = held_q | valid_i;
    assign data_o  = held_q ? data_q : data_i;

    always @(posedge clk_i) begin
        held_q <= rst_ni & valid_o & ~ready_i;
        if (ready_o) data_q <= data_i;
    end

endmodule

`default_nettype wire
