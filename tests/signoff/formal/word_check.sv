// SPDX-License-Identifier: Apache-2.0
// gemm64_parity_check reports that a word is wrong exactly where the exclusive or of its bytes is not what it was when the word was
// written: never where it is the same, and always after a single flip, or any flips of one byte, wherever and whenever they happened.
//
// short
// break gemm64_parity_check.v: (missing | together(data_i) != kept)) begin -> (missing | together(data_i) < kept)) begin
// prove induction 2, cover 6; HELD=0
// prove induction 2, cover 6; HELD=1
// probe entries_0 = dut.on.u_kept.memory_q[0]
// probe entries_1 = dut.on.u_kept.memory_q[1]
// probe kept = dut.on.kept
// probe used = dut.on.used_q
module word_check_proof #(
    parameter HELD = 0
) ();

    gemm64_parity_check #(.BYTES(2), .DEPTH(2), .ADDRESS_WIDTH(1), .HELD(HELD)) dut (.*);

    (* keep *) wire [7:0] entries_0, entries_1, kept;
    (* keep *) wire       used;

    // The words as they were written, and the one that was read last: data_i is it but for what happened to it.
    reg [15:0] words [0:1];
    reg [1:0]  written = 2'b00;
    reg [15:0] was;
    reg        known = 1'b0, shown = 1'b0, was_known = 1'b0, was_shown = 1'b0, was_wrong = 1'b0, begun = 1'b0;
    reg [15:0] upset_q;
    wire [15:0] upset = data_i ^ was;  // flipped bits
    wire [7:0]  both  = upset[15:8] ^ upset[7:0];
    wire [7:0]  both_q = upset_q[15:8] ^ upset_q[7:0];
    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (write_i) begin
            words[write_address_i]   <= write_data_i;
            written[write_address_i] <= 1'b1;
        end
        if (read_i) begin
            known <= written[read_address_i];
            was   <= words[read_address_i];
        end
        shown     <= rst_ni & (read_i | (shown & HELD != 0));
        was_shown <= rst_ni & shown;
        was_known <= known;
        was_wrong <= rst_ni & wrong;
        upset_q   <= upset;
    end

    always @* begin
        if (~begun) assume (~rst_ni);
        // Only words that were written are read.
        if (read_i) assume (written[read_address_i]);

        if (written[0]) assert (entries_0 == (words[0][15:8] ^ words[0][7:0]));
        if (written[1]) assert (entries_1 == (words[1][15:8] ^ words[1][7:0]));
        if (known) assert (kept == (was[15:8] ^ was[7:0]));
        if (begun) assert (used == shown);
        if (begun) assert (~unwritten);
        if (shown) assert (known);
        if (was_shown) assert (wrong == (was_wrong | both_q != 0));
        if (was_shown & (upset_q & (upset_q - 1)) == 0 & upset_q != 0) assert (wrong);
        if (was_shown & upset_q == 0 & ~was_wrong) assert (~wrong);
        cover (was_shown & wrong & ~was_wrong);
        cover (was_shown & ~wrong & upset_q != 0);
    end

endmodule
