// SPDX-License-Identifier: Apache-2.0
// gemm64_store keeps AXI's rules on AW, W and B: offers stay as they are until they are accepted, each burst has the beats
// that its address announced and WLAST only with the last of them, no data come before their address is offered; and its
// causes are one-hot. Where the bus is quiet and it announces no burst of its STORE, a block or a set is missing; where a burst
// is announced and no beat is offered, its row is being read or in the requantizer. Of STOREs without VECTOR. A snapshot is sent
// in as many beats as it has, each counted once, and then the next one may come.
//
// break gemm64_store.v: wide_valid   = data_valid & ~narrow & ~narrow_busy & -> wide_valid   = data_valid & ~narrow &
// break gemm64_store.v: last_step    = beat_q == data_beats - 7'd1 -> last_step    = beat_q == data_beats
// break gemm64_store.v: bursts_q        <= bursts_q + {{LOG_BURSTS{1'b0}}, taken & ~burst_snapshot_q} -> bursts_q        <= bursts_q + {{LOG_BURSTS{1'b0}}, taken & burst_first}
// break gemm64_store.v: here  = ~burst_first | burst_snapshot_q | -> here  = ~burst_first |
// break gemm64_store.v: .ready_i (bvalid_i), -> .ready_i (bvalid_i & ~taken),
// break gemm64_store.v: snapshot_take_o | (snapshot_kept_q & ~(end_of_burst & data_snapshot & data_last)) -> snapshot_take_o | snapshot_kept_q
// prove induction 1, cover 24
// probe burst_valid = dut.burst_valid
// probe burst_beats = dut.burst_beats
// probe taken = dut.taken
// probe step = dut.step
// probe last_step = dut.last_step
// probe row_in = dut.row_in
// probe narrow = dut.narrow
// probe data_valid = dut.data_valid
// probe data_beats = dut.data_beats
// probe data_in = dut.u_data.tail_q
// probe data_out = dut.u_data.head_q
// probe entries_0 = dut.u_data.entries_q[0]
// probe entries_1 = dut.u_data.entries_q[1]
// probe beat_q = dut.beat_q
// probe narrow_valid = dut.narrow_valid
// probe narrow_last = dut.narrow_last
// probe narrow_busy = dut.narrow_busy
// probe response_in = dut.u_responses.tail_q
// probe response_out = dut.u_responses.head_q
// probe valid_q = dut.u_requantize.valid_q
// probe last_q = dut.u_requantize.last_q
// probe row_valid_q = dut.row_valid_q
// probe bursts_q = dut.bursts_q
// probe done_q = dut.done_q
// probe burst_snapshot = dut.burst_snapshot_q
// probe burst_first = dut.burst_first
// probe set_needed = dut.set_needed
// probe data_snapshot = dut.data_snapshot
// probe vector_q = dut.vector_q
// probe next_vector = dut.next_vector
// probe begins = dut.u_bursts.start_valid_i
// probe start_ready = dut.start_ready
// probe next_snapshot = dut.next_snapshot
// probe burst_last = dut.burst_last
// probe data_last = dut.data_last
// probe snapshot_kept = dut.snapshot_kept_q
// probe vector_busy = dut.vector_busy
// probe table_left_q = dut.table_left_q
// probe table_due_q = dut.table_due_q
module results_proof (
    input wire        command_snapshot_i,
    input wire [15:0] command_rows_i,
    input wire [31:0] command_count_i,
    input wire [31:0] command_blocks_i,
    input wire [3:0]  command_format_i
);

    `include "gemm64_defs.vh"

    wire        transfer, wait_memory, wait_compute, wait_parameters, wait_operands, wait_response, idle_clock;
    gemm64_store #(.N(2), .LOG_N(1), .ADDRESS_WIDTH(24), .ROW_WIDTH(2), .LOG_BURSTS(1)) dut (
       
        .command_i ({256'd0, 32'd4, 8'd9, 8'd0, 8'd0, 4'd0, command_format_i, 64'd0, command_blocks_i, 32'd0, command_count_i, command_rows_i, 8'd0, command_snapshot_i ? 8'd6 : 8'd4}),
        .command_tag_i (16'd0), .bias_i (64'd0), .scale_i (64'd0), .berror_i (1'b0),
        .causes_o ({idle_clock, wait_response, wait_operands, wait_parameters, wait_compute, wait_memory, transfer}), .*
    );

    (* keep *) wire        burst_valid, taken, step, last_step, row_in, narrow, data_valid, narrow_valid, narrow_last;
    (* keep *) wire        narrow_busy, row_valid_q, burst_snapshot, burst_first, set_needed, data_snapshot;
    (* keep *) wire        vector_q, next_vector, vector_busy, table_due_q;
    (* keep *) wire        begins, start_ready, next_snapshot, burst_last, data_last, snapshot_kept;
    (* keep *) wire [8:0]  table_left_q;
    (* keep *) wire [1:0]  bursts_q, done_q;
    (* keep *) wire [6:0]  burst_beats, data_beats, beat_q;
    (* keep *) wire [1:0]  data_in, data_out, response_in, response_out;
    (* keep *) wire [9:1]  valid_q, last_q;
    (* keep *) wire [36:0] entries_0, entries_1;

    wire        newer_snapshot = data_out[0] ? entries_0[8] : entries_1[8];
    reg         begun = 1'b0, aw_held, w_held, row_held, snapshot_held;
    reg [31:0]  aw_was;
    reg [16:0]  w_was;
    reg [63:0]  row_was;
    reg [15:0]  snapshot_was;
    reg [15:0]  announced;  // bursts that were offered on AW and whose last beat has not left
    reg [15:0]  whole;      // bursts that left whole and were not answered

    // What leaves: the beats before this one in its burst. Those of 8 bits are delayed by the requantizer, which hands on
    // what it got (valid_q and last_q are its stages).
    wire        w_taken = wvalid & wready_i;
    reg  [6:0]  left_beats;   // beats of the current burst that have left
    wire [3:0]  in_pipe = $countones(valid_q);
    wire [3:0]  lasts   = $countones(valid_q & last_q);
    wire [1:0]  data_held = data_in - data_out, due = response_in - response_out;

    wire [8:0]  marks = valid_q & last_q;
    wire [3:0]  newest = $countones(valid_q & (marks & -marks) - 9'd1);  // rows after the last mark
    wire [6:0]  beats_out = beat_q - in_pipe;
    wire [15:0] inside = data_held + lasts;
    // A snapshot: in the queue of commands, its beats that no burst has announced, and all that have not been sent
    localparam [8:0] SNAPSHOT_BEATS = (8 * `GEMM64_COUNTERS + 1) / 2;
    reg  [1:0]  queued;
    reg  [8:0]  unannounced;
    wire        begins_snapshot = begins & start_ready & next_snapshot;
    wire        head_snapshot  = data_held != 0 & data_snapshot;
    wire        also_snapshot  = data_held == 2 & newer_snapshot;
    wire [36:0] newer          = data_out[0] ? entries_0 : entries_1;
    wire [8:0]  snapshot_left  = unannounced + (head_snapshot ? data_beats - beat_q : 9'd0) + (also_snapshot ? newer[6:0] : 9'd0);
    reg  [8:0]  left_was;
    reg         began_was, sent_was;
    always @(posedge clk_i) begin
        queued      <= rst_ni ? queued + snapshot_take - begins_snapshot : 0;
        unannounced <= ~rst_ni ? 0 : begins_snapshot ? SNAPSHOT_BEATS : unannounced - (taken & burst_snapshot ? burst_beats : 9'd0);
        left_was    <= rst_ni ? snapshot_left : 0;
        began_was   <= rst_ni & begins_snapshot;
        sent_was    <= rst_ni & snapshot_next;
    end

    always @(posedge clk_i) begin
        begun         <= 1'b1;
        aw_held       <= rst_ni & awvalid & ~awready_i;
        w_held        <= rst_ni & wvalid & ~wready_i;
        aw_was        <= {awaddr, awlen};
        w_was         <= {wlast, wdata};
        row_held      <= ~row_read;
        row_was       <= row_data_i;
        snapshot_held <= ~snapshot_next;
        snapshot_was  <= snapshot_i;
        announced     <= rst_ni ? announced + taken - (w_taken & wlast) : 0;
        whole         <= rst_ni ? whole + (w_taken & wlast) - bvalid_i : 0;
        left_beats    <= ~rst_ni | w_taken & wlast ? 0 : left_beats + w_taken;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (burst_valid) assume (burst_beats >= 1 & burst_beats <= 64);  // bursts.sv
        if (row_held) assume (row_data_i == row_was);                    // the accumulator's output holds
        if (snapshot_held) assume (snapshot_i == snapshot_was);
        if (bvalid_i) assume (whole != 0);
        assume (~next_vector);
        if (begins_snapshot) assume (queued != 0);                       // fifo.sv
        if (burst_snapshot) assume (burst_valid == (unannounced != 0));  // bursts.sv, with the next line
        if (burst_valid & burst_snapshot) assume (burst_beats <= unannounced & burst_last == (burst_beats == unannounced));
        if (begun) begin
            assert (~vector_q & ~vector_busy & ~table_due_q & table_left_q == 0);  // no STORE with VECTOR here
            assert (data_held <= 2 & due <= 2);
            if (data_held != 0) assert (data_beats >= 1 & data_beats <= 64 & beat_q < data_beats);
            if (data_held == 2) assert (data_out[0] ? entries_0[6:0] >= 1 & entries_0[6:0] <= 64
                                                    : entries_1[6:0] >= 1 & entries_1[6:0] <= 64);
            if (data_held == 0) assert (beat_q == 0);
            // As many bursts are announced as are to be sent or on their way through the requantizer ...
            assert (announced == inside);
            // ... and as many beats of the current burst went in as have left or are inside.
            if (lasts == 0) assert (left_beats == beats_out & beat_q >= in_pipe);
            else assert (newest == beat_q);
            if (data_valid & ~narrow & lasts == 0) assert (in_pipe == 0);
            if (data_valid & ~narrow & in_pipe != 0) assert (beat_q == 0);
            // AXI
            if (aw_held) assert (awvalid & {awaddr, awlen} == aw_was);
            if (awvalid) assert (awlen <= 63);
            if (w_held) assert (wvalid & {wlast, wdata} == w_was);
            if (wvalid) assert (announced != 0 & ~quiet);
            assert (due == announced + whole & announced <= 2 & whole <= 2);  // each burst is to be answered once
            if (wvalid & ~narrow_valid) assert (left_beats == beat_q & wlast == (beat_q == data_beats - 1));
            assert (bready);
            if (rst_ni & row_read) assert (storing);
            // No work stands still but for a block, a set or memory.
            assert (bursts_q == (data_held == 0 ? 0 : !data_snapshot + (data_held == 2 & !newer_snapshot)));
            if (rst_ni & ~stop_i & quiet & burst_valid & ~taken)
                assert (~burst_snapshot & (burst_first & done_q == 0 | set_needed & ~set_ready_i));
            if (rst_ni & data_held != 0 & ~wvalid) assert (~row_valid_q & row_read | row_in | narrow_busy);
            // One snapshot at a time: it has all its beats, sends each once, and ends with the last.
            assert (queued <= 1 & unannounced <= SNAPSHOT_BEATS & snapshot_left <= SNAPSHOT_BEATS);
            assert (snapshot_kept == (queued == 1 | snapshot_left != 0) & (queued == 0 | snapshot_left == 0));
            if (unannounced != 0) assert (burst_snapshot);
            if (head_snapshot) assert (data_last == (unannounced == 0 & ~also_snapshot));
            if (also_snapshot) assert (newer[7] == (unannounced == 0));
            assert (snapshot_left == (began_was ? SNAPSHOT_BEATS : left_was - sent_was));
            if (rst_ni & head_snapshot & ~narrow_busy) assert (wvalid);
            // The requantizer's side: the last beat of a burst goes in as such, and with no other
            if (rst_ni & step) assert (last_step == (beat_q + 1 == data_beats));
            // Causes
            assert (transfer + wait_memory + wait_compute + wait_parameters + wait_operands + wait_response + idle_clock == 3'd1);
            if (idle) assert (idle_clock);
        end
        cover (begun & w_taken & wlast & narrow_valid & left_beats == 2);
        cover (begun & w_taken & wlast & ~narrow_valid & left_beats == 3);
        cover (begun & wait_parameters);
        cover (begun & snapshot_left == SNAPSHOT_BEATS - 3);
    end

endmodule
