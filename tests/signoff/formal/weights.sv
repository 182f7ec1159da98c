// SPDX-License-Identifier: Apache-2.0
// gemm64_weights never asks for more than its buffer has room for, its words are read in the order in which they came, those
// that are retained again after a rewind, none is read before it came or replaced before it was released, and its causes are one-hot. AR keeps AXI's rules. Where it asks for
// nothing although it has a load, and memory owes nothing, more than half of the buffer holds words: a tile at least.
//
// break gemm64_weights.v: rewind_i ? level_q : ahead_q -> rewind_i ? ahead_q : ahead_q
// break gemm64_weights.v: rewind_i ? oldest_q : read_q + 1'b1 -> read_q + 1'b1
// break gemm64_weights.v: read_i & release_i -> read_i
//
// break gemm64_weights.v: level_q + {{LOG_WORDS{1'b0}}, rvalid_i} - -> level_q + {{LOG_WORDS{1'b0}}, 1'b1} -
// break gemm64_weights.v: ~rvalid_i & ~pending & (asking | next_valid) -> ~rvalid_i & (asking | next_valid)
// break gemm64_weights.v: MAX_BEATS  = WORDS < 128 ? WORDS / 2 : 64 -> MAX_BEATS  = WORDS
// prove induction 1, cover 14
// probe room_q = dut.u_reader.room_q
// probe level_q = dut.level_q
// probe write_q = dut.write_q
// probe read_q = dut.read_q
// probe oldest_q = dut.oldest_q
// probe next_valid = dut.next_valid
// probe walking = dut.u_reader.burst_valid
// probe kept_q = dut.u_reader.kept_q
// probe beats = dut.u_reader.request_beats_o
// probe asks = dut.request_valid
module weights_proof (
    input wire [39:0] command_address_i,
    input wire [31:0] command_count_i,
    input wire [31:0] command_passes_i
);

    localparam LOG_WORDS = 3;
    localparam WORDS     = 1 << LOG_WORDS;

    wire               transfer, wait_memory, wait_buffer, idle_clock;
    gemm64_weights #(.N(2), .LOG_N(1), .LOG_WORDS(LOG_WORDS), .LOG_BURSTS(1)) dut (
        .command_i ({320'd0, 24'd0, command_address_i, 32'd0, command_passes_i, command_count_i, 32'd0}),
        .command_tag_i (16'd0), .rdata_i (16'd0), .rresp_i (2'b00),
        .causes_o ({idle_clock, wait_buffer, wait_memory, transfer}), .*
    );

    (* keep *) wire [LOG_WORDS:0]   room_q, level_q;
    (* keep *) wire [LOG_WORDS-1:0] write_q, read_q, oldest_q;
    (* keep *) wire                 next_valid, walking, kept_q, asks;
    (* keep *) wire [6:0]           beats;

    reg         begun = 1'b0, held;
    reg [49:0]  offered;
    reg [15:0]  due;          // words that memory has accepted to send
    reg [15:0]  in, out, at;  // words so far: come, released, and before the next one to be read
    wire [15:0] asked = arvalid ? arlen + 1 : 0;

    // The place that is followed: whether it holds a word that is kept, and which
    (* anyconst *) reg [LOG_WORDS-1:0] place;
    reg                  full;
    reg [15:0]           number;
    wire [LOG_WORDS-1:0] ahead = place - oldest_q;
    wire [15:0]          again = at - out;  // words that were read and stay

    always @(posedge clk_i) begin
        begun   <= 1'b1;
        held    <= rst_ni & arvalid & ~arready_i;
        offered <= {araddr, arlen, arburst};
        due     <= rst_ni ? due + (arready_i ? asked : 0) - rvalid_i : 0;
        in      <= rst_ni ? in + rvalid_i : 0;
        out     <= rst_ni ? out + (read_i & release_i) : 0;
        at      <= ~rst_ni ? 0 : rewind_i ? out : at + read_i;
        if (!rst_ni) full <= 1'b0;
        else if (rvalid_i & write_q == place) full <= 1'b1;
        else if (read_i & release_i & read_q == place) full <= 1'b0;
        if (rvalid_i & write_q == place) number <= in;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (rvalid_i) assume (due != 0 & ~idle);  // idle: the last burst has not ended while its words are due
        if (read_i) assume (words != 0);
        // compute.sv: what is released was not read before, a rewind comes with a word that stays.
        if (read_i & release_i) assume (again == 0);
        if (rewind_i) assume (read_i & ~release_i);
        if (walking) assume (beats != 0);  // bursts.sv
        if (begun) begin
            assert (room_q + level_q + due + asked == WORDS);
            assert (level_q <= WORDS & due <= WORDS & room_q <= WORDS);
            assert (level_q == in - out & write_q == in[LOG_WORDS-1:0] & oldest_q == out[LOG_WORDS-1:0]);
            assert (words == in - at & read_q == at[LOG_WORDS-1:0] & again <= level_q);
            if (walking) assert (~kept_q);
            assert (full == (ahead < level_q));
            if (full) assert (number == out + ahead);
            // Never read before it came, never replaced before it was read, and in order
            if (rst_ni & read_i & read_q == place) assert (full & number == at);
            if (rst_ni & rvalid_i & write_q == place) assert (~full);
            // AXI
            assert (rready & arsize == 3'd1 & arburst == 2'b01);
            if (arvalid) assert (arlen < WORDS / 2);
            if (held) assert (arvalid & {araddr, arlen, arburst} == offered);
            // Causes
            assert (transfer + wait_memory + wait_buffer + idle_clock == 3'd1);
            if (idle) assert (idle_clock);
            // No work stands still but for the array.
            if (rst_ni & ~stop_i & walking & ~asks & quiet & due == 0) assert (level_q > WORDS / 2);
        end
        cover (begun & rst_ni & level_q == WORDS & read_i & next_valid);
        cover (begun & rst_ni & wait_buffer);
        cover (begun & rst_ni & rewind_i & again == WORDS - 1);
    end

endmodule
