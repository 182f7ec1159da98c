// SPDX-License-Identifier: Apache-2.0
// Work of the whole accelerator that stands still ends with an error: where it is busy and nothing moves for WATCHDOG cycles
// at its pins, in dispatch, in the array, in the lanes or in the tensor memory, however memory behaves, the next cycle finds it halted with an error that the
// registers show and, where the host wants it, the interrupt.
//
// break gemm64.v: | tensor_write | causes[`GEMM64_COUNTER_COMMANDS_DISPATCH] -> | tensor_write | busy
// break gemm64.v: .watchdog_i (watchdog) -> .watchdog_i (32'd0)
// short
// prove induction 1, cover 12
// probe busy = dut.busy
// probe halted = dut.halted
// probe resetting = dut.resetting
// probe watchdog = dut.watchdog
// probe error = dut.error
// probe read = dut.activation_read
// probe lanes_move = dut.lanes_move
// probe tensor_read = dut.tensor_read
// probe tensor_write = dut.tensor_write
// probe dispatch = dut.u_commands.dispatch_o
// probe still_q = dut.u_control.still_q
// probe error_shown = dut.u_registers.error_q
// probe enabled = dut.u_registers.interrupt_enable_q
module watchdog_proof ();

    gemm64 #(
        .N(2), .SCRATCHPAD_WORDS(65), .ACCUMULATOR_ROWS(2), .LOG_WEIGHT_WORDS(2), .LOG_READS(1), .LOG_WRITES(1),
        .LOG_COMMANDS(1), .LOG_PARAMETER_SETS(1), .ADDRESS_WIDTH(24)
    ) dut (
        .s_axil_awprot_i (3'd0), .s_axil_wvalid_i (awvalid_i), .s_axil_wstrb_i (4'hf), .s_axil_bready_i (1'b1),
        .s_axil_arvalid_i (1'b0), .s_axil_araddr_i (12'd0), .s_axil_arprot_i (3'd0), .s_axil_rready_i (1'b1),
        .m_weights_rid_i (1'b0), .m_weights_rdata_i (16'd0), .m_weights_rlast_i (1'b1), .m_data_rdata_i (16'd0),
        .m_data_rlast_i (1'b1), .m_results_bid_i (1'b0), .*
    );

    (* keep *) wire        busy, halted, resetting, read, lanes_move, tensor_read, tensor_write, dispatch, error_shown;
    (* keep *) wire [31:0] watchdog, error, still_q;
    (* keep *) wire [1:0]  enabled;

    reg         begun = 1'b0, over, was_over, cleared;
    reg [31:0]  still;  // cycles in a row in which nothing moved while there was work
    wire        moves = weights_arvalid & weights_arready_i | weights_rvalid_i & weights_rready
                      | data_arvalid & data_arready_i | data_rvalid_i | results_awvalid & results_awready_i
                      | results_wvalid & results_wready_i | results_bvalid_i | read | lanes_move | tensor_read
                      | tensor_write | dispatch;
    always @(posedge clk_i) begin
        begun <= 1'b1;
        still <= ~rst_ni | ~busy | moves | halted ? 0 : still + 1;
        over  <= rst_ni & busy & watchdog != 0 & still >= watchdog & ~halted & ~resetting;
    end

    always @* begin
        if (!begun) assume (!rst_ni);
        if (begun) begin
            assert (still_q == still);
            if (over) assert (halted & error[3:0] != 0);
            if (over) assert (error_shown & (~enabled[1] | irq));
        end
        cover (over & error[3:0] == 4'd6 & irq);
    end

endmodule
