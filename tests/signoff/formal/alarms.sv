// SPDX-License-Identifier: Apache-2.0
// No false alarm of the accumulator's checks: gemm64_sequencer starts any MATMULs and DEPTHWISEs, and what it asks for is done by
// gemm64_accumulator with SELF_CHECK = 1, whose sums are right. Whatever the rows, sums and waits, nothing is reported as wrong or
// as unwritten for that many cycles after the reset. The depthwise unit and the store are any that keep to what compute.sv assumes.
// For all time, whatever the entries of its banks, the same follows from compute.sv, accumulator.sv and sum_check.sv.
//
// break gemm64_residue_check.v: lanes_1_q ? lanes_sum_q : added -> lanes_0_q | lanes_1_q ? lanes_sum_q : added
// prove reach 16; N=2 N=4
// probe met_0 = u_accumulator.add_0_q
module alarms_proof #(
    parameter N = 2  // and one stage: N / STAGE_ROWS = 1
) (
    input wire         command_lanes_i,
    input wire         accumulate_i,
    input wire         rows_2_i,      // two rows in a block, else one
    input wire         count_2_i,     // and tiles
    input wire [2*N-1:0] array_sum_i, // two bits of each
    input wire [2*N-1:0] lanes_sum_i,
    input wire         store_waits_i,
    output wire [0:0]  fails_o,   // must stay low
    output wire [1:0]  covers_o   // must rise, each once
);

    localparam DELAY = 2;      // 1 + N / STAGE_ROWS
    localparam LANES = 4;      // cycles from a row of the lanes to its sums

    wire        lanes_load, lanes_active, lanes_place, read;
    wire [5:0]  causes;
    wire [15:0] rows  = {14'd0, rows_2_i, ~rows_2_i};
    wire [31:0] count = {30'd0, count_2_i, ~count_2_i};
    wire        block_done, bank_free;
    wire [1:0]  rows_stored;
    gemm64_sequencer #(
        .N(N), .LOG_N(N == 2 ? 1 : 2), .WEIGHT_WIDTH(4), .WORDS_WIDTH(4), .ROW_WIDTH(1), .PIPELINE(N + 2)
    ) dut (
        .command_i ({256'd0, 128'd0, 32'd1, 32'd1, count, rows, 7'd0, accumulate_i, command_lanes_i ? 8'd10 : 8'd3}),
        .command_tag_i (16'd0), .stop_i (1'b0), .activation_read_o (read), .causes_o (causes),
        .lanes_load_o (lanes_load), .lanes_active_o (lanes_active), .lanes_place_o (lanes_place),
        .bank_free_i (bank_free), .rows_stored_i (rows_stored), .*
    );

    // The depthwise unit: a row, LANES cycles later its sums
    reg [LANES-1:0] lanes_valid = 0, lanes_last, lanes_bank, lanes_row_of;
    reg             begun = 1'b0, lanes_q = 1'b0;
    reg [15:0]      lanes_rows;   // of the current block
    always @(posedge clk_i) begin
        begun        <= 1'b1;
        lanes_q      <= rst_ni & (lanes_load | (lanes_q & ~lanes_finished_i));
        lanes_rows   <= ~rst_ni | (lanes_row_i & row_last) ? 16'd0 : lanes_rows + lanes_row_i;
        lanes_valid  <= {lanes_valid, lanes_row_i} & {LANES{rst_ni}};
        lanes_last   <= {lanes_last, row_last};
        lanes_bank   <= {lanes_bank, row_bank};
        lanes_row_of <= {lanes_row_of, row};
    end

    // The store: whole blocks in their order, row after row
    reg [1:0]  done, stored_q;
    reg        bank_q, valid_q, row_store_q;
    reg [1:0]  sizes [0:3];  // rows of blocks, in their order
    reg [1:0]  size_in, size_out;
    wire       reads   = done != 0 & ~store_waits_i & stored_q != sizes[size_out];
    assign     bank_free   = done != 0 & valid_q & stored_q == sizes[size_out] & ~store_waits_i;
    assign     rows_stored = stored_q;
    always @(posedge clk_i) begin
        if (reads) stored_q <= stored_q + 1;
        if (reads) valid_q <= 1'b1;
        if (bank_free) {stored_q, bank_q, valid_q, size_out} <= {2'd0, ~bank_q, 1'b0, size_out + 2'd1};
        done <= done + block_done - bank_free;
        if ((read | lanes_row_i) & row_last) begin
            sizes[size_in] <= row + 1;
            size_in        <= size_in + 1;
        end
        if (!rst_ni) {done, stored_q, bank_q, valid_q, size_in, size_out} <= 0;
    end

    wire            wrong, unwritten, wrong_bank, wrong_row;
    wire [32*N-1:0] store_data, sums, lanes_sums;
    genvar c;
    generate
        for (c = 0; c < N; c = c + 1) begin : small
            assign sums[32*c +: 32]       = {30'd0, array_sum_i[2*c +: 2]};
            assign lanes_sums[32*c +: 32] = {30'd0, lanes_sum_i[2*c +: 2]};
        end
    endgenerate
    gemm64_accumulator #(.N(N), .ROWS(2), .ROW_WIDTH(1), .REQUEST_DELAY(DELAY), .SELF_CHECK(1)) u_accumulator (
        .clk_i (clk_i), .rst_ni (rst_ni), .valid_i (read), .first_i (row_first), .last_i (row_last), .bank_i (row_bank),
        .row_i (row), .sum_i (sums), .lanes_valid_i (lanes_valid[LANES-1]), .lanes_last_i (lanes_valid[LANES-1] & lanes_last[LANES-1]),
        .lanes_bank_i (lanes_bank[LANES-1]), .lanes_row_i (lanes_row_of[LANES-1]), .lanes_sum_i (lanes_sums), .done_o (block_done),
        .storing_i (1'b1), .store_read_i (reads), .store_bank_i (bank_q), .store_row_i (stored_q[0]), .store_data_o (store_data),
        .store_shown_i (valid_q), .wrong_o (wrong), .unwritten_o (unwritten), .wrong_bank_o (wrong_bank), .wrong_row_o (wrong_row)
    );

    (* keep *) wire [N-1:0] met_0;
    reg  met = 1'b0;   // sums of both came in one cycle
    reg  fair_q = 1'b1;
    wire fair = fair_q & rst_ni == begun
              // Words of both kinds are always there: what waits for them only comes later.
              & weight_words_i >= N & activation_words_i >= 2 & ~activation_pixels_i
              // As compute.sv
              & (~(lanes_move_i | lanes_wait_weights_i | lanes_wait_word_i) | lanes_active)
              & {1'b0, lanes_move_i} + lanes_wait_weights_i + lanes_wait_word_i <= 2'd1
              & (~lanes_active | lanes_move_i | lanes_wait_weights_i | lanes_wait_word_i | ~lanes_place)
              & (~lanes_row_i | (lanes_move_i & lanes_place)) & (~lanes_plane_end_i | lanes_row_i)
              & (~lanes_finished_i | (lanes_move_i & (lanes_row_i ? lanes_plane_end_i : lanes_rows == 0)));
    always @(posedge clk_i) begin
        fair_q <= fair;
        met    <= rst_ni & (met | (lanes_valid[LANES-1] & met_0[0]));
    end
    assign fails_o  = fair & begun & (wrong | unwritten);
    assign covers_o = {fair & begun & bank_free & bank_q, fair & begun & met & valid_q & bank_q};

endmodule
