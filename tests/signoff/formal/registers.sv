// SPDX-License-Identifier: Apache-2.0
// gemm64_registers keeps AXI4-Lite's rules: each write and each read is answered once, a cycle after its channels were accepted
// and the answer before it was taken, an answer stays until it is taken, and none comes unasked.
//
// short
// break gemm64_registers.v: waddr_valid & wdata_valid & (~bvalid_o | bready_i) -> waddr_valid & wdata_valid
// break gemm64_registers.v: raddr_valid & (~rvalid_o | rready_i) -> raddr_valid
// break gemm64_skid.v: rst_ni & valid_o & ~ready_i -> rst_ni & valid_i & ~ready_i
// prove induction 1, cover 8
module registers_proof (
    input wire        clear_i,
    input wire [63:0] value_i
);

    wire [15:0] tail;
    gemm64_registers dut (
        .ring_tail_o (tail), .ring_clear_i (clear_i), .busy_i (1'b0), .halted_i (1'b0), .finish_i (1'b0),
        .fail_i (1'b0), .ring_head_i (16'd0), .counter_value_i (value_i), .*
    );

    reg        begun = 1'b0, b_held, r_held, still;
    reg [1:0]  addresses, words, lookups;  // accepted and not answered
    reg [1:0]  b_was;
    reg [33:0] r_was;
    reg [15:0] tail_was;
    always @(posedge clk_i) begin
        begun    <= 1'b1;
        b_held   <= rst_ni & bvalid & ~bready_i;
        r_held   <= rst_ni & rvalid & ~rready_i;
        b_was    <= bresp;
        r_was    <= {rresp, rdata};
        if (!rst_ni) {addresses, words, lookups} <= 6'd0;
        else begin
            addresses <= addresses + {1'b0, awvalid_i & awready} - {1'b0, bvalid & bready_i};
            words     <= words + {1'b0, wvalid_i & wready} - {1'b0, bvalid & bready_i};
            lookups   <= lookups + {1'b0, arvalid_i & arready} - {1'b0, rvalid & rready_i};
        end
        still    <= rst_ni & resetting_i & ~clear_i;
        tail_was <= tail;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) begin
            assert (bvalid == (addresses != 0 & words != 0) & rvalid == (lookups != 0));
            // While an answer waits, a channel accepts one more.
            assert (addresses == {1'b0, bvalid} + {1'b0, ~awready} & words == {1'b0, bvalid} + {1'b0, ~wready});
            assert (lookups == {1'b0, rvalid} + {1'b0, ~arready});
            if (b_held) assert (bvalid & bresp == b_was);
            if (r_held) assert (rvalid & {rresp, rdata} == r_was);
            // A tail is refused during a soft reset.
            if (still) assert (tail == tail_was);
        end
        cover (begun & addresses == 2 & words == 2 & bvalid & bready_i & bresp == 2'b10);
        cover (begun & lookups == 2 & rvalid & rready_i & rresp == 2'b00);
    end

endmodule
