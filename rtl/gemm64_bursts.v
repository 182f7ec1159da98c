// SPDX-License-Identifier: Apache-2.0
// Cuts a walk over memory into AXI bursts: BLOCKS blocks one after the other, each of COUNT words gone through
// PASSES times. A burst ends at MAX_BEATS beats, at a 4 KiB boundary and at the end of a pass.
// Latency: 1 clock from start to the first burst, then a burst a clock.
// Handshake: valid/ready on both sides; a burst stays until it is taken, and start_ready_o is low until the last is.
`default_nettype none

module gemm64_bursts #(
    parameter LOG_N         = 6,   // log2 of the bytes of a word and of a beat
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter MAX_BEATS    = 64   // beats of the longest burst: at most 64, a power of two
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,         // synchronous, active low
    // Walk
    input  wire                     start_valid_i,
    output wire                     start_ready_o,
    input  wire [ADDRESS_WIDTH-1:0] address_i,      // a multiple of N
    input  wire [31:0]              count_i,        // words in a pass, at least 1
    input  wire [31:0]              passes_i,       // at least 1
    input  wire [31:0]              blocks_i,       // at least 1
    input  wire [15:0]              tag_i,          // number of the command, handed on with each burst
    // Burst
    output reg                      valid_o,
    input  wire                     ready_i,
    output wire [ADDRESS_WIDTH-1:0] address_o,
    output wire [6:0]               beats_o,        // 1 to MAX_BEATS
    output wire                     first_o,        // first burst of its pass
    output wire                     last_o,         // last burst of its pass
    output wire                     end_o,          // last burst of the walk
    output wire [15:0]              tag_o
);

    localparam [12:0] PAGE_BYTES = 13'd4096;

    reg [ADDRESS_WIDTH-1:0] address_q, block_address_q;
    reg [31:0]              count_q, words_q, passes_q, pass_q, blocks_q;
    reg [15:0]              tag_q;
    reg                     first_q;

    wire [12:0]              page_words = (PAGE_BYTES - {1'b0, address_q[11:0]}) >> LOG_N;
    wire [6:0]               page_beats = page_words > MAX_BEATS[12:0] ? MAX_BEATS[6:0] : page_words[6:0];
    wire [ADDRESS_WIDTH-1:0] next       = address_q + ({{ADDRESS_WIDTH-7{1'b0}}, beats_o} << LOG_N);

    assign start_ready_o = ~valid_o;
    assign address_o     = address_q;
    assign beats_o       = words_q < {25'd0, page_beats} ? words_q[6:0] : page_beats;
    assign first_o       = first_q;
    assign last_o        = words_q == {25'd0, beats_o};
    assign tag_o         = tag_q;

    wire last_pass  = pass_q == 32'd1;
    wire last_block = blocks_q == 32'd1;
    assign end_o = last_o & last_pass & last_block;

    always @(posedge clk_i) begin
        if (start_valid_i & start_ready_o) begin
            address_q       <= address_i;
            block_address_q <= address_i;
            count_q         <= count_i;
            words_q         <= count_i;
            passes_q        <= passes_i;
            pass_q          <= passes_i;
            blocks_q        <= blocks_i;
            tag_q           <= tag_i;
            first_q         <= 1'b1;
        end else if (valid_o & ready_i) begin
            address_q <= next;
            words_q   <= words_q - {25'd0, beats_o};
            first_q   <= last_o;
            if (last_o) begin
                words_q <= count_q;
                if (last_pass) begin
                    pass_q          <= passes_q;
                    blocks_q        <= blocks_q - 32'd1;
                    block_address_q <= next;
                end else begin
                    pass_q    <= pass_q - 32'd1;
                    address_q <= block_address_q;
                end
            end
        end

        if (!rst_ni) valid_o <= 1'b0;
        else if (start_valid_i & start_ready_o) valid_o <= 1'b1;
        else if (ready_i & end_o) valid_o <= 1'b0;
    end

endmodule

`default_nettype wire
