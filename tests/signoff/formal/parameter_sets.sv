// SPDX-License-Identifier: Apache-2.0
// gemm64_requant_params never asks for more than its ring has room for; no set is read before it came or replaced before it
// was read; its causes are one-hot. Where it asks for nothing although it has a load, and memory owes nothing, a set is there.
//
// break gemm64_requant_params.v: .RELEASED(SET_WORDS) -> .RELEASED(SET_WORDS + 1)
// break gemm64_requant_params.v: MAX_BEATS   = WORDS < 128 ? WORDS / 2 : 64 -> MAX_BEATS   = WORDS
// prove induction 1, cover 24
// probe room_q = dut.u_reader.room_q
// probe kept_walk = dut.u_reader.kept_q
// probe walking = dut.u_reader.burst_valid
// probe word_q = dut.word_q
// probe write_q = dut.write_q
// probe scale_q = dut.scale_q
// probe kept_q = dut.kept_q
// probe unclaimed_q = dut.unclaimed_q
module parameter_sets_proof (
    input wire [39:0] command_address_i,
    input wire [31:0] command_count_i,
    input wire [31:0] command_passes_i
);

    localparam WORDS = 16;  // two sets

    wire       transfer, wait_memory, wait_buffer, idle_clock;
    wire [6:0] beats;
    gemm64_requant_params #(.N(2), .LOG_N(1), .LOG_SETS(1), .LOG_BURSTS(1)) dut (
        .command_i ({320'd0, 24'd0, command_address_i, 32'd0, command_passes_i, command_count_i, 32'd0}),
        .command_tag_i (16'd0), .request_beats_o (beats), .beat_data_i (16'd0), .beat_error_i (1'b0),
        .bias_read_i (1'b0), .bias_next_i (1'b0), .causes_o ({idle_clock, wait_buffer, wait_memory, transfer}), .*
    );

    (* keep *) wire [4:0] room_q;
    (* keep *) wire       kept_walk, walking;
    (* keep *) wire [2:0] word_q;
    (* keep *) wire       write_q, scale_q;
    (* keep *) wire [1:0] kept_q, unclaimed_q;

    reg        begun = 1'b0;
    reg [15:0] owed;  // words that were asked for and have not come

    // The set's place that is followed: whether it holds a set to be read
    (* anyconst *) reg place;
    reg        full;
    wire       ahead = place - scale_q;
    wire       whole = beat_i & word_q == 3'd7;

    always @(posedge clk_i) begin
        begun <= 1'b1;
        owed  <= rst_ni ? owed + (request_valid & request_ready_i ? beats : 0) - beat_i : 0;
        if (!rst_ni) full <= 1'b0;
        else if (whole & write_q == place) full <= 1'b1;
        else if (scale_read_i & scale_q == place) full <= 1'b0;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (beat_i) assume (owed != 0 & ~idle);
        if (claim_i) assume (ready);
        if (scale_read_i) assume (kept_q > unclaimed_q);
        if (walking) assume (beats != 0);  // bursts.sv
        if (begun) begin
            if (walking) assert (~kept_walk);
            assert (room_q + 8 * kept_q + word_q + owed == WORDS);
            assert (kept_q <= 2 & unclaimed_q <= kept_q & owed <= WORDS & room_q <= WORDS);
            assert (write_q == scale_q + kept_q[0]);
            assert (full == ({1'b0, ahead} < kept_q));
            // Never read before it came, never replaced before it was read
            if (rst_ni & scale_read_i & scale_q == place) assert (full);
            if (rst_ni & beat_i & write_q == place) assert (~full);
            if (request_valid) assert (beats <= 8);
            assert (transfer + wait_memory + wait_buffer + idle_clock == 3'd1);
            if (idle) assert (idle_clock);
            // No work stands still but for the results.
            if (rst_ni & ~stop_i & walking & ~request_valid & quiet & owed == 0) assert (kept_q != 0);
        end
        cover (begun & rst_ni & kept_q == 2 & scale_read_i);
        cover (begun & rst_ni & wait_buffer);
    end

endmodule
