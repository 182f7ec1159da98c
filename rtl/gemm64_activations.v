// SPDX-License-Identifier: Apache-2.0
// Loads activations into the scratchpad. For products it is a ring of words that the array reads once or, pass after pass,
// again; for convolutions planes of CAPACITY words, in which pixel p has the slot p mod CAPACITY until it is freed.
// Latency: 1 cycle from a word's arrival to ahead_o; 1 cycle from read_i to word_o; 1 cycle from free_i to the room for
//          other pixels.
// Handshake: valid/ready for commands and burst requests. Words are requested only where the ring has room, and pixels
//            where their planes have, so they are always taken. read_i of the ring needs ahead_o > 0 and no pixels_o,
//            claim_i needs ahead_o >= new_i, and pixels_o where new_i > 0. The scratchpad changes from one use to the other when it keeps nothing.
`default_nettype none

`include "gemm64_defs.vh"

module gemm64_activations #(
    parameter N             = 64,    // bytes of a word
    parameter LOG_N         = 6,     // log2 N
    parameter ADDRESS_WIDTH = 40,    // bits of an address
    parameter WORDS         = 9216,  // words of the scratchpad; at least 64, the longest burst
    parameter WORDS_WIDTH   = 14,    // bits that hold the number WORDS
    parameter TENSOR_WORDS  = 0,     // of them, the last ones, which can serve as tensor memory
    parameter SELF_CHECK    = 0,     // 0: wrong_o and unwritten_o are 0
    parameter LOG_BURSTS    = 4      // log2 of the read bursts in flight
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,             // synchronous, active low
    input  wire                     stop_i,             // ask for nothing more
    input  wire                     tensor_i,           // they do; see gemm64_reader
    // LOAD_ACTIVATIONS
    input  wire                        command_valid_i,
    output wire                        command_ready_o,
    input  wire [`GEMM64_CMD_BITS-1:0] command_i,
    input  wire [15:0]                 command_tag_i,
    // Burst request, to the data port
    output wire                     request_valid_o,
    input  wire                     request_ready_i,
    output wire [ADDRESS_WIDTH-1:0] request_address_o,
    output wire [6:0]               request_beats_o,
    output wire                     request_tensor_o,   // to the tensor memory instead
    output wire [15:0]              request_tag_o,      // number of its command
    // Words from the data port
    input  wire                     beat_i,
    input  wire [8*N-1:0]           beat_data_i,
    input  wire                     beat_error_i,
    input  wire                     beat_last_i,
    // To the array
    output wire [WORDS_WIDTH-1:0]   ahead_o,            // words that lie ready: in the ring, or not yet claimed
    output wire                     pixels_o,           // they are words of pixels
    input  wire                     read_i,
    input  wire                     release_i,          // with read_i of the ring: the word's place may be filled again
    input  wire                     rewind_i,           // with read_i of the ring: after it comes the oldest word kept
    input  wire                     window_i,           // read_i is of a place, not of the ring
    input  wire [24:0]              place_i,
    input  wire                     inside_i,           // there is such a pixel; else every lane is zero_i
    input  wire [7:0]               zero_i,             // holds for the cycle after read_i
    input  wire                     claim_i,            // new_i of the words that came are now needed
    input  wire [15:0]              new_i,
    input  wire                     free_i,             // the oldest freed_i pixels are no longer needed
    input  wire [15:0]              freed_i,
    output wire [8*N-1:0]           word_o,
    output wire                     wrong_o,            // one was not what came; see gemm64_parity_check
    output wire                     unwritten_o,        // or none has come there since the reset
    output wire [23:0]              wrong_word_o,
    // The tensor memory's ports
    input  wire                     tensor_write_i,
    input  wire [WORDS_WIDTH-1:0]   tensor_write_address_i,
    input  wire [8*N-1:0]           tensor_write_data_i,
    input  wire                     tensor_read_i,
    input  wire [WORDS_WIDTH-1:0]   tensor_read_address_i,
    output wire [8*N-1:0]           tensor_word_o,
    output wire                     wrong_tensor_o,     // what is wrong is of a word that they read
    // State
    output wire                     idle_o,             // nothing to load, nothing kept
    output wire                     quiet_o,            // no burst in flight
    output wire                     error_o,
    output wire [15:0]              error_tag_o,
    output wire                     left_o,             // nothing to load, but pixels kept, or words that no block claimed
    output wire                     unbalanced_o,       // the next walk starts another operand and finds unclaimed words
    output wire [15:0]              unbalanced_tag_o,
    output wire [3:0]                causes_o        // what this cycle was spent on, exactly one: bits in the order of the counters
);

    // What a window needs of it fits in the words of the scratchpad, or gemm64_im2col_check ends the work.
    localparam PLANES_WIDTH  = 16 + 16 + 25;
    localparam LANE          = N < 4 ? N : 4;  // bytes that are selected at a time
    wire                         next_valid, next_ready;
    wire [`GEMM64_CMD_BITS-1:0] next_command;
    wire [15:0]                  next_tag;

    gemm64_command_queue #(.WORDS(`GEMM64_CMD_WORDS_ACTIVATIONS), .HEAD(1)) u_commands (
        .clk_i     (clk_i),
        .rst_ni    (rst_ni),
        .valid_i   (command_valid_i),
        .ready_o   (command_ready_o),
        .command_i (command_i),
        .tag_i     (command_tag_i),
        .valid_o   (next_valid),
        .ready_i   (next_ready),
        .command_o (next_command),
        .tag_o     (next_tag),
        .other_o   ()
    );

    wire [ADDRESS_WIDTH-1:0]  next_address  = next_command[`GEMM64_CMD_ADDRESS_LOW_LSB +: ADDRESS_WIDTH];
    wire [15:0]               next_rows     = next_command[`GEMM64_CMD_ROWS_LSB +: `GEMM64_CMD_ROWS_WIDTH];
    wire [31:0]               next_count    = next_command[`GEMM64_CMD_COUNT_LSB +: `GEMM64_CMD_COUNT_WIDTH];
    wire [31:0]               next_passes   = next_command[`GEMM64_CMD_PASSES_LSB +: `GEMM64_CMD_PASSES_WIDTH];
    wire [31:0]               next_blocks   = next_command[`GEMM64_CMD_BLOCKS_LSB +: `GEMM64_CMD_BLOCKS_WIDTH];
    wire [31:0]               next_stride   = next_command[`GEMM64_CMD_STRIDE_LSB +: `GEMM64_CMD_STRIDE_WIDTH];
    wire                      next_window   = next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_WINDOW_BIT];
    wire                      next_start    = next_command[`GEMM64_CMD_FLAGS_LSB + `GEMM64_FLAG_START_BIT];
    wire [15:0]               next_capacity = next_command[`GEMM64_CMD_CAPACITY_LSB +: `GEMM64_CMD_CAPACITY_WIDTH];
    wire [15:0]               next_slot     = next_command[`GEMM64_CMD_SLOT_LSB +: `GEMM64_CMD_SLOT_WIDTH];
    wire [24:0]               next_place    = next_command[`GEMM64_CMD_PLACE_LSB +: 25];

    reg  [WORDS_WIDTH-1:0] level_q;   // words kept in the ring
    reg  [WORDS_WIDTH-1:0] ahead_q;   // of them, those from the next one to be read on; words of pixels not yet claimed
    reg  [WORDS_WIDTH-1:0] write_q, read_q, oldest_q;
    reg                    window_q;  // the last walk was of a window
    reg  [16:0]            pixels_q;  // kept, or on their way

    wire [WORDS_WIDTH-1:0] words = tensor_i ? WORDS[WORDS_WIDTH-1:0] - TENSOR_WORDS[WORDS_WIDTH-1:0] : WORDS[WORDS_WIDTH-1:0];
    wire pending, asking, reader_ready, reader_idle;

    // A walk of the ring begins when no pixel is kept, one of a window when no word is and its pixels have room.
    wire new_pixels = next_window & next_place == 25'd0;
    wire claimed    = ahead_q == {WORDS_WIDTH{1'b0}};
    wire no_pixels  = pixels_q == 17'd0;
    wire empty      = (window_q ? no_pixels : level_q == {WORDS_WIDTH{1'b0}}) & claimed;
    wire has_room   = next_start ? no_pixels & claimed & ~pending : pixels_q + {1'b0, next_rows} <= {1'b0, next_capacity};
    wire may_begin  = (window_q == next_window | (empty & ~pending)) & (~new_pixels | has_room);
    wire begins     = next_valid & may_begin & reader_ready;
    assign next_ready = may_begin & reader_ready;

    wire [16:0] pixels = pixels_q + (begins & new_pixels ? {1'b0, next_rows} : 17'd0);

    wire [47:0] next_run;
    wire [31:0] next_runs;
    gemm64_run u_run (
        .rows_i   (next_rows),
        .count_i  (next_count),
        .stride_i (next_stride),
        .window_i (next_window),
        .words_o  (next_run),
        .runs_o   (next_runs)
    );

    wire beat_window, beat_first, beat_end;  // what the words that come belong to

    gemm64_reader #(
        .LOG_N(LOG_N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_BURSTS(LOG_BURSTS), .WORDS(WORDS), .WORDS_WIDTH(WORDS_WIDTH),
        .SPARE(TENSOR_WORDS)
    ) u_reader (
        .clk_i             (clk_i),
        .rst_ni            (rst_ni),
        .stop_i            (stop_i),
        .tensor_i          (tensor_i),
        .command_valid_i   (next_valid & may_begin),
        .command_ready_o   (reader_ready),
        .command_address_i (next_address),
        .command_run_i     (next_run),
        .command_count_i   (next_runs),
        .command_stride_i  ({4'd0, next_stride}),
        .command_passes_i  (next_passes),
        .command_step_i    ({4'd0, next_rows}),
        .command_blocks_i  (next_blocks),
        .command_tag_i     (next_tag),
        .command_kept_i    (next_window),
        .released_i        (read_i & release_i & ~window_i),
        .request_valid_o   (request_valid_o),
        .request_ready_i   (request_ready_i),
        .request_address_o (request_address_o),
        .request_beats_o   (request_beats_o),
        .request_tensor_o  (request_tensor_o),
        .request_tag_o     (request_tag_o),
        .beat_i            (beat_i),
        .beat_last_i       (beat_last_i),
        .beat_error_i      (beat_error_i),
        .beat_kept_o       (beat_window),
        .beat_first_o      (beat_first),
        .beat_end_o        (beat_end),
        .pending_o         (pending),
        .asking_o          (asking),
        .idle_o            (reader_idle),
        .error_o           (error_o),
        .error_tag_o       (error_tag_o)
    );

    // The destination of the pixels of each current walk: walks that ask, and at least a burst of each that has asked.
    localparam LOG_WALKS = LOG_BURSTS + 1;
    reg  [PLANES_WIDTH-1:0] planes_q [0:(1 << LOG_WALKS)-1];
    reg  [LOG_WALKS-1:0]    walk_in_q, walk_out_q;
    wire [PLANES_WIDTH-1:0] planes = planes_q[walk_out_q];
    wire                    planes_end = beat_i & beat_last_i & beat_window & beat_end;

    // Each run is a plane, and begins at the walk's slot.
    reg                    burst_begun_q, walk_begun_q;  // a word of it has come
    reg  [24:0]            base_q;                       // first word of the plane
    reg  [24:0]            next_base_q;                  // and of the next one, since a word's place is found late in its cycle
    reg  [15:0]            slot_q;                       // of the next word
    reg  [24:0]            base, write_place;
    reg  [15:0]            slot, first_slot, capacity;
    reg  [24:0]            first_base;

    always @* begin
        {capacity, first_slot, first_base} = {16'd0, 16'd0, 25'd0};
        base        = base_q;
        slot        = slot_q;
        write_place = {{25-WORDS_WIDTH{1'b0}}, write_q};
        if (beat_window) begin
            {capacity, first_slot, first_base} = planes;
            if (beat_first & ~burst_begun_q) begin
                base = walk_begun_q ? next_base_q : first_base;
                slot = first_slot;
            end
            write_place = base + {9'd0, slot};
        end
    end

    always @(posedge clk_i) begin
        if (begins & next_window) planes_q[walk_in_q] <= {next_capacity, next_slot, next_place};
        if (rst_ni) begin
            if (begins & next_window) walk_in_q <= walk_in_q + 1'b1;
            if (beat_i & beat_window) begin
                burst_begun_q <= ~beat_last_i;
                walk_begun_q  <= ~planes_end;
                base_q        <= base;
                next_base_q   <= base + {9'd0, capacity};
                slot_q        <= slot == capacity - 16'd1 ? 16'd0 : slot + 16'd1;
                if (planes_end) walk_out_q <= walk_out_q + 1'b1;
            end
        end else begin
            walk_in_q     <= {LOG_WALKS{1'b0}};
            walk_out_q    <= {LOG_WALKS{1'b0}};
            burst_begun_q <= 1'b0;
            walk_begun_q  <= 1'b0;
        end
    end

    reg             border_q;  // the pixel that was read is beyond the border
    wire [8*N-1:0]  kept;
    always @(posedge clk_i) if (read_i) border_q <= window_i & ~inside_i;
    genvar g;
    generate
        for (g = 0; g < N / LANE; g = g + 1) begin : lane
            assign word_o[8*LANE*g +: 8*LANE] = border_q ? {LANE{zero_i}} : kept[8*LANE*g +: 8*LANE];
        end
    endgenerate

    gemm64_scratchpad #(
        .N(N), .WORDS(WORDS), .WORDS_WIDTH(WORDS_WIDTH), .TENSOR_WORDS(TENSOR_WORDS), .SELF_CHECK(SELF_CHECK)
    ) u_scratchpad (
        .clk_i                  (clk_i),
        .rst_ni                 (rst_ni),
        .tensor_i               (tensor_i),
        .write_i                (beat_i),
        .write_address_i        (write_place[WORDS_WIDTH-1:0]),
        .write_data_i           (beat_data_i),
        .read_i                 (read_i & (~window_i | inside_i)),
        .read_address_i         (window_i ? place_i[WORDS_WIDTH-1:0] : read_q),
        .word_o                 (kept),
        .tensor_write_i         (tensor_write_i),
        .tensor_write_address_i (tensor_write_address_i),
        .tensor_write_data_i    (tensor_write_data_i),
        .tensor_read_i          (tensor_read_i),
        .tensor_read_address_i  (tensor_read_address_i),
        .tensor_word_o          (tensor_word_o),
        .wrong_o                (wrong_o),
        .unwritten_o            (unwritten_o),
        .wrong_tensor_o         (wrong_tensor_o),
        .wrong_word_o           (wrong_word_o)
    );

    function [WORDS_WIDTH-1:0] after;  // the place after this one in the ring
        input [WORDS_WIDTH-1:0] place_of_word;
        after = place_of_word == words - 1'b1 ? {WORDS_WIDTH{1'b0}} : place_of_word + 1'b1;
    endfunction

    wire ring_read = read_i & ~window_i;
    wire [31:0] new_pixels_words = {16'd0, new_i};
    wire [WORDS_WIDTH-1:0] new_words = new_pixels_words[WORDS_WIDTH-1:0];
    wire [WORDS_WIDTH-1:0] in       = {{WORDS_WIDTH-1{1'b0}}, beat_i};
    wire [WORDS_WIDTH-1:0] ring_in  = {{WORDS_WIDTH-1{1'b0}}, beat_i & ~beat_window};

    // What leaves is known late in its clock, so that both outcomes are found before.
    wire [WORDS_WIDTH-1:0] level    = level_q + ring_in;
    wire [WORDS_WIDTH-1:0] ahead    = ahead_q + in;

    always @(posedge clk_i) begin
        if (rst_ni) begin
            level_q <= ring_read & release_i ? level - 1'b1 : level;
            if (beat_i & ~beat_window) write_q <= after(write_q);
            if (ring_read & release_i) oldest_q <= after(oldest_q);
            if (ring_read & rewind_i) begin
                read_q  <= oldest_q;
                ahead_q <= level_q + in;
            end else begin
                if (ring_read) read_q <= after(read_q);
                ahead_q <= claim_i ? ahead - new_words : ring_read ? ahead - 1'b1 : ahead;
            end
            if (begins) window_q <= next_window;
            pixels_q <= free_i ? pixels - {1'b0, freed_i} : pixels;  // free_i comes late in the clock
        end else begin
            level_q  <= {WORDS_WIDTH{1'b0}};
            ahead_q  <= {WORDS_WIDTH{1'b0}};
            write_q  <= {WORDS_WIDTH{1'b0}};
            read_q   <= {WORDS_WIDTH{1'b0}};
            oldest_q <= {WORDS_WIDTH{1'b0}};
            window_q <= 1'b0;
            pixels_q <= 17'd0;
        end
    end

    // Words that no block claimed would be taken for those of the next convolution.
    wire anew = next_window ? new_pixels & next_start : 1'b1;
    reg  left_q, unbalanced_q;
    always @(posedge clk_i) begin
        left_q       <= rst_ni & window_q & reader_idle & ~next_valid & ~(no_pixels & claimed);
        unbalanced_q <= rst_ni & window_q & reader_idle & next_valid & anew & no_pixels & ~claimed;
    end

    assign ahead_o           = ahead_q;
    assign pixels_o          = window_q;
    assign left_o            = left_q;
    assign unbalanced_o      = unbalanced_q;
    assign unbalanced_tag_o  = next_tag;
    assign idle_o            = reader_idle & ~next_valid & no_pixels & claimed;
    assign quiet_o           = ~pending;
    wire transfer, wait_memory, wait_scratchpad, idle_clock;
    assign transfer        = beat_i;
    assign wait_memory     = ~beat_i & pending;
    assign wait_scratchpad = ~beat_i & ~pending & (asking | next_valid);
    assign idle_clock          = ~beat_i & ~pending & ~(asking | next_valid);
    assign causes_o = {idle_clock, wait_scratchpad, wait_memory, transfer};

`ifdef GEMM64_CHECKS
    always @(posedge clk_i)
        if (rst_ni & ((ring_read & (window_q | ahead_q == {WORDS_WIDTH{1'b0}}))
                      | (beat_i & ~beat_window & level_q == words))) begin
            $display("gemm64_activations: a word was read that is not there, or came where no room is");
            $stop;
        end
    always @(posedge clk_i)
        if (rst_ni & claim_i & new_i != 16'd0 & (~window_q | new_words > ahead_q)) begin
            $display("gemm64_activations: a pixel was claimed that is not there");
            $stop;
        end
`endif

endmodule

`default_nettype wire
