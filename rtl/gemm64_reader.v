// SPDX-License-Identifier: Apache-2.0
// Streams words from memory into a buffer, command after command, with several bursts in flight.
// Latency: 1 cycle from a command to its first burst request, 2 to AR; words come as memory answers. A word that is
//          released in a cycle may be requested again in the next.
// Handshake: valid/ready for commands and bursts. A burst is requested only while fewer than 2**LOG_BURSTS are in
//            flight and the buffer has space for all of it, reserved from then on, so that words are accepted
//            whenever they arrive. A walk with space reserved beforehand (command_kept_i) requests without. While
//            bursts of one memory are in flight, none of the other is requested. With stop_i no new burst is
//            requested; bursts in flight still end.
`default_nettype none

module gemm64_reader #(
    parameter LOG_N         = 6,   // log2 of the bytes of a word and of a beat
    parameter ADDRESS_WIDTH = 40,  // bits of an address
    parameter LOG_BURSTS    = 4,   // log2 of the bursts in flight
    parameter WORDS         = 64,  // words of the buffer
    parameter WORDS_WIDTH   = 7,   // bits that hold the number WORDS
    parameter SPARE         = 0,   // of them, those that tensor_i takes away
    parameter RELEASED      = 1,   // words that become free together
    parameter MAX_BEATS     = 64   // beats of the longest burst, at most WORDS - RELEASED + 1; a power of two
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,           // synchronous, active low
    input  wire                     stop_i,
    input  wire                     tensor_i,         // the tensor memory serves the upper half of the address space; changes at rest only
    // Command (a walk of gemm64_bursts)
    input  wire                     command_valid_i,
    output wire                     command_ready_o,
    input  wire [ADDRESS_WIDTH-1:0] command_address_i,
    input  wire [47:0]              command_run_i,
    input  wire [31:0]              command_count_i,
    input  wire [35:0]              command_stride_i,
    input  wire [31:0]              command_passes_i,
    input  wire [19:0]              command_step_i,
    input  wire [31:0]              command_blocks_i,
    input  wire [15:0]              command_tag_i,
    input  wire                     command_kept_i,   // space for all its words is reserved already, and not released here
    // Buffer
    input  wire                     released_i,       // RELEASED words have left the buffer and are free again
    // Burst request, to a gemm64_request
    output wire                     request_valid_o,
    input  wire                     request_ready_i,
    output wire [ADDRESS_WIDTH-1:0] request_address_o,
    output wire [6:0]               request_beats_o,
    output wire                     request_tensor_o, // it is for the tensor memory
    output wire [15:0]              request_tag_o,    // number of its command
    // The part of AXI4's R channel that shows how bursts end
    input  wire                     beat_i,           // rvalid & rready
    input  wire                     beat_last_i,
    input  wire                     beat_error_i,     // rresp is SLVERR or DECERR
    // What the beats of the current burst belong to
    output wire                     beat_kept_o,      // a walk whose space was reserved beforehand
    output wire                     beat_first_o,     // the first burst of its run
    output wire                     beat_end_o,       // the last burst of its walk
    // State
    output wire                     pending_o,        // bursts in flight
    output wire                     asking_o,         // a burst is pending, requested or not
    output wire                     idle_o,           // no burst in flight or requested
    // Bus error on this beat
    output wire                     error_o,
    output wire [15:0]              error_tag_o
);

    wire        burst_valid, burst_ready, burst_first, burst_end, tags_ready;
    wire [15:0] burst_tag;
    reg         kept_q;  // space for the current walk is reserved

    // The order of responses of two memories is not defined, so only bursts of one are in flight.
    wire        tensor = tensor_i & request_address_o[ADDRESS_WIDTH-1];
    reg         tensor_q;  // of the last burst
    wire        in_order = tensor == tensor_q | ~pending_o;

    always @(posedge clk_i)
        if (!rst_ni) tensor_q <= 1'b0;
        else if (burst_ready) tensor_q <= tensor;

    reg  [WORDS_WIDTH-1:0] room_q;  // words neither in the buffer nor requested
    wire [31:0]            beats = {25'd0, request_beats_o};

    wire                   taken = burst_ready & ~kept_q;

    always @(posedge clk_i)
        if (command_valid_i & command_ready_o) kept_q <= command_kept_i;

    // Both arrive late in the cycle, so all next values are computed and these select one.
    always @(posedge clk_i)
        if (rst_ni) begin
            if (taken) room_q <= released_i ? room_q + RELEASED[WORDS_WIDTH-1:0] - beats[WORDS_WIDTH-1:0]
                                            : room_q - beats[WORDS_WIDTH-1:0];
            else if (released_i) room_q <= room_q + RELEASED[WORDS_WIDTH-1:0];
        end else room_q <= tensor_i ? WORDS[WORDS_WIDTH-1:0] - SPARE[WORDS_WIDTH-1:0] : WORDS[WORDS_WIDTH-1:0];

    reg go;
    always @* begin
        go = 1'b0;
        if (burst_valid) go = tags_ready & (kept_q | beats <= {{32-WORDS_WIDTH{1'b0}}, room_q}) & in_order & ~stop_i;
    end

    assign request_valid_o  = go;
    assign request_tensor_o = tensor;
    assign request_tag_o    = burst_tag;
    assign burst_ready     = request_ready_i & go;
    assign asking_o        = burst_valid;
    assign idle_o          = ~burst_valid & ~pending_o;
    assign error_o         = beat_i & beat_error_i;

    gemm64_bursts #(.LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .MAX_BEATS(MAX_BEATS)) u_bursts (
        .clk_i         (clk_i),
        .rst_ni        (rst_ni),
        .start_valid_i (command_valid_i),
        .start_ready_o (command_ready_o),
        .address_i     (command_address_i),
        .run_i         (command_run_i),
        .count_i       (command_count_i),
        .stride_i      (command_stride_i),
        .passes_i      (command_passes_i),
        .step_i        (command_step_i),
        .blocks_i      (command_blocks_i),
        .tag_i         (command_tag_i),
        .valid_o       (burst_valid),
        .ready_i       (burst_ready),
        .address_o     (request_address_o),
        .beats_o       (request_beats_o),
        .first_o       (burst_first),
        .last_o        (),
        .end_o         (burst_end),
        .tag_o         (burst_tag)
    );

    // One entry for each burst in flight: its walk.
    gemm64_fifo #(.WIDTH(19), .LOG_DEPTH(LOG_BURSTS)) u_tags (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .valid_i (burst_ready),
        .ready_o (tags_ready),
        .data_i  ({kept_q, burst_first, burst_end, burst_tag}),
        .valid_o (pending_o),
        .ready_i (beat_i & beat_last_i),
        .data_o  ({beat_kept_o, beat_first_o, beat_end_o, error_tag_o})
    );

endmodule

`default_nettype wire
