// SPDX-License-Identifier: Apache-2.0
// gemm64_bridge keeps AXI4-Lite's rules whatever bytes come: an offer stays until it is taken, one access is in flight at a time, its
// answer is taken at once. What it sends stays until it is taken, and it never reads and writes memory in one cycle.
//
// short
// probe state = dut.state_q
// break board/gemm64_bridge.v: aw_d      = aw_q & ~awready_i -> aw_d      = 1'b0
// break board/gemm64_bridge.v: if (bvalid_i) state_d = ANSWER; -> state_d = ANSWER;
// break board/gemm64_bridge.v: ANSWER: if (sent) begin -> ANSWER: begin
// prove induction 1, cover 24
module bridge_proof ();

    localparam [3:0] WRITE = 4'd3, READ = 4'd4;

    wire [3:0] state;
    gemm64_bridge dut (.*);

    reg        begun = 1'b0, aw_held, w_held, ar_held, tx_held;
    reg        aw_taken, w_taken, ar_taken;  // and not answered
    reg [43:0] write_was;
    reg [11:0] read_was;
    reg [7:0]  tx_was;
    always @(posedge clk_i) begin
        begun     <= 1'b1;
        aw_held   <= rst_ni & awvalid & ~awready_i;
        w_held    <= rst_ni & wvalid & ~wready_i;
        ar_held   <= rst_ni & arvalid & ~arready_i;
        tx_held   <= rst_ni & tx_valid & ~tx_ready_i;
        write_was <= {awaddr, wdata};
        read_was  <= araddr;
        tx_was    <= tx_data;
        aw_taken  <= rst_ni & ~bvalid_i & (aw_taken | awvalid & awready_i);
        w_taken   <= rst_ni & ~bvalid_i & (w_taken | wvalid & wready_i);
        ar_taken  <= rst_ni & ~rvalid_i & (ar_taken | arvalid & arready_i);
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) begin
            if (bvalid_i) assume (aw_taken & w_taken);
            if (rvalid_i) assume (ar_taken);
            assert ((state == WRITE) == (awvalid ^ aw_taken) & (state == WRITE) == (wvalid ^ w_taken));
            assert ((state == READ) == (arvalid ^ ar_taken));
            assert (~(awvalid & aw_taken) & ~(wvalid & w_taken) & ~(arvalid & ar_taken));
            if (bvalid_i) assert (bready);
            if (rvalid_i) assert (rready);
            if (aw_held) assert (awvalid & awaddr == write_was[43:32]);
            if (w_held) assert (wvalid & wdata == write_was[31:0]);
            if (ar_held) assert (arvalid & araddr == read_was);
            if (tx_held) assert (tx_valid & tx_data == tx_was);
            assert (~(byte_write & byte_read));
        end
        cover (begun & bvalid_i);
        cover (begun & rvalid_i);
        cover (begun & byte_write);
        cover (begun & byte_read);
    end

endmodule
