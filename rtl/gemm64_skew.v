// SPDX-License-Identifier: Apache-2.0
// Delays the lanes of a word by their index, so that a word meets the wavefront of the array.
// Latency: g cycles for lane g (none for lane 0).
// Handshake: none; a word may enter in every cycle. With CLOCK_ENABLES a register keeps its value unless a valid word
//            reaches it, and only the lanes of valid words mean anything.
`default_nettype none

module gemm64_skew #(
    parameter LANES         = 16,  // lanes of a word
    parameter WIDTH         = 32,  // bits of a lane
    parameter CLOCK_ENABLES = 1    // 0: every register loads in every cycle
) (
    input  wire                   clk_i,
    input  wire                   valid_i,
    input  wire [LANES*WIDTH-1:0] data_i,
    output wire [LANES-1:0]       valid_o,  // bit g: lane g is of a valid word
    output wire [LANES*WIDTH-1:0] data_o
);

    assign valid_o[0]        = valid_i;
    assign data_o[WIDTH-1:0] = data_i[WIDTH-1:0];

    // Step g keeps the word of g cycles ago, without the lanes that have left by then; its first lane leaves.
    genvar g;
    generate
        for (g = 1; g < LANES; g = g + 1) begin : step
            reg  [(LANES-g)*WIDTH-1:0] word_q;
            reg                        valid_q;
            wire [(LANES-g)*WIDTH-1:0] word;
            if (g == 1) begin : newest
                assign word = data_i[LANES*WIDTH-1:WIDTH];
            end else begin : older
                assign word = step[g-1].word_q[(LANES-g+1)*WIDTH-1:WIDTH];
            end
            always @(posedge clk_i) begin
                valid_q <= valid_o[g-1];
                if (CLOCK_ENABLES == 0 || valid_o[g-1]) word_q <= word;
            end
            assign valid_o[g]               = valid_q;
            assign data_o[g*WIDTH +: WIDTH] = word_q[WIDTH-1:0];
        end
    endgenerate

endmodule

`default_nettype wire
