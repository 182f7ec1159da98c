// SPDX-License-Identifier: Apache-2.0
// gemm64_memory answers each burst with its beats, one reader at a time, and each write once: no beat comes unasked, RLAST and B come
// when they should, and B stays until it is taken.
//
// short
// probe reading = dut.reading_q
// probe left = dut.left_q
// probe writing = dut.writing_q
// probe from_data = dut.from_data_q
// break board/gemm64_memory.v: reading_q <= left_q != 8'd0; -> reading_q <= left_q != 8'd1;
// break board/gemm64_memory.v: answer_q ? ~results_bready_i -> answer_q ? 1'b0
// break board/gemm64_memory.v: weights_arready_o = ask & ~turn_q -> weights_arready_o = ask
// prove induction 1, cover 12
module memory_proof ();

    wire       reading, writing, from_data;
    wire [7:0] left;
    gemm64_memory #(.N(4), .LOG_BYTES(12)) dut (.*);

    reg       begun = 1'b0, b_held;
    reg [8:0] owed;   // beats of the burst that was accepted last
    reg       data;   // whose it is
    reg       open, answer;
    wire      ar    = weights_arvalid_i & weights_arready | data_arvalid_i & data_arready;
    wire      beat  = weights_rvalid | data_rvalid;
    wire      end_w = results_wvalid_i & results_wready & results_wlast_i;
    always @(posedge clk_i) begin
        begun  <= 1'b1;
        b_held <= rst_ni & results_bvalid & ~results_bready_i;
        owed   <= !rst_ni ? 9'd0 : ar ? (data_arready ? data_arlen_i : weights_arlen_i) + 9'd1 : owed - {8'd0, beat};
        if (ar) data <= data_arready;
        open   <= rst_ni & (results_awvalid_i & results_awready | open & ~end_w);
        answer <= rst_ni & (end_w | answer & ~results_bready_i);
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) begin
            assert (~(weights_arready & data_arready) & ~(weights_rvalid & data_rvalid));
            assert (owed == (reading ? {1'b0, left} + 9'd1 : 9'd0) + {8'd0, beat});
            if (reading) assert (from_data == data);
            if (beat) assert (data_rvalid == data);
            if (data_rvalid) assert (data_rlast == (owed == 1));
            assert (writing == open & results_bvalid == answer);
            if (b_held) assert (results_bvalid);
            assert (~(open & answer));
        end
        cover (begun & data_rvalid & data_rlast & owed == 1);
        cover (begun & b_held & results_bready_i);
    end

endmodule
