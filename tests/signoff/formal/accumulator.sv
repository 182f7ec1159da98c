// SPDX-License-Identifier: Apache-2.0
// gemm64_accumulator: what is requested with a row of activations is done with column c's sum of it REQUEST_DELAY + 1 + c cycles
// later: it is added in that bank and row, to what was read from there a cycle earlier or, in a new sum, to nothing. A bank's
// clock rests in two columns only while neither reads or adds. Rows of the lanes that come as compute.sv shows never meet a sum
// of the array in the same bank. So each column gets what accumulator_column.sv and sum_check.sv assume.
//
// break gemm64_accumulator.v: busy_0[c] = (add_0_q[FIRST +: TOGETHER] | -> busy_0[c] = (
// break gemm64_accumulator.v: busy_1[c] = (add_1_q[FIRST +: TOGETHER] | add_1[FIRST +: TOGETHER]) -> busy_1[c] = (add_1_q[FIRST +: TOGETHER] | add_1[0 +: TOGETHER])
// break gemm64_accumulator.v: for (i = 1; i < N; i = i + 1) row_q[i] <= row_q[i-1] -> for (i = 1; i < N; i = i + 1) row_q[i] <= row_q[0]
// break gemm64_accumulator.v: lanes_0 = lanes_valid_i & ~lanes_bank_i -> lanes_0 = lanes_valid_i & lanes_bank_i
// prove induction 9, cover 12; N=4,DELAY=3 N=4,DELAY=2 N=2,DELAY=2
// probe read_0 = dut.read_0
// probe read_1 = dut.read_1
// probe add_0 = dut.add_0_q
// probe add_1 = dut.add_1_q
// probe first = dut.first_q
// probe busy_0 = dut.busy_0
// probe busy_1 = dut.busy_1
// probe row_3 = dut.column[3].u_column.row_i where N=4
// probe row_3 = dut.column[1].u_column.row_i where N=2
// probe read_row_0 = dut.column[3].u_column.row_0_i where N=4
// probe read_row_0 = dut.column[1].u_column.row_0_i where N=2
// probe read_row_1 = dut.column[3].u_column.row_1_i where N=4
// probe read_row_1 = dut.column[1].u_column.row_1_i where N=2
// probe old_0 = dut.old_0
// probe old_1 = dut.old_1
// probe lanes_0 = dut.lanes_0
// probe lanes_1 = dut.lanes_1
module accumulator_proof #(
    parameter N     = 4,
    parameter DELAY = 3  // to the head of the columns: 1 + N / STAGE_ROWS
) ();

    localparam LAST  = DELAY + N - 1;
    localparam LANES = 4;  // cycles from a row of the lanes in gemm64_sequencer to lanes_valid_i

    gemm64_accumulator #(.N(N), .ROWS(2), .ROW_WIDTH(1), .REQUEST_DELAY(DELAY)) dut (
        .rst_ni (1'b1), .*
    );

    (* keep *) wire [N-1:0] read_0, read_1, add_0, add_1, first, old_0, old_1;
    (* keep *) wire [(N+1)/2-1:0] busy_0, busy_1;  // of two columns each
    (* keep *) wire         lanes_0, lanes_1;
    (* keep *) wire         row_3, read_row_0, read_row_1;

    // Requests of the last cycles: bit t is of t + 1 cycles ago
    reg [LAST:0] valids = 0, firsts, lasts, banks, rows;
    reg [3:0]    age = 0;
    reg [N-1:0]  was_read_0, was_read_1;
    reg          was_row_0, was_row_1;
    always @(posedge clk_i) begin
        valids <= {valids, valid_i};
        firsts <= {firsts, first_i};
        lasts  <= {lasts, last_i};
        banks  <= {banks, bank_i};
        rows   <= {rows, row_i};
        if (age != 15) age <= age + 1;
        {was_read_0, was_read_1} <= {read_0, read_1};
        {was_row_0, was_row_1}   <= {read_row_0, read_row_1};
    end

    integer c;
    always @* begin
        // compute.sv: a bank that is stored is added to by none
        if (store_read_i) assume ((store_bank_i ? old_1 : old_0) == 0);
        if (store_read_i) assume (storing_i);  // results.sv
        // compute.sv, LANES cycles later: the array was empty, and of rows after this one only the next cycle's may be this far.
        if (lanes_valid_i) begin
            for (c = LANES; c <= LAST; c = c + 1) assume (~valids[c]);
            assume (~valids[LANES-1]);
            assume (~valids[LANES-2] | banks[LANES-2] != lanes_bank_i);
        end
        if (age > LAST + 1) begin  // what power-up left in the registers has gone
            for (c = 0; c < N; c = c + 1) begin
                assert (add_0[c] == (valids[DELAY + c] & ~banks[DELAY + c]));
                assert (add_1[c] == (valids[DELAY + c] & banks[DELAY + c]));
                if (valids[DELAY + c]) assert (first[c] == firsts[DELAY + c]);
                // No cycle brings a sum of the array and one of the lanes to one bank.
                assert (~(add_0[c] & lanes_0) & ~(add_1[c] & lanes_1));
                if (add_0[c] & ~first[c]) assert (was_read_0[c]);
                if (add_1[c] & ~first[c]) assert (was_read_1[c]);
                if (read_0[c] | add_0[c]) assert (busy_0[c / 2]);
                if (read_1[c] | add_1[c]) assert (busy_1[c / 2]);
            end
            // The row, in the last column
            if (valids[LAST]) assert (row_3 == rows[LAST]);
            if (add_0[N-1] & ~first[N-1]) assert (was_row_0 == row_3);
            if (add_1[N-1] & ~first[N-1]) assert (was_row_1 == row_3);
            assert (done == (valids[LAST] & lasts[LAST] | lanes_last_i));  // or a row of the lanes
        end
        cover (done & store_read_i & add_1[0] & ~first[0]);
        if (DELAY == 2) cover (age > LAST + 1 & add_1[0] & lanes_0);
    end

endmodule
