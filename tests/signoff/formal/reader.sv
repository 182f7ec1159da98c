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
) ();

    localparam WORDS = 37;

    wire [6:0] beats;
    gemm64_reader #(
        .LOG_N(2), .ADDRESS_WIDTH(40), .LOG_BURSTS(1), .WORDS(WORDS), .WORDS_WIDTH(6), .RELEASED(RELEASED),
        .MAX_BEATS(16)
    ) dut (
        .command_step_i (20'd0), .command_tag_i (16'd0), .request_beats_o (beats), .beat_error_i (1'b0), .*
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
