// SPDX-License-Identifier: Apache-2.0
// The scratchpad of gemm64_activations as a ring, which it is for products: no word is asked for without room, read before
// it came or replaced before it was released, pass after pass; between products and windows it changes only when it
// keeps nothing; the engine's causes are one-hot. Where it asks for nothing although it has a load, and memory owes nothing,
// the ring has no room for a burst, so that the rows of a tile are there, or something is kept that has to go first.
//
// break gemm64_activations.v: (window_q == next_window | (empty & ~pending)) -> 1'b1
// break gemm64_activations.v: read_q  <= oldest_q; -> read_q  <= after(read_q);
// break gemm64_activations.v: pixels_q + {1'b0, next_rows} <= {1'b0, next_capacity} -> pixels_q + {1'b0, next_rows} < {1'b0, next_capacity}
// prove induction 1, cover 16
// probe room_q = dut.u_reader.room_q
// probe kept_walk = dut.u_reader.kept_q
// probe walking = dut.u_reader.burst_valid
// probe beat_window = dut.beat_window
// probe begins = dut.begins
// probe next_valid = dut.next_valid
// probe next_capacity = dut.next_capacity
// probe next_window = dut.next_window
// probe next_rows = dut.next_rows
// probe new_pixels = dut.new_pixels
// probe level_q = dut.level_q
// probe ahead_q = dut.ahead_q
// probe write_q = dut.write_q
// probe read_q = dut.read_q
// probe oldest_q = dut.oldest_q
// probe window_q = dut.window_q
// probe pixels_q = dut.pixels_q
module activations_ring_proof (
    input wire [15:0] command_rows_i,
    input wire [31:0] command_count_i,
    input wire [31:0] command_passes_i,
    input wire [31:0] command_blocks_i,
    input wire [31:0] command_stride_i,
    input wire        command_window_i,
    input wire        command_start_i,
    input wire [15:0] command_capacity_i,
    input wire [31:0] command_place_i
);

    localparam WORDS = 67;

    wire       transfer, wait_memory, wait_scratchpad, idle_clock;
    wire [6:0] beats, ahead_words;
    gemm64_activations #(.N(2), .LOG_N(1), .ADDRESS_WIDTH(24), .WORDS(WORDS), .WORDS_WIDTH(7), .LOG_BURSTS(1)) dut (
       
        .command_i ({command_place_i, 16'd0, command_capacity_i, 192'd0, command_stride_i, 32'd0, 64'd0, command_blocks_i, command_passes_i, command_count_i, command_rows_i, 3'd0, command_start_i, command_window_i, 11'd0}),
        .command_tag_i (16'd0), .request_beats_o (beats), .beat_data_i (16'd0), .beat_error_i (1'b0),
        .ahead_o (ahead_words), .place_i (25'd0), .inside_i (1'b0), .zero_i (8'd0),
        .causes_o ({idle_clock, wait_scratchpad, wait_memory, transfer}), .*
    );

    (* keep *) wire [6:0]  room_q, level_q, ahead_q, write_q, read_q, oldest_q;
    (* keep *) wire        kept_walk, walking, beat_window, begins, next_valid, next_window, window_q, new_pixels;
    (* keep *) wire [16:0] pixels_q;
    (* keep *) wire [15:0] next_rows, next_capacity;

    function [6:0] sum;  // places of the ring
        input [6:0] a, b;
        sum = {1'b0, a} + b >= WORDS ? {1'b0, a} + b - WORDS : a + b;
    endfunction

    reg        begun = 1'b0;
    reg [15:0] owed;  // words of the ring that were asked for and have not come
    reg        pixels_owed;  // words of pixels may come: they were asked for in this use of the scratchpad
    wire       ring_beat = beat_i & ~beat_window;
    wire       ring_read = read_i & ~window_i;
    wire       asked     = request_valid & request_ready_i & ~kept_walk;

    // The place that is followed: whether it holds a word that is needed
    (* anyconst *) reg [6:0] place;
    reg        full;
    wire [6:0] ahead = place >= oldest_q ? place - oldest_q : place + WORDS - oldest_q;

    always @(posedge clk_i) begin
        begun <= 1'b1;
        owed  <= rst_ni ? owed + (asked ? beats : 0) - ring_beat : 0;
        pixels_owed <= rst_ni & (pixels_owed & ~quiet | request_valid & request_ready_i & kept_walk);
        if (!rst_ni) full <= 1'b0;
        else if (ring_beat & write_q == place) full <= 1'b1;
        else if (ring_read & release_i & read_q == place) full <= 1'b0;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        assume (place < WORDS);
        // Memory sends what was asked for, in order: each walk's bursts are all of one kind (fifo.sv).
        if (ring_beat) assume (owed != 0);
        if (beat_i & beat_window) assume (pixels_owed & ~quiet);
        if (beat_i) assume (~quiet);
        if (quiet) assume (owed == 0);  // RLAST comes with the last word
        if (walking) assume (beats != 0);  // bursts.sv
        // The array's side (compute.sv): it reads what is there, releases from the oldest word on, and rewinds to it.
        if (ring_read) assume (ahead_words != 0 & ~pixels);
        if (ring_read & release_i) assume (ahead_words == level_q);
        if (rewind_i) assume (ring_read & ~release_i);
        assume (~(claim_i & ring_read));
        if (claim_i) assume (new_i == 0 | (pixels & new_i <= ahead_words));
        if (free_i) assume (freed_i <= pixels_q);
        if (begins & new_pixels) assume (next_rows != 0 & pixels_q + next_rows < 65536);
        if (begun) begin
            // Words of one kind come when none of the other are left.
            if (begins & next_window != window_q) assert (ahead_words == 0);
            assert (room_q + level_q + owed == WORDS);
            assert (room_q <= WORDS & level_q <= WORDS & owed <= WORDS);
            assert (write_q < WORDS & read_q < WORDS & oldest_q < WORDS);
            assert (write_q == sum(oldest_q, level_q));
            if (window_q) assert (level_q == 0 & owed == 0);
            else begin
                assert (~pixels_owed | quiet);
                assert (ahead_q <= level_q);
                assert (read_q == sum(oldest_q, level_q - ahead_q));
                assert (pixels_q == 0);
            end
            if (window_q) assert (read_q == oldest_q);
            if (walking) assert (kept_walk == window_q);
            assert (full == (ahead < level_q));
            // Never asked for without room, never read before it came, never replaced before it was released
            if (request_valid & ~kept_walk) assert (beats + level_q + owed <= WORDS);
            if (rst_ni & ring_read & read_q == place) assert (full);
            if (rst_ni & ring_beat & write_q == place) assert (~full);
            if (rst_ni & ring_beat) assert (~window_q);
            assert (transfer + wait_memory + wait_scratchpad + idle_clock == 3'd1);
            if (idle) assert (idle_clock);
            // No work stands still but for the array, or for words of pixels that no block claims (UNBALANCED).
            if (rst_ni & ~stop_i & walking & ~request_valid & quiet & owed == 0) assert (~kept_walk & level_q + 64 > WORDS);
            if (rst_ni & next_valid & ~begins & ~walking & quiet)
                assert (level_q != 0 | pixels_q != 0 | next_rows > next_capacity | (window_q & ahead_words != 0));
        end
        cover (begun & rst_ni & ring_read & rewind_i & level_q == 3);
        cover (begun & rst_ni & request_valid & owed == 64);
        cover (begun & rst_ni & begins & window_q & ~next_window);
    end

endmodule
