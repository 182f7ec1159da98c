// SPDX-License-Identifier: Apache-2.0
// gemm64_request hands on each request once, in order, as AXI wants it: what is offered stays until it is accepted.
//
// short
// break gemm64_request.v: ready_o   = ~axvalid_o | axready_i -> ready_o   = 1'b1
// prove induction 1, cover 8
module request_proof ();

    gemm64_request #(.LOG_N(6), .ADDRESS_WIDTH(40), .ID_WIDTH(2)) dut (.*);

    reg         begun = 1'b0, waiting;  // a request was taken and has not been accepted
    reg [48:0]  taken;
    reg         held;                   // it was offered in the cycle before
    always @(posedge clk_i) begin
        begun   <= 1'b1;
        waiting <= rst_ni & (valid_i & ready | waiting & ~axready_i);
        if (valid_i & ready) taken <= {id_i, address_i, beats_i};
        held    <= rst_ni & axvalid & ~axready_i;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        assume (beats_i >= 1 & beats_i <= 64);
        if (begun) begin
            assert (axvalid == waiting);
            if (held) assert (axvalid);
            if (axvalid) begin
                assert ({axid, axaddr} == taken[48:7]);
                assert (axlen + 1 == {1'b0, taken[6:0]});
                assert (axlen <= 63);
            end
            assert (axsize == 3'd6 & axburst == 2'b01);
            if (waiting & ~axready_i) assert (~ready);  // nothing is taken that would replace it
        end
        cover (begun & axvalid & axready_i & valid_i & ready);
    end

endmodule
