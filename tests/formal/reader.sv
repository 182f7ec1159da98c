// SPDX-License-Identifier: Apache-2.0
// gemm64_reader asks for a burst only where its buffer has room for all of it: words in the buffer, words on their way and
// room always add up to the buffer. Memory sends what was asked for, and no more.
//
// short
// break gemm64_reader.v: beats <= {{32-WORDS_WIDTH{1'b0}}, room_q} -> 1'b1
// prove induction 1, cover 12; RELEASED=1 RELEASED=8
// probe room_q = dut.room_q
// probe kept_q = dut.kept_q
module reader_proof #(
    parameter RELEASED = 1
) (
    input wire        clk_i,
    input wire        rst_ni,
    input wire        stop_i,
    input wire        command_valid_i,
    input wire [39:0] command_address_i,
    input wire [47:0] command_run_i,
    input wire [31:0] command_count_i,
    input wire [35:0] command_stride_i,
    input wire [31:0] command_passes_i,
    input wire [31:0] command_blocks_i,
    input wire        command_kept_i,
    input wire        released_i,
    input wire        request_ready_i,
    input wire        beat_i,
    input wire        beat_last_i
);

    localparam WORDS = 37;

    wire       request_valid, beat_kept, pending;
    wire [6:0] beats;
    gemm64_reader #(
        .LOG_N(2), .ADDRESS_WIDTH(40), .LOG_BURSTS(1), .WORDS(WORDS), .WORDS_WIDTH(6), .RELEASED(RELEASED),
        .MAX_BEATS(16)
    ) dut (
        .clk_i (clk_i), .rst_ni (rst_ni), .stop_i (stop_i), .command_valid_i (command_valid_i), .command_ready_o (),
        .command_address_i (command_address_i), .command_run_i (command_run_i), .command_count_i (command_count_i),
        .command_stride_i (command_stride_i), .command_passes_i (command_passes_i), .command_step_i (20'd0),
        .command_blocks_i (command_blocks_i), .command_tag_i (16'd0), .command_kept_i (command_kept_i),
        .released_i (released_i), .request_valid_o (request_valid), .request_ready_i (request_ready_i),
        .request_address_o (), .request_beats_o (beats), .beat_i (beat_i), .beat_last_i (beat_last_i),
        .beat_error_i (1'b0), .beat_kept_o (beat_kept), .beat_first_o (), .beat_end_o (), .pending_o (pending),
        .asking_o (), .idle_o (), .error_o (), .error_tag_o ()
    );

    (* keep *) wire [5:0] room_q;
    (* keep *) wire       kept_q;

    reg         begun = 1'b0;
    reg [15:0]  owed, held;  // words that were asked for and have not come; words in the buffer
    wire        asked = request_valid & request_ready_i & ~kept_q;
    wire        came  = beat_i & ~beat_kept;
    wire [15:0] owed_next = owed + (asked ? beats : 0) - came;
    wire [15:0] held_next = held + came - (released_i ? RELEASED : 0);
    always @(posedge clk_i) begin
        begun <= 1'b1;
        owed  <= rst_ni ? owed_next : 0;
        held  <= rst_ni ? held_next : 0;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (beat_i) assume (pending);
        if (came) assume (owed != 0);
        if (released_i) assume (held >= RELEASED);
        if (begun) begin
            assert (room_q + owed + held == WORDS);
            assert (held <= WORDS & owed <= WORDS & room_q <= WORDS);
            if (request_valid) assert (beats <= 16);
            if (request_valid & ~kept_q) assert (beats + owed + held <= WORDS);
            if (stop_i) assert (~request_valid);
        end
        cover (begun & rst_ni & owed + held == WORDS & held != 0);
        cover (begun & rst_ni & request_valid & request_ready_i & kept_q & owed + held == 16);
    end

endmodule
