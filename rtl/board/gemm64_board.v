// SPDX-License-Identifier: Apache-2.0
// The accelerator with a memory on the chip and a serial line, through which a host does all that a driver does.
// Latency: that of the line, see gemm64_bridge.
// Handshake: a serial line of 8 bits, no parity, one stop bit, both ways.
`default_nettype none

module gemm64_board #(
    parameter N                  = 4,   // see gemm64, down to LOG_PARAMETER_SETS
    parameter STAGE_ROWS         = 2,
    parameter SCRATCHPAD_WORDS   = 1023,
    parameter ACCUMULATOR_ROWS   = 64,
    parameter LOG_WEIGHT_WORDS   = 8,
    parameter LOG_READS          = 2,
    parameter LOG_WRITES         = 2,
    parameter LOG_COMMANDS       = 2,
    parameter LOG_PARAMETER_SETS = 2,
    parameter LOG_MEMORY_BYTES   = 17,  // log2 of the memory's bytes
    parameter DIVISOR            = 50   // cycles of a bit on the serial line
) (
    input  wire clk_i,
    input  wire rst_ni,  // synchronous, active low
    input  wire rx_i,    // from the host
    output wire tx_o,    // to the host
    output wire irq_o    // the accelerator's interrupt, to be seen
);

    localparam ADDRESS_WIDTH = 24;

    wire reset;
    reg  core_rst_n_q;  // of the accelerator and its memory, which are in reset when the device has been configured
    initial core_rst_n_q = 1'b0;
    always @(posedge clk_i) core_rst_n_q <= rst_ni & ~reset;

    wire       rx_valid, tx_valid, tx_ready;
    wire [7:0] rx_data, tx_data;

    gemm64_uart_rx #(.DIVISOR(DIVISOR)) u_rx (
        .clk_i (clk_i), .rst_ni (rst_ni), .line_i (rx_i), .valid_o (rx_valid), .data_o (rx_data)
    );

    gemm64_uart_tx #(.DIVISOR(DIVISOR)) u_tx (
        .clk_i (clk_i), .rst_ni (rst_ni), .valid_i (tx_valid), .ready_o (tx_ready), .data_i (tx_data), .line_o (tx_o)
    );

    wire        awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire [11:0] awaddr, araddr;
    wire [31:0] wdata, rdata;
    wire [1:0]  bresp, rresp;
    wire        byte_write, byte_read, byte_ready;
    wire [LOG_MEMORY_BYTES-1:0] byte_address;
    wire [7:0]  byte_in, byte_out;

    gemm64_bridge #(.LOG_BYTES(LOG_MEMORY_BYTES)) u_bridge (
        .clk_i (clk_i), .rst_ni (rst_ni),
        .rx_valid_i (rx_valid), .rx_data_i (rx_data), .tx_valid_o (tx_valid), .tx_ready_i (tx_ready), .tx_data_o (tx_data),
        .awvalid_o (awvalid), .awready_i (awready), .awaddr_o (awaddr), .wvalid_o (wvalid), .wready_i (wready),
        .wdata_o (wdata), .bvalid_i (bvalid), .bready_o (bready), .bresp_i (bresp),
        .arvalid_o (arvalid), .arready_i (arready), .araddr_o (araddr),
        .rvalid_i (rvalid), .rready_o (rready), .rdata_i (rdata), .rresp_i (rresp),
        .byte_write_o (byte_write), .byte_read_o (byte_read), .byte_ready_i (byte_ready), .byte_address_o (byte_address),
        .byte_data_o (byte_in), .byte_data_i (byte_out), .irq_i (irq_o), .reset_o (reset)
    );

    wire                     w_arvalid, w_arready, w_arid, w_rvalid, w_rid, w_rlast;
    wire                     d_arvalid, d_arready, d_rvalid, d_rlast;
    wire                     r_awvalid, r_awready, r_awid, r_wvalid, r_wready, r_wlast, r_bvalid, r_bready, r_bid;
    wire [1:0]               d_arid, d_rid, w_rresp, d_rresp, r_bresp;
    wire [ADDRESS_WIDTH-1:0] w_araddr, d_araddr, r_awaddr;
    wire [7:0]               w_arlen, d_arlen;
    wire [8*N-1:0]           w_rdata, d_rdata, r_wdata;
    wire [N-1:0]             r_wstrb;

    gemm64 #(
        .N(N), .STAGE_ROWS(STAGE_ROWS), .SCRATCHPAD_WORDS(SCRATCHPAD_WORDS), .ACCUMULATOR_ROWS(ACCUMULATOR_ROWS),
        .LOG_WEIGHT_WORDS(LOG_WEIGHT_WORDS), .LOG_READS(LOG_READS), .LOG_WRITES(LOG_WRITES), .LOG_COMMANDS(LOG_COMMANDS),
        .LOG_PARAMETER_SETS(LOG_PARAMETER_SETS), .ADDRESS_WIDTH(ADDRESS_WIDTH), .TENSOR_WORDS(0)  // all memory is on the chip
    ) u_gemm64 (
        .clk_i (clk_i), .rst_ni (core_rst_n_q), .irq_o (irq_o),
        .s_axil_awvalid_i (awvalid), .s_axil_awready_o (awready), .s_axil_awaddr_i (awaddr), .s_axil_awprot_i (3'd0),
        .s_axil_wvalid_i (wvalid), .s_axil_wready_o (wready), .s_axil_wdata_i (wdata), .s_axil_wstrb_i (4'hf),
        .s_axil_bvalid_o (bvalid), .s_axil_bready_i (bready), .s_axil_bresp_o (bresp),
        .s_axil_arvalid_i (arvalid), .s_axil_arready_o (arready), .s_axil_araddr_i (araddr), .s_axil_arprot_i (3'd0),
        .s_axil_rvalid_o (rvalid), .s_axil_rready_i (rready), .s_axil_rdata_o (rdata), .s_axil_rresp_o (rresp),
        .m_weights_arvalid_o (w_arvalid), .m_weights_arready_i (w_arready), .m_weights_arid_o (w_arid),
        .m_weights_araddr_o (w_araddr), .m_weights_arlen_o (w_arlen), .m_weights_arsize_o (), .m_weights_arburst_o (),
        .m_weights_arprot_o (), .m_weights_arcache_o (),
        .m_weights_rvalid_i (w_rvalid), .m_weights_rready_o (), .m_weights_rid_i (w_rid),
        .m_weights_rdata_i (w_rdata), .m_weights_rresp_i (w_rresp), .m_weights_rlast_i (w_rlast),
        .m_data_arvalid_o (d_arvalid), .m_data_arready_i (d_arready), .m_data_arid_o (d_arid),
        .m_data_araddr_o (d_araddr), .m_data_arlen_o (d_arlen), .m_data_arsize_o (), .m_data_arburst_o (),
        .m_data_arprot_o (), .m_data_arcache_o (),
        .m_data_rvalid_i (d_rvalid), .m_data_rready_o (), .m_data_rid_i (d_rid),
        .m_data_rdata_i (d_rdata), .m_data_rresp_i (d_rresp), .m_data_rlast_i (d_rlast),
        .m_results_awvalid_o (r_awvalid), .m_results_awready_i (r_awready), .m_results_awid_o (r_awid),
        .m_results_awaddr_o (r_awaddr), .m_results_awlen_o (), .m_results_awsize_o (), .m_results_awburst_o (),
        .m_results_awprot_o (), .m_results_awcache_o (),
        .m_results_wvalid_o (r_wvalid), .m_results_wready_i (r_wready), .m_results_wdata_o (r_wdata),
        .m_results_wstrb_o (r_wstrb), .m_results_wlast_o (r_wlast),
        .m_results_bvalid_i (r_bvalid), .m_results_bready_o (r_bready), .m_results_bid_i (r_bid),
        .m_results_bresp_i (r_bresp)
    );

    gemm64_memory #(.N(N), .ADDRESS_WIDTH(ADDRESS_WIDTH), .LOG_BYTES(LOG_MEMORY_BYTES)) u_memory (
        .clk_i (clk_i), .rst_ni (core_rst_n_q),
        .weights_arvalid_i (w_arvalid), .weights_arready_o (w_arready), .weights_arid_i (w_arid),
        .weights_araddr_i (w_araddr), .weights_arlen_i (w_arlen),
        .weights_rvalid_o (w_rvalid), .weights_rid_o (w_rid),
        .weights_rdata_o (w_rdata), .weights_rresp_o (w_rresp), .weights_rlast_o (w_rlast),
        .data_arvalid_i (d_arvalid), .data_arready_o (d_arready), .data_arid_i (d_arid),
        .data_araddr_i (d_araddr), .data_arlen_i (d_arlen),
        .data_rvalid_o (d_rvalid), .data_rid_o (d_rid),
        .data_rdata_o (d_rdata), .data_rresp_o (d_rresp), .data_rlast_o (d_rlast),
        .results_awvalid_i (r_awvalid), .results_awready_o (r_awready), .results_awid_i (r_awid),
        .results_awaddr_i (r_awaddr),
        .results_wvalid_i (r_wvalid), .results_wready_o (r_wready), .results_wdata_i (r_wdata), .results_wstrb_i (r_wstrb),
        .results_wlast_i (r_wlast),
        .results_bvalid_o (r_bvalid), .results_bready_i (r_bready), .results_bid_o (r_bid), .results_bresp_o (r_bresp),
        .byte_write_i (byte_write), .byte_read_i (byte_read), .byte_ready_o (byte_ready), .byte_address_i (byte_address),
        .byte_data_i (byte_in), .byte_data_o (byte_out)
    );

endmodule

`default_nettype wire
