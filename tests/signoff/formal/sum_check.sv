// SPDX-License-Identifier: Apache-2.0
// gemm64_residue_check reports that a sum is wrong exactly where a single bit of it was flipped since it began: in memory, in what was
// read to add to it, or in what is stored. So right sums are never reported as wrong, whatever was added to them and in which
// cycles, and in one cycle from the array to one bank and from the lanes to the other. Two facts of remainders are taken from remainders.sv: how those of a sum and its parts belong together, and that
// a flip changes a number's.
//
// break gemm64_residue_check.v: write_address_i (lanes_0_q ? lanes_row_q : row_q) -> write_address_i (lanes_1_q ? lanes_row_q : row_q)
// break gemm64_residue_check.v: fold(fold(add_1_q ? rest_1 : rest_0, sum_q), {carry_q, 1'b0}) -> fold(add_1_q ? rest_1 : rest_0, sum_q)
// prove induction 2, cover 8
// probe entries_00 = dut.u_rests_0.memory_q[0]
// probe entries_01 = dut.u_rests_0.memory_q[1]
// probe entries_10 = dut.u_rests_1.memory_q[0]
// probe entries_11 = dut.u_rests_1.memory_q[1]
// probe rest_0 = dut.rest_0
// probe rest_1 = dut.rest_1
// probe add_0_q = dut.add_0_q
// probe add_1_q = dut.add_1_q
// probe read_0_q = dut.read_0_q
// probe read_1_q = dut.read_1_q
// probe row_0_q = dut.row_0_q
// probe row_1_q = dut.row_1_q
// probe row_q = dut.row_q
// probe first_q = dut.first_q
// probe carry_q = dut.carry_q
// probe lanes_0_q = dut.lanes_0_q
// probe lanes_1_q = dut.lanes_1_q
// probe lanes_row_q = dut.lanes_row_q
// probe lanes_sum_q = dut.lanes_sum_q
// probe sum_q = dut.sum_q
// probe shown_q = dut.shown_q
// probe shown_bank_q = dut.shown_bank_q
module sum_check_proof (
    input wire [31:0] memory_flip_i,  // of the word, before this cycle's read
    input wire [31:0] read_flip_i,    // of what was read
    input wire [31:0] shown_flip_i
);

    gemm64_residue_check #(.ROWS(2), .ROW_WIDTH(1)) dut (.*);

    (* keep *) wire [1:0] entries_00, entries_01, entries_10, entries_11, rest_0, rest_1, sum_q, lanes_sum_q, shown_q;
    (* keep *) wire       add_0_q, add_1_q, read_0_q, read_1_q, row_0_q, row_1_q, row_q, first_q, carry_q, shown_bank_q;
    (* keep *) wire       lanes_0_q, lanes_1_q, lanes_row_q;

    function [1:0] fold;
        input [1:0] one, other;
        reg   [2:0] both;
        begin
            both = {1'b0, one} + {1'b0, other};
            fold = both[1:0] + {1'b0, both[2]};
        end
    endfunction
    function [1:0] by_3;
        input [31:0] number;
        reg   [31:0] digits;
        integer      half, i;
        begin
            digits = number;
            for (half = 16; half > 1; half = half / 2)
                for (i = 0; i < half; i = i + 2) digits[i +: 2] = fold(digits[i +: 2], digits[i + half +: 2]);
            by_3 = digits[1:0] & {2{digits[1:0] != 2'd3}};
        end
    endfunction
    function [1:0] left;
        input [3:0] number;
        left = number % 3;
    endfunction
    function single;
        input [31:0] bits;
        single = bits != 0 & (bits & (bits - 1)) == 0;
    endfunction

    (* anyconst *) reg bank, place;
    wire [1:0] entry = bank ? (place ? entries_11 : entries_10) : (place ? entries_01 : entries_00);
    wire [1:0] rest  = bank ? rest_1 : rest_0;

    // The word as the column has it: what it holds, whether it was written, and whether a bit of it was flipped since. The same
    // of what was read of the bank last.
    reg [31:0] held, seen;
    reg        known = 1'b0, hurt = 1'b0, seen_known = 1'b0, seen_hurt = 1'b0;
    wire       reads  = (bank ? read_1_i : read_0_i) & (bank ? row_1_i : row_0_i) == place;
    wire       others = (bank ? read_1_i : read_0_i) & ~reads;
    wire       adds   = (bank ? add_1_i : add_0_i) & row_i == place;
    wire       given  = (bank ? lanes_1_i : lanes_0_i) & lanes_row_i == place;
    reg        last_reads = 1'b0, last_writes = 1'b0;

    wire [31:0] now   = held ^ memory_flip_i;
    wire        harm  = hurt | memory_flip_i != 0;
    wire [32:0] total = {1'b0, old_i} + {1'b0, sum_i};

    reg both_1 = 1'b0;  // one came from each, in a cycle before
    always @(posedge clk_i) both_1 <= both_1 | ((add_0_i | add_1_i) & given);

    // What the check has seen: all of it a cycle ago
    reg [1:0] held_1, seen_1;
    reg       known_1 = 1'b0, hurt_1 = 1'b0, seen_known_1 = 1'b0, seen_hurt_1 = 1'b0, shown_1 = 1'b0, shown_hurt_1;

    always @(posedge clk_i) begin
        last_reads  <= reads;
        last_writes <= adds | given;
        held        <= given ? lanes_sum_i : adds ? (first_i ? sum_i : total[31:0]) : now;
        known       <= known | given | (adds & first_i);
        hurt        <= (given | (adds & first_i)) ? 1'b0 : adds ? seen_hurt | read_flip_i != 0 : harm;
        if (reads) {seen, seen_known, seen_hurt} <= {now, known, harm};
        if (others) seen_known <= 1'b0;

        {held_1, known_1, hurt_1} <= {by_3(held), known, hurt};
        {seen_1, seen_known_1, seen_hurt_1} <= {by_3(seen), seen_known, seen_hurt};
        shown_1      <= shown_i & shown_bank_i == bank & seen_known;
        shown_hurt_1 <= seen_hurt | shown_flip_i != 0;
    end

    always @* begin
        // accumulator.sv
        assume (~(add_0_i & add_1_i) & ~(lanes_0_i & lanes_1_i) & ~(add_0_i & lanes_0_i) & ~(add_1_i & lanes_1_i));
        // One flip at most, of a word that is written
        assume (memory_flip_i == 0 | (known & ~hurt & single(memory_flip_i)));
        assume (read_flip_i == 0 | (seen_known & ~seen_hurt & single(read_flip_i)));
        assume (shown_flip_i == 0 | (seen_known & ~seen_hurt & single(shown_flip_i)));
        // An old sum is read the cycle before it is added to, and a row is added to again after 2 cycles.
        if (adds & ~first_i) begin
            assume (last_reads & ~last_writes & seen_known);
            assume (old_i == (seen ^ read_flip_i));
        end
        if (reads) assume (~(adds | given));
        if (shown_i & shown_bank_i == bank & seen_known) assume (shown_sum_i == (seen ^ shown_flip_i));

        // remainders.sv
        if (adds & ~first_i) assume (left(by_3(total[31:0]) + total[32]) == left(by_3(old_i) + by_3(sum_i)));
        if (memory_flip_i != 0) assume (by_3(now) != by_3(held));
        if (read_flip_i != 0) assume (by_3(seen ^ read_flip_i) != by_3(seen));
        if (shown_flip_i != 0) assume (by_3(seen ^ shown_flip_i) != by_3(seen));

        if (known_1) assert (hurt_1 == (entry != held_1) & entry != 3);
        if (seen_known_1) assert (seen_hurt_1 == (rest != seen_1) & rest != 3);
        if (shown_1) assert (wrong == shown_hurt_1);
        cover (shown_1 & ~shown_hurt_1);
        cover (shown_1 & ~shown_hurt_1 & both_1);
        cover (shown_1 & wrong & shown_hurt_1);
    end

endmodule
