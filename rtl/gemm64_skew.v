// SPDX-License-Identifier: Apache-2.0
// Delays the lanes of a word by their index, so that a word meets the wavefront of the array.
// Latency: g clocks for lane g (none for lane 0).
// Handshake: none; a word may enter in every clock.
`default_nettype none

module gemm64_skew #(
    parameter LANES = 16,  // lanes of a word
    parameter WIDTH = 32   // bits of a lane
) (
    input  wire                   clk_i,
    input  wire [LANES*WIDTH-1:0] data_i,
    output wire [LANES*WIDTH-1:0] data_o
);

    assign data_o[WIDTH-1:0] = data_i[WIDTH-1:0];

    genvar g;
    generate
        for (g = 1; g < LANES; g = g + 1) begin : lane
            reg [WIDTH-1:0] delay_q [0:g-1];
            integer i;
            always @(posedge clk_i) begin
                delay_q[0] <= data_i[g*WIDTH +: WIDTH];
                for (i = 1; i < g; i = i + 1) delay_q[i] <= delay_q[i-1];
            end
            assign data_o[g*WIDTH +: WIDTH] = delay_q[g-1];
        end
    endgenerate

endmodule

`default_nettype wire
