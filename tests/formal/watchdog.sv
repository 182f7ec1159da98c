// SPDX-License-Identifier: Apache-2.0
// Work of the whole accelerator that stands still ends with an error: where it is busy and nothing moves for WATCHDOG clocks
// at its pins, in dispatch or in the array, however memory behaves, the next clock finds it halted with an error that the
// registers show and, where the host wants it, the interrupt.
//
// break gemm64.v: | m_results_bvalid_i | causes[`GEMM64_COUNTER_COMMANDS_DISPATCH] -> | m_results_bvalid_i | busy
// break gemm64.v: .watchdog_i (watchdog) -> .watchdog_i (32'd0)
// prove induction 1, cover 12
// probe busy = dut.busy
// probe halted = dut.halted
// probe resetting = dut.resetting
// probe watchdog = dut.watchdog
// probe error = dut.error
// probe read = dut.activation_read
// probe dispatch = dut.u_commands.dispatch_o
// probe still_q = dut.u_control.still_q
// probe error_shown = dut.u_registers.error_q
// probe enabled = dut.u_registers.interrupt_enable_q
module watchdog_proof (
    input wire        clk_i,
    input wire        rst_ni,
    input wire        awvalid_i,
    input wire [11:0] awaddr_i,
    input wire [31:0] wdata_i,
    input wire        weights_arready_i,
    input wire        weights_rvalid_i,
    input wire [1:0]  weights_rresp_i,
    input wire        data_arready_i,
    input wire        data_rvalid_i,
    input wire [1:0]  data_rid_i,
    input wire [1:0]  data_rresp_i,
    input wire        results_awready_i,
    input wire        results_wready_i,
    input wire        results_bvalid_i,
    input wire [1:0]  results_bresp_i
);

    wire irq, weights_arvalid, weights_rready, data_arvalid, results_awvalid, results_wvalid;
    gemm64 #(
        .N(2), .SCRATCHPAD_WORDS(65), .ACCUMULATOR_ROWS(2), .LOG_WEIGHT_WORDS(2), .LOG_READS(1), .LOG_WRITES(1),
        .LOG_COMMANDS(1), .LOG_PARAMETER_SETS(1), .ADDRESS_WIDTH(24)
    ) dut (
        .clk_i (clk_i), .rst_ni (rst_ni), .irq_o (irq), .s_axil_awvalid_i (awvalid_i), .s_axil_awready_o (),
        .s_axil_awaddr_i (awaddr_i), .s_axil_awprot_i (3'd0), .s_axil_wvalid_i (awvalid_i), .s_axil_wready_o (),
        .s_axil_wdata_i (wdata_i), .s_axil_wstrb_i (4'hf), .s_axil_bvalid_o (), .s_axil_bready_i (1'b1),
        .s_axil_bresp_o (), .s_axil_arvalid_i (1'b0), .s_axil_arready_o (), .s_axil_araddr_i (12'd0),
        .s_axil_arprot_i (3'd0), .s_axil_rvalid_o (), .s_axil_rready_i (1'b1), .s_axil_rdata_o (),
        .s_axil_rresp_o (), .m_weights_arvalid_o (weights_arvalid), .m_weights_arready_i (weights_arready_i),
        .m_weights_arid_o (), .m_weights_araddr_o (), .m_weights_arlen_o (), .m_weights_arsize_o (),
        .m_weights_arburst_o (), .m_weights_arprot_o (), .m_weights_arcache_o (),
        .m_weights_rvalid_i (weights_rvalid_i), .m_weights_rready_o (weights_rready), .m_weights_rid_i (1'b0),
        .m_weights_rdata_i (16'd0), .m_weights_rresp_i (weights_rresp_i), .m_weights_rlast_i (1'b1),
        .m_data_arvalid_o (data_arvalid), .m_data_arready_i (data_arready_i), .m_data_arid_o (), .m_data_araddr_o (),
        .m_data_arlen_o (), .m_data_arsize_o (), .m_data_arburst_o (), .m_data_arprot_o (), .m_data_arcache_o (),
        .m_data_rvalid_i (data_rvalid_i), .m_data_rready_o (), .m_data_rid_i (data_rid_i), .m_data_rdata_i (16'd0),
        .m_data_rresp_i (data_rresp_i), .m_data_rlast_i (1'b1), .m_results_awvalid_o (results_awvalid),
        .m_results_awready_i (results_awready_i), .m_results_awid_o (), .m_results_awaddr_o (),
        .m_results_awlen_o (), .m_results_awsize_o (), .m_results_awburst_o (), .m_results_awprot_o (),
        .m_results_awcache_o (), .m_results_wvalid_o (results_wvalid), .m_results_wready_i (results_wready_i),
        .m_results_wdata_o (), .m_results_wstrb_o (), .m_results_wlast_o (), .m_results_bvalid_i (results_bvalid_i),
        .m_results_bready_o (), .m_results_bid_i (1'b0), .m_results_bresp_i (results_bresp_i)
    );

    (* keep *) wire        busy, halted, resetting, read, dispatch, error_shown;
    (* keep *) wire [31:0] watchdog, error, still_q;
    (* keep *) wire [1:0]  enabled;

    reg         begun = 1'b0, over, was_over, cleared;
    reg [31:0]  still;  // clocks in a row in which nothing moved while there was work
    wire        moves = weights_arvalid & weights_arready_i | weights_rvalid_i & weights_rready
                      | data_arvalid & data_arready_i | data_rvalid_i | results_awvalid & results_awready_i
                      | results_wvalid & results_wready_i | results_bvalid_i | read | dispatch;
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
