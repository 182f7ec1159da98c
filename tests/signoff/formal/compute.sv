// SPDX-License-Identifier: Apache-2.0
// gemm64_sequencer takes words of weights and activations only where they are there; it begins no row of sums in a place whose
// old sum is still needed, and adds to none that was not begun or is being stored; its causes are one-hot. The store is any
// that takes finished blocks in order, row after row. Each row brings it further through its command. What its causes say it
// waits for is what is missing; where that is a place for sums, a block is complete or will be. The lanes are any that
// give rows where there is a place; they begin when the array is empty.
//
// break gemm64_sequencer.v: opens_bank & first_tile ? 2'd2 : 2'd3 -> 2'd3
// break gemm64_sequencer.v: rows_stored_i > {1'b0, row_q -> rows_stored_i >= {1'b0, row_q
// break gemm64_sequencer.v: (waiting & (~between | (weights & activations))) -> (waiting & weights & activations)
// break gemm64_sequencer.v: next & ~lanes_q & drain_q == {DRAIN_WIDTH{1'b0}} -> next & ~lanes_q
// break gemm64_sequencer.v: last_tile)) | lanes_plane_end_i -> last_tile))
// break gemm64_sequencer.v: (read | lanes_row_i) & other_bank) bank_q <= ~bank_q -> read & other_bank) bank_q <= ~bank_q
// break gemm64_sequencer.v: end_of_tile) tile_q <= last_tile ? 32'd0 : tile_q + 32'd1 -> end_of_tile) tile_q <= last_tile ? 32'd0 : tile_q
// break gemm64_sequencer.v: activation_pixels_i == of_window | least == 16'd0 -> 1'b1
// break gemm64_sequencer.v: weights     = column_q == {LOG_N{1'b0}} & weight_words_i >= -> weights     = column_q == {LOG_N{1'b0}} & weight_words_i >
// break gemm64_sequencer.v: weight_release_o     = start ? ~retain_weights : -> weight_release_o     = start ? 1'b1 :
// break gemm64_sequencer.v: retain_weights & last_tile & last_pass; -> retain_weights & last_tile;
// prove induction 1, cover 14; WINDOW=0 WINDOW=1 WINDOW=0,LANES=1
// probe valid = dut.valid
// probe set = dut.set
// probe rows = dut.rows
// probe count = dut.count
// probe passes = dut.passes
// probe blocks = dut.blocks
// probe accumulate = dut.accumulate
// probe retain = dut.retain
// probe of_window = dut.of_window
// probe retain_weights = dut.retain_weights
// probe retain_weights_q = dut.retain_weights_q
// probe rewind_weights_q = dut.rewind_weights_q
// probe last_tile = dut.last_tile
// probe last_pass = dut.last_pass
// probe queue_in = dut.u_commands.u_fifo.tail_q
// probe queue_out = dut.u_commands.u_fifo.head_q
// probe row_q = dut.row_q
// probe column_q = dut.column_q
// probe tile_q = dut.tile_q
// probe pass_q = dut.pass_q
// probe block_q = dut.block_q
// probe bank_q = dut.bank_q
// probe in_use_q = dut.in_use_q
// probe start = dut.start
// probe finished = dut.finished
// probe load = dut.load
// probe first_tile = dut.first_tile
// probe lanes_q = dut.lanes_q
// probe of_lanes = dut.of_lanes
// probe drain_q = dut.drain_q
module compute_proof #(
    parameter WINDOW = 0,  // 1: MATMULs of windows and SET_WINDOW, of which the places of sums are not looked at
    parameter LANES  = 0   // 1: DEPTHWISE too
) (
    input wire         command_set_i,
    input wire         command_lanes_i,
    input wire         accumulate_i,
    input wire         retain_i,
    input wire         retain_weights_i,
    input wire [15:0]  command_rows_i,
    input wire [31:0]  command_count_i,
    input wire [31:0]  command_passes_i,
    input wire [31:0]  command_blocks_i,
    input wire [255:0] command_window_i,
    input wire         done_i  // the oldest finished block is whole in the accumulator
);

    wire        lanes_load, lanes_active, lanes_place;
    wire        read, release_word, rewind, window_read, claim;
    wire        wait_weights, computes, wait_activations, wait_results, drain, idle_clock, free_pixels;
    wire [15:0] fresh;
    gemm64_sequencer #(.N(2), .LOG_N(1), .WEIGHT_WIDTH(3), .WORDS_WIDTH(7), .ROW_WIDTH(2), .PIPELINE(4)) dut (
       
        .command_i ({command_window_i, 128'd0, command_blocks_i, command_passes_i, command_count_i, command_rows_i, retain_weights_i, 3'd0, WINDOW != 0, 1'b0, retain_i, accumulate_i | WINDOW != 0, WINDOW != 0 & command_set_i ? 8'd8 : LANES != 0 & command_lanes_i ? 8'd10 : 8'd3}),
        .activation_read_o (read), .activation_release_o (release_word), .activation_rewind_o (rewind),
        .activation_window_o (window_read), .activation_claim_o (claim), .activation_new_o (fresh),
        .activation_free_o (free_pixels), .lanes_load_o (lanes_load), .lanes_active_o (lanes_active), .lanes_place_o (lanes_place),
        .causes_o ({idle_clock, drain, wait_results, wait_activations, wait_weights, computes}), .*
    );

    (* keep *) wire        valid, set, accumulate, retain, of_window, retain_weights, retain_weights_q, rewind_weights_q, last_tile, last_pass, bank_q, start, first_tile, column_q, lanes_q, of_lanes;
    (* keep *) wire        finished, load;
    (* keep *) wire [15:0] rows, row_q;
    (* keep *) wire [31:0] count, passes, blocks, tile_q, pass_q, block_q;
    (* keep *) wire [7:0]  drain_q;
    (* keep *) wire [1:0]  queue_in, queue_out, in_use_q;

    reg        begun = 1'b0, was_retained;  // words were read that are to be read again
    reg [2:0]  weights_were;
    reg        last_tile_was;
    reg        weights_stay;  // words of weights were read that are to be read again
    wire       begins_block = tile_q == 0 & pass_q == 0;  // the next tile, between two of them
    reg [6:0]  words_were;
    reg        pixels_were;
    reg        weight_was_read, word_was_read;
    reg [6:0]  claimed;

    // Blocks, the oldest first, and the rows of each: `done` of them are whole, `sent` have all rows on their way, and one
    // may be in flight. The store has read `stored` rows of the oldest.
    reg [1:0]  done, sent;
    reg        under_way, store_bank;
    reg [15:0] rows_0, rows_1, rows_2;
    reg [2:0]  stored;
    wire [1:0] blocks_held = done + sent + under_way;
    wire       gives  = read | lanes_row_i;  // a row
    wire       begins = (start & first_tile) | (lanes_row_i & row_q == 0);
    wire       ends   = gives & row_last;
    wire       done_now = done_i;
    wire [1:0] held_after = blocks_held - bank_free_i;

    // How far the command has come: blocks, passes, tiles, rows
    reg          went_on, was_read, began;
    // Rows of the array and of the lanes in the cycles before: bit t is of t + 1 cycles ago
    localparam   PIPELINE = 4;
    reg [PIPELINE-1:0] array_rows = 0, lanes_rows = 0;
    reg                bank_was;
    integer            t;
    reg  [2:0]   sum_was;  // place of the sum that was added to a cycle ago
    reg  [111:0] place_was;
    wire [111:0] place_now = {block_q, pass_q, tile_q, row_q};

    // The place of a sum that is followed: whether a sum is there that is needed
    (* anyconst *) reg       bank;
    (* anyconst *) reg [1:0] place;
    reg        live;
    reg        after_free;
    wire       issued     = gives & row_bank == bank & row == place;
    wire [2:0] more_stored = rows_stored_i - (after_free ? 3'd0 : stored);
    wire       store_reads = more_stored != 0 & store_bank == bank & (rows_stored_i - 1) == place;

    always @(posedge clk_i) begin
        begun           <= 1'b1;
        weights_were    <= weight_words_i;
        words_were      <= activation_words_i;
        pixels_were     <= activation_pixels_i;
        weight_was_read <= rst_ni & weight_read;
        last_tile_was   <= last_tile;
        weights_stay    <= rst_ni & (weight_read ? ~weight_release & ~weight_rewind : weights_stay);
        word_was_read   <= rst_ni & read & ~window_read;
        claimed         <= rst_ni & claim ? fresh[6:0] : 0;
        went_on         <= rst_ni & read & ~finished;
        was_read        <= rst_ni & gives;
        sum_was         <= {row_bank, row};
        place_was       <= place_now;
        began           <= rst_ni & lanes_load;
        array_rows      <= {array_rows, read} & {PIPELINE{rst_ni}};
        lanes_rows      <= {lanes_rows, lanes_row_i} & {PIPELINE{rst_ni}};
        bank_was        <= row_bank;
        was_retained    <= rst_ni & (read & ~window_read ? ~release_word & ~rewind : was_retained);
        if (!rst_ni) begin
            {done, sent, under_way, store_bank, stored, live, after_free} <= 0;
        end else begin
            done      <= done + done_now - bank_free_i;
            sent      <= sent + ends - done_now;
            under_way <= ~ends & (under_way | begins);
            stored    <= rows_stored_i;
            after_free <= bank_free_i;
            if (bank_free_i) begin
                store_bank <= ~store_bank;
                rows_0     <= rows_1;
                rows_1     <= rows_2;
            end
            if (begins) begin
                if (held_after == 0) rows_0 <= rows;
                if (held_after == 1) rows_1 <= rows;
                if (held_after == 2) rows_2 <= rows;
            end
            // A plane's last block on the lanes may have fewer rows.
            if (ends & ~read) begin
                if (held_after + begins == 1) rows_0 <= row_q + 1;
                if (held_after + begins == 2) rows_1 <= row_q + 1;
                if (held_after + begins == 3) rows_2 <= row_q + 1;
            end
            if (issued) live <= 1'b1;
            else if (store_reads) live <= 1'b0;
        end
    end

    // The position of the followed place among the blocks: oldest, second, third
    wire [15:0] spot = {14'd0, place};
    wire        last_full = ~under_way | ~first_tile;  // of the newest block: all rows have been begun
    wire in_0 = blocks_held >= 1 & store_bank == bank & spot >= stored_now & spot < (blocks_held == 1 & ~last_full ? row_q : rows_0);
    wire in_1 = blocks_held >= 2 & store_bank != bank & spot < (blocks_held == 2 & ~last_full ? row_q : rows_1);
    wire in_2 = blocks_held == 3 & store_bank == bank & spot < (~last_full ? row_q : rows_2);
    wire [2:0] stored_now = after_free ? 3'd0 : stored;

    always @* begin
        if (!begun) assume (!rst_ni);
        if (valid) begin
            // Dispatch refuses others, and the queue hands on what it got (fifo.sv).
            assume (rows != 0 & rows <= (WINDOW != 0 ? 8 : 4) & count != 0 & passes != 0 & blocks != 0);
            assume (of_window == WINDOW);
            if (WINDOW != 0) assume (tile_q != 32'hffff_ffff);  // taps and planes are fewer (window.sv)
            if (WINDOW != 0 & begun & row_q != 0) assume (last_tile == last_tile_was);  // a tile stays the one it is (window.sv)
        end
        if (lanes_q) assume (of_lanes & ~set & rows != 0 & rows <= 4);
        assume (~(of_lanes & set));
        if (LANES == 0) assume (~of_lanes);
        // The lanes do something only while they are active, a row goes where there is a place (lanes_walk.sv).
        if (lanes_move_i | lanes_wait_weights_i | lanes_wait_word_i) assume (lanes_active);
        assume (lanes_move_i + lanes_wait_weights_i + lanes_wait_word_i <= 2'd1);
        if (lanes_active & ~lanes_move_i & ~lanes_wait_weights_i & ~lanes_wait_word_i) assume (~lanes_place);
        if (lanes_row_i) assume (lanes_move_i & lanes_place);
        if (lanes_plane_end_i) assume (lanes_row_i);
        if (lanes_finished_i) assume (lanes_move_i);
        // What is left of the last sum's plane is not given any more: no block is open at the end.
        if (lanes_finished_i) assume (lanes_row_i ? lanes_plane_end_i : row_q == 0);
        // Words come, and leave only where they are read.
        if (begun) assume (weight_words_i >= weights_were - weight_was_read & weight_words_i <= 4);
        if (begun) assume (activation_words_i >= words_were - word_was_read - claimed);
        // Their kind changes where none are left (activations_ring.sv).
        if (begun) assume (activation_pixels_i == pixels_were | words_were == word_was_read + claimed);
        // The store: it reads rows of the oldest whole block in order and frees its bank with the last.
        if (done_i) assume (sent != 0);
        assume (rows_stored_i == stored_now | (rows_stored_i == stored_now + 1 & done != 0 & stored_now < rows_0));
        if (bank_free_i) assume (done != 0 & rows_stored_i == rows_0);
        if (begun) begin
            assert (queue_in - queue_out <= 2'd2);
            if (row_q != 0) assert ((valid | lanes_q) & row_q < rows);
            // The lanes are given a command when no row is in the array, and it stays theirs.
            if (rst_ni & lanes_load) assert (drain_q == 0 & ~lanes_q & ~valid);
            // accumulator.sv: no row of the array is in it when one of the lanes comes, and a row of the array in the cycle
            // after goes to the other bank.
            for (t = 0; t < PIPELINE; t = t + 1) begin
                if (array_rows[t]) assert (drain_q >= PIPELINE - t & ~lanes_q);
            end
            if (lanes_rows[0]) assert (array_rows == 0);
            if (rst_ni & lanes_row_i) assert (array_rows == 0);
            if (WINDOW == 0 & rst_ni & lanes_rows[0] & read) assert (row_bank != bank_was);
            if (rst_ni & lanes_active) assert (lanes_q & ~stop_i);
            assert (~(lanes_q & valid) & ~(read & lanes_row_i));
            if (began) assert (lanes_q);
            if (lanes_q) assert (queue_in != queue_out);
            if (column_q != 0) assert (weight_words_i >= 1);
            if (valid & ~of_window & row_q != 0) assert (activation_words_i >= rows - row_q & ~activation_pixels_i);
            if (WINDOW == 0 & valid) assert (was_retained == (retain & pass_q != passes - 1 & (tile_q != 0 | row_q != 0)));
            if (WINDOW == 0 & ~valid) assert (~was_retained);
            if (valid) assert (pass_q < passes & block_q < blocks);
            else assert (pass_q == 0 & block_q == 0 & tile_q == 0);
            if (WINDOW == 0 & valid) assert (tile_q < count);
            // Weights that are released were not read before, and all that stay are read again: from their block's first tile on.
            if (rst_ni & weight_read & weight_release) assert (~weights_stay & ~weight_rewind);
            if (rst_ni & weight_rewind) assert (weight_read & ~weight_release);
            if (column_q != 0) assert (weights_stay == retain_weights_q);
            if (column_q != 0 & row_q != 0) assert (valid & retain_weights == retain_weights_q & rewind_weights_q == (retain_weights & last_tile & last_pass));
            if (column_q != 0 & row_q == 0 & begins_block) assert (rewind_weights_q == retain_weights_q);
            if (column_q != 0 & row_q == 0 & ~begins_block) assert (valid & retain_weights == retain_weights_q & ~rewind_weights_q);
            if (column_q == 0) assert (weights_stay == (valid & retain_weights & (row_q == 0 ? ~begins_block : ~(last_tile & last_pass))));
            // Words are read only where they are there, and released from the oldest on.
            if (rst_ni & weight_read) assert (weight_words_i != 0);
            if (rst_ni & read & ~window_read) assert (activation_words_i != 0 & ~activation_pixels_i);
            if (rst_ni & read & ~window_read & release_word) assert (~was_retained & ~rewind);
            if (rst_ni & rewind) assert (read & ~release_word);
            if (rst_ni & claim) assert (fresh == 0 | (fresh <= activation_words_i & activation_pixels_i));
            if (stop_i & row_q == 0) assert (~read);
            // Causes
            assert (computes + wait_weights + wait_activations + wait_results + drain + idle_clock == 3'd1);
            if (idle) assert (idle_clock);
            // A command ends: each row is further than the one before, and all have their ends.
            if (went_on) assert (valid & place_now > place_was);
            // No sum is added to in two cycles in a row (accumulator_column.sv).
            if (WINDOW == 0 & was_read & rst_ni & read & ~row_first) assert ({row_bank, row} != sum_was);
            // No work stands still but for what is missing.
            if (rst_ni & ~stop_i & wait_weights & ~lanes_wait_weights_i) assert (weight_words_i < 2 | column_q != 0);
            if (rst_ni & ~stop_i & wait_activations & ~lanes_wait_word_i) assert (load | activation_words_i < (window_read ? fresh : rows)
                                                                      | activation_pixels_i != window_read);
        end
        if (begun & WINDOW == 0) begin
            if (rst_ni & ~stop_i & wait_results) assert (done + sent != 0);
            assert (in_use_q == blocks_held & done + sent <= 3 & blocks_held <= done + sent + under_way);
            assert ({1'b0, done} + sent + under_way <= 3);
            assert (under_way == ((valid & (row_q != 0 | (accumulate & tile_q != 0))) | (lanes_q & row_q != 0)));
            assert (bank_q == store_bank ^ done[0] ^ sent[0]);
            if (blocks_held >= 1) assert (rows_0 != 0 & rows_0 <= 4);
            if (blocks_held >= 2) assert (rows_1 != 0 & rows_1 <= 4);
            if (blocks_held == 3) assert (rows_2 != 0 & rows_2 <= 4 & done != 0);
            if (under_way) assert (rows == (blocks_held == 1 ? rows_0 : blocks_held == 2 ? rows_1 : rows_2));
            if (blocks_held == 3) assert ((last_full ? rows_2 : row_q) <= stored_now);
            assert (stored_now <= 4 & (stored_now == 0 | (done != 0 & stored_now <= rows_0)));
            assert (live == (in_0 | in_1 | in_2));
            // No sum is begun over one that is needed, none is added to that was not begun or is being stored.
            if (rst_ni & issued & row_first) assert (~live | store_reads);
            if (rst_ni & issued & ~row_first) assert (live & ~(done != 0 & store_bank == bank));
            if (rst_ni & store_reads) assert (live);
        end
        if (LANES != 0) cover (begun & rst_ni & lanes_plane_end_i & blocks_held == 2 & row == 2 & done != 0);
        cover (begun & rst_ni & (WINDOW == 0 ? blocks_held == 3 & read & row == 1 : claim & fresh == 3));
        cover (begun & rst_ni & (WINDOW == 0 ? rewind : read & row == 1));
    end

endmodule
