// SPDX-License-Identifier: Apache-2.0
// Rows leave gemm64_requantize as they came, each once, in order and with its mark of a burst's last, however they are held
// up or frozen; results that wait stay as they are. The proof follows one row, whichever it is.
//
// short
// break gemm64_requantize.v: ready_o      = (~valid_o | ready_i) & ~freeze_i -> ready_o      = ~freeze_i
// break gemm64_requantize.v: ready_o      = (~valid_o | ready_i) & ~freeze_i -> ready_o      = ~valid_o | ready_i
// prove induction 1, cover 14
// probe valid_q = dut.valid_q
// probe last_q = dut.last_q
module requantize_order_proof ();

    (* anyseq *) reg [31:0] sum, scale;
    gemm64_requantize #(.N(1)) dut (
        .zero_i (9'd0), .low_i (-9'd128), .high_i (9'd127), .sum_i (sum), .bias_i (32'd0), .scale_i (scale),
        .operand_i (8'd0), .beside_i (1'b0), .*
    );

    (* keep *) wire [9:1] valid_q, last_q;

    reg        begun = 1'b0, held, was_last;
    reg [7:0]  was_result;
    (* anyconst *) reg [7:0] number;
    reg [7:0]  in, out;
    reg        mark;
    reg [9:1]  at;  // the stage that the row is in
    always @(posedge clk_i) begin
        begun <= 1'b1;
        held  <= rst_ni & valid & ~(ready_i & ~freeze_i);
        {was_last, was_result} <= {last, result};
        in  <= rst_ni ? in + (valid_i & ready) : 0;
        out <= rst_ni ? out + (valid & ready_i & ~freeze_i) : 0;
        if (!rst_ni) at <= 0;
        else if (ready & (valid_i | busy)) at <= {at[8:1], valid_i & in == number};
        if (valid_i & ready & in == number) mark <= last_i;
    end
    wire [3:0] before = $countones(valid_q & ~(at | at - 9'd1));  // rows in front of it
    wire [7:0] gone   = number - out, inside = in - out;

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) begin
            assert (inside == $countones(valid_q));
            assert ((at & at - 9'd1) == 0 & (at & ~valid_q) == 0);
            assert ((at != 0) == (gone < $countones(valid_q)));
            if (at != 0) assert (((last_q & at) != 0) == mark & before == gone);
            if (valid & out == number) assert (last == mark);
            if (held) assert (valid & {last, result} == {was_last, was_result});
            assert (busy == (in != out));
        end
        cover (begun & rst_ni & valid & out == number & number == 3 & last & ~ready_i);
    end

endmodule
