// SPDX-License-Identifier: Apache-2.0
// Runs of a LOAD_ACTIVATIONS: tiles that follow each other in memory are one, so that bursts end only with the last of them.
// Latency: none.
// Handshake: none.
`default_nettype none

module gemm64_run (
    input  wire [15:0] rows_i,    // words of a tile
    input  wire [31:0] count_i,   // tiles
    input  wire [31:0] stride_i,  // words from the start of a tile to that of the next
    input  wire        window_i,  // planes of pixels, which stay apart
    output wire [47:0] words_o,   // of a run
    output wire [31:0] runs_o
);

    wire        together = ~window_i & stride_i == {16'd0, rows_i};
    wire [47:0] words    = {32'd0, rows_i} * {16'd0, count_i};  // the comparison is on no critical path

    assign words_o = together ? words : {32'd0, rows_i};
    assign runs_o  = together ? 32'd1 : count_i;

endmodule

`default_nettype wire
