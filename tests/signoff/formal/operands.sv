// SPDX-License-Identifier: Apache-2.0
// gemm64_elementwise_operand never asks for more than its ring has room for; no word is read before it came or replaced before it was
// read; what it says is there is what came and is unclaimed; its causes are one-hot. Where it asks for nothing although it
// has a load, and memory owes nothing, words are there.
//
// short
// break gemm64_elementwise_operand.v: MAX_BEATS   = WORDS < 128 ? WORDS / 2 : 64 -> MAX_BEATS   = 2 * WORDS
// break gemm64_elementwise_operand.v: .released_i        (read_i) -> .released_i        (beat_i)
// break gemm64_elementwise_operand.v: read_q + {{LOG_WORDS-1{1'b0}}, read_i} -> read_q + {{LOG_WORDS-1{1'b0}}, beat_i}
// prove induction 1, cover 24
// probe room_q = dut.u_reader.room_q
// probe kept_walk = dut.u_reader.kept_q
// probe walking = dut.u_reader.burst_valid
// probe write_q = dut.write_q
// probe read_q = dut.read_q
// probe level_q = dut.level_q
// probe unclaimed_q = dut.unclaimed_q
module operands_proof (
    input wire [39:0] command_address_i,
    input wire [15:0] command_rows_i,
    input wire [31:0] command_count_i,
    input wire [31:0] command_passes_i,
    input wire [31:0] command_blocks_i,
    input wire [31:0] command_stride_i
);

    localparam WORDS = 8;

    reg [`GEMM64_CMD_BITS-1:0] command;
    always @* begin
        command = 0;
        command[`GEMM64_CMD_ADDRESS_LOW_LSB +: 40] = command_address_i;
        command[`GEMM64_CMD_ROWS_LSB +: 16]        = command_rows_i;
        command[`GEMM64_CMD_COUNT_LSB +: 32]       = command_count_i;
        command[`GEMM64_CMD_PASSES_LSB +: 32]      = command_passes_i;
        command[`GEMM64_CMD_BLOCKS_LSB +: 32]      = command_blocks_i;
        command[`GEMM64_CMD_STRIDE_LSB +: 32]      = command_stride_i;
    end

    wire       transfer, wait_memory, wait_buffer, idle_clock;
    wire [6:0] beats;
    wire [3:0] words;
    gemm64_elementwise_operand #(.N(2), .LOG_N(1), .LOG_WORDS(3), .LOG_BURSTS(1)) dut (
        .command_i (command), .command_tag_i (16'd0), .request_beats_o (beats), .beat_data_i (16'd0),
        .beat_error_i (1'b0), .words_o (words), .causes_o ({idle_clock, wait_buffer, wait_memory, transfer}), .*
    );

    (* keep *) wire [3:0] room_q;
    (* keep *) wire       kept_walk, walking;
    (* keep *) wire [2:0] write_q, read_q;
    (* keep *) wire [3:0] level_q, unclaimed_q;

    reg        begun = 1'b0;
    reg [15:0] owed;  // words that were asked for and have not come

    // The place that is followed: whether it holds a word to be read
    (* anyconst *) reg [2:0] place;
    reg         full;
    wire [2:0]  ahead = place - read_q;
    wire [3:0]  claims = claim_i ? claimed_i : 4'd0;

    always @(posedge clk_i) begin
        begun <= 1'b1;
        owed  <= rst_ni ? owed + (request_valid & request_ready_i ? beats : 0) - beat_i : 0;
        if (!rst_ni) full <= 1'b0;
        else if (beat_i & write_q == place) full <= 1'b1;
        else if (read_i & read_q == place) full <= 1'b0;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (beat_i) assume (owed != 0 & ~idle);
        assume (claims <= words);
        if (read_i) assume (level_q > unclaimed_q);
        if (walking) assume (beats != 0);  // bursts.sv
        if (begun) begin
            if (walking) assert (~kept_walk);
            assert (room_q + level_q + owed == WORDS);
            assert (level_q <= WORDS & unclaimed_q <= level_q & owed <= WORDS & room_q <= WORDS);
            assert (words == unclaimed_q);
            assert (write_q == read_q + level_q[2:0]);
            assert (full == ({1'b0, ahead} < level_q));
            // Never read before it came, never replaced before it was read
            if (rst_ni & read_i & read_q == place) assert (full);
            if (rst_ni & beat_i & write_q == place) assert (~full);
            if (request_valid) assert (beats <= 4);
            assert (transfer + wait_memory + wait_buffer + idle_clock == 3'd1);
            if (idle) assert (idle_clock);
            // No work stands still but for the results.
            if (rst_ni & ~stop_i & walking & ~request_valid & quiet & owed == 0) assert (level_q != 0);
        end
        cover (begun & rst_ni & level_q == 8 & read_i & claim_i);
        cover (begun & rst_ni & wait_buffer);
    end

endmodule
