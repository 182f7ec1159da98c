// SPDX-License-Identifier: Apache-2.0
// Rows leave gemm64_elementwise as they came, each once, in order and with its mark, however they are held
// up; results that wait stay as they are. The proof follows one row, whichever it is.
//
// break gemm64_elementwise.v: assign ready_o = ~valid_o | ready_i -> assign ready_o = 1'b1
// break gemm64_elementwise.v: valid_q <= {valid_q[STAGES-1:1], valid_i} -> valid_q <= {valid_q[STAGES-1:1], valid_i | last_i}
// prove induction 1, cover 16
// probe valid_q = dut.valid_q
// probe last_q = dut.last_q
module vector_order_proof ();

    (* anyseq *) reg [15:0] row, seconds;
    gemm64_elementwise #(.N(2), .LOG_N(1)) dut (
        .signed_i (1'b1), .add_i (1'b0), .multiply_i (1'b0), .table_i (1'b0), .swap_i (1'b0), .operand_moved_i (1'b0),
        .result_moved_i (1'b0), .result_scale_i (27'd0), .operand_scale_i (27'd0), .offset_i (32'd0), .result_zero_i (8'd0),
        .operand_zero_i (8'd0), .low_i (8'h80), .high_i (8'h7f), .table_write_i (1'b0), .table_index_i (7'd0),
        .table_word_i (16'd0), .result_i (row), .operand_i (seconds), .*
    );

    (* keep *) wire [11:1] valid_q, last_q;

    reg        begun = 1'b0, held, was_last;
    reg [15:0] was_result;
    (* anyconst *) reg [7:0] number;
    reg [7:0]  in, out;
    reg        mark;
    reg [11:1]  at;  // the stage that the row is in
    always @(posedge clk_i) begin
        begun <= 1'b1;
        held  <= rst_ni & valid & ~ready_i;
        {was_last, was_result} <= {last, result};
        in  <= rst_ni ? in + (valid_i & ready) : 0;
        out <= rst_ni ? out + (valid & ready_i) : 0;
        if (!rst_ni) at <= 0;
        else if (ready & (valid_i | busy)) at <= {at[10:1], valid_i & in == number};
        if (valid_i & ready & in == number) mark <= last_i;
    end
    wire [3:0] before = $countones(valid_q & ~(at | at - 11'd1));  // rows in front of it
    wire [7:0] gone   = number - out, inside = in - out;

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) begin
            assert (inside == $countones(valid_q));
            assert ((at & at - 11'd1) == 0 & (at & ~valid_q) == 0);
            assert ((at != 0) == (gone < $countones(valid_q)));
            if (at != 0) assert (((last_q & at) != 0) == mark & before == gone);
            if (valid & out == number) assert (last == mark);
            if (held) assert (valid & {last, result} == {was_last, was_result});
            assert (busy == (in != out));
        end
        cover (begun & rst_ni & valid & out == number & number == 3 & last & ~ready_i);
    end

endmodule
