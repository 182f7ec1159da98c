// SPDX-License-Identifier: Apache-2.0
// Cuts a walk over memory into AXI bursts: BLOCKS blocks, each of COUNT runs of RUN words gone through PASSES times. A run
// begins STRIDE words after the run before it, a block STEP words after the block before it. A burst ends at MAX_BEATS
// beats, at a 4 KiB boundary and at the end of a run.
// Latency: 1 cycle from start to the first burst, then a burst a cycle.
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
    input  wire [47:0]              run_i,          // words in a run, at least 1
    input  wire [31:0]              count_i,        // runs in a pass, at least 1
    input  wire [35:0]              stride_i,       // words from the start of a run to that of the next
    input  wire [31:0]              passes_i,       // at least 1
    input  wire [19:0]              step_i,         // words from the start of a block to that of the next
    input  wire [31:0]              blocks_i,       // at least 1
    input  wire [15:0]              tag_i,          // number of the command, handed on with each burst
    // Burst
    output reg                      valid_o,
    input  wire                     ready_i,
    output wire [ADDRESS_WIDTH-1:0] address_o,
    output wire [6:0]               beats_o,        // 1 to MAX_BEATS
    output wire                     first_o,        // first burst of its run
    output wire                     last_o,         // last burst of its run
    output wire                     end_o,          // last burst of the walk
    output wire [15:0]              tag_o
);

    localparam [11:0] LAST_BEAT = MAX_BEATS[11:0] - 12'd1;

    reg [ADDRESS_WIDTH-1:0] address_q, run_address_q, block_address_q;
    reg [ADDRESS_WIDTH-1:0] stride_q, step_q;  // in bytes; an address space shorter than they are holds no such walk
    reg [47:0]              run_q, words_q;
    reg [31:0]              count_q, left_q, passes_q, pass_q, blocks_q;
    reg [15:0]              tag_q;
    reg                     first_q;

    wire [63:0] stride = {28'd0, stride_i} << LOG_N;
    wire [63:0] step   = {44'd0, step_i} << LOG_N;

    // Zero at rest, and one question for a simulator. What a burst ends with is found without knowing how long it is.
    reg [11:0]              page_words;  // after this one, to the end of the page
    reg [6:0]               most, beats;
    reg [ADDRESS_WIDTH-1:0] next;
    reg                     last, last_run, last_pass, ends;
    always @* begin
        page_words = 12'd0;
        {most, beats} = 14'd0;
        next       = {ADDRESS_WIDTH{1'b0}};
        {last, last_run, last_pass, ends} = 4'd0;
        if (valid_o) begin
            page_words = ~address_q[11:0] >> LOG_N;
            most       = (page_words & ~LAST_BEAT) != 12'd0 ? MAX_BEATS[6:0] : {1'b0, page_words[5:0]} + 7'd1;
            last       = words_q[47:7] == 41'd0 & words_q[6:0] <= most;
            beats      = last ? words_q[6:0] : most;
            next       = address_q + ({{ADDRESS_WIDTH-7{1'b0}}, beats} << LOG_N);
            last_run   = left_q == 32'd1;
            last_pass  = pass_q == 32'd1;
            ends       = last & last_run & last_pass & blocks_q == 32'd1;
        end
    end

    assign start_ready_o = ~valid_o;
    assign address_o     = address_q;
    assign beats_o       = beats;
    assign first_o       = first_q;
    assign last_o        = last;
    assign tag_o         = tag_q;
    assign end_o         = ends;

    always @(posedge clk_i) begin
        if (valid_o & ready_i) begin
            address_q <= next;
            words_q   <= words_q - {41'd0, beats_o};
            first_q   <= last_o;
            if (last_o) begin
                words_q <= run_q;
                if (~last_run) begin
                    left_q        <= left_q - 32'd1;
                    address_q     <= run_address_q + stride_q;
                    run_address_q <= run_address_q + stride_q;
                end else if (~last_pass) begin
                    left_q        <= count_q;
                    pass_q        <= pass_q - 32'd1;
                    address_q     <= block_address_q;
                    run_address_q <= block_address_q;
                end else begin
                    left_q          <= count_q;
                    pass_q          <= passes_q;
                    blocks_q        <= blocks_q - 32'd1;
                    address_q       <= block_address_q + step_q;
                    run_address_q   <= block_address_q + step_q;
                    block_address_q <= block_address_q + step_q;
                end
            end
        end else if (start_valid_i & start_ready_o) begin
            address_q       <= address_i;
            run_address_q   <= address_i;
            block_address_q <= address_i;
            run_q           <= run_i;
            words_q         <= run_i;
            count_q         <= count_i;
            left_q          <= count_i;
            stride_q        <= stride[ADDRESS_WIDTH-1:0];
            passes_q        <= passes_i;
            pass_q          <= passes_i;
            step_q          <= step[ADDRESS_WIDTH-1:0];
            blocks_q        <= blocks_i;
            tag_q           <= tag_i;
            first_q         <= 1'b1;
        end

        if (!rst_ni) valid_o <= 1'b0;
        else if (start_valid_i & start_ready_o) valid_o <= 1'b1;
        else if (ready_i & end_o) valid_o <= 1'b0;
    end

endmodule

`default_nettype wire
