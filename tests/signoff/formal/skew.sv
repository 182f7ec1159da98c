// SPDX-License-Identifier: Apache-2.0
// Lane g of each valid word leaves gemm64_skew g cycles after it came; LANES=16 is that of N=64.
//
// break gemm64_skew.v: valid_q <= valid_o[g-1]; -> valid_q <= valid_i;
// prove induction 5, cover 6; LANES=4
// prove induction 17, cover 18; LANES=16
module skew_proof #(
    parameter LANES = 4
) ();

    gemm64_skew #(.LANES(LANES), .WIDTH(8)) dut (.*);

    reg [LANES-1:1]         came = 0;
    reg [LANES*8*LANES-1:0] words;  // the word of i cycles ago in place i - 1
    reg [LANES-1:0]         filled = 0;
    always @(posedge clk_i) begin
        came   <= {came, valid_i};
        words  <= {words, data_i};
        filled <= {filled, 1'b1};
    end

    integer g;
    always @*
        for (g = 1; g < LANES; g = g + 1)
            if (filled[g-1]) begin
                assert (valid[g] == came[g]);
                if (came[g]) assert (data[8*g +: 8] == words[8*LANES*(g-1) + 8*g +: 8]);
            end
    always @* begin
        assert (valid[0] == valid_i & data[7:0] == data_i[7:0]);
        cover (filled[LANES-2] & valid == {LANES{1'b1}});
    end

endmodule
