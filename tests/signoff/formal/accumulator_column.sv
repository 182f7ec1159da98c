// SPDX-License-Identifier: Apache-2.0
// A word of gemm64_accumulator_column is the sum of all that was added to it since the last new sum, of the array or of the
// lanes, in either bank, and is what a store reads. Reads come a cycle before the addition that needs them, as gemm64_accumulator sends them.
//
// short
// break gemm64_accumulator_column.v: if (busy_1_i) begin -> if (busy_0_i) begin
// prove induction 1, cover 10
// probe entries_00 = dut.sums_0_q[0]
// probe entries_01 = dut.sums_0_q[1]
// probe entries_10 = dut.sums_1_q[0]
// probe entries_11 = dut.sums_1_q[1]
// probe read_0_q = dut.read_0_q
// probe read_1_q = dut.read_1_q
module accumulator_column_proof ();

    wire [31:0] data;
    gemm64_accumulator_column #(.ROWS(2), .ROW_WIDTH(1)) dut (
        .store_data_o (data), .*
    );

    (* keep *) wire [31:0] entries_00, entries_01, entries_10, entries_11, read_0_q, read_1_q;

    (* anyconst *) reg bank, place;
    wire [31:0] entry = bank ? (place ? entries_11 : entries_10) : (place ? entries_01 : entries_00);
    reg         begun = 1'b0, known = 1'b0, read_q = 1'b0;
    reg [31:0]  total, last;
    wire        adds  = (bank ? add_1_i : add_0_i) & row_i == place;
    wire        given = (bank ? lanes_1_i : lanes_0_i) & lanes_row_i == place;
    wire        reads = (bank ? read_1_i : read_0_i) & (bank ? row_1_i : row_0_i) == place;
    reg         last_reads = 1'b0, last_adds = 1'b0;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        if (adds) begin
            known <= first_i | known;
            total <= (first_i ? 0 : total) + sum_i;
        end
        if (given) begin
            known <= 1'b1;
            total <= lanes_sum_i;
        end
        last_reads <= reads;
        last_adds  <= adds | given;
        if (bank ? read_1_i : read_0_i) begin
            read_q <= reads & known;
            last   <= total;
        end
    end

    always @* begin
        assume (~(add_0_i & add_1_i));
        // A bank rests only where nothing is read or added in any column.
        if (read_0_i | add_0_i | lanes_0_i) assume (busy_0_i);
        if (read_1_i | add_1_i | lanes_1_i) assume (busy_1_i);
        assume (~(add_0_i & lanes_0_i) & ~(add_1_i & lanes_1_i));
        // An old sum is read in the cycle before it is added to, and after the addition before.
        if (adds & ~first_i) assume (begun & last_reads & ~last_adds);
        if (known) assert (entry == total);
        if (last_reads & ~last_adds & known) assert ((bank ? read_1_q : read_0_q) == total);
        if (read_q) assert ((bank ? read_1_q : read_0_q) == last);
        if (read_q & store_bank_i == bank) assert (data == last);
        cover (known & adds & ~first_i & total == 5 & sum_i == 3);
        cover (known & given & total == 5 & lanes_sum_i == 3);
        cover (read_q & last == 8 & store_bank_i == bank);
    end

endmodule
