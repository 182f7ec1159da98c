// SPDX-License-Identifier: Apache-2.0
// The accelerator for a fast simulation: reset and what its memory ports are given pass a register, so that they are given a
// clock ahead. Verilator computes what depends on an input twice a cycle, once as the input changes and once after the
// clock's edge; of these ports no input is left on which anything depends.
// Latency: 1 cycle from a memory port's input, or from reset, to the accelerator. Registers' port and outputs: none.
// Handshake: an input of a memory port belongs to the cycle that begins with the next edge.
`default_nettype none

module gemm64_ahead #(
    parameter N             = 64,
    parameter SUM_WIDTH     = 32,
    parameter CLOCK_ENABLES = 0,
    parameter ADDRESS_WIDTH = 40
) (
    input  wire                     clk_i,
    input  wire                     rst_ni,
    output wire                     irq_o,
    input wire s_axil_awvalid_i, output wire s_axil_awready_o, input wire [11:0] s_axil_awaddr_i,
    input wire [2:0] s_axil_awprot_i,
    input wire s_axil_wvalid_i, output wire s_axil_wready_o, input wire [31:0] s_axil_wdata_i,
    input wire [3:0] s_axil_wstrb_i,
    output wire s_axil_bvalid_o, input wire s_axil_bready_i, output wire [1:0] s_axil_bresp_o,
    input wire s_axil_arvalid_i, output wire s_axil_arready_o, input wire [11:0] s_axil_araddr_i,
    input wire [2:0] s_axil_arprot_i,
    output wire s_axil_rvalid_o, input wire s_axil_rready_i, output wire [31:0] s_axil_rdata_o,
    output wire [1:0] s_axil_rresp_o,
    output wire m_weights_arvalid_o, input wire m_weights_arready_i, output wire m_weights_arid_o,
    output wire [ADDRESS_WIDTH-1:0] m_weights_araddr_o, output wire [7:0] m_weights_arlen_o,
    output wire [2:0] m_weights_arsize_o, output wire [1:0] m_weights_arburst_o, output wire [2:0] m_weights_arprot_o,
    output wire [3:0] m_weights_arcache_o,
    input wire m_weights_rvalid_i, output wire m_weights_rready_o, input wire m_weights_rid_i,
    input wire [8*N-1:0] m_weights_rdata_i, input wire [1:0] m_weights_rresp_i, input wire m_weights_rlast_i,
    output wire m_data_arvalid_o, input wire m_data_arready_i, output wire [1:0] m_data_arid_o,
    output wire [ADDRESS_WIDTH-1:0] m_data_araddr_o, output wire [7:0] m_data_arlen_o,
    output wire [2:0] m_data_arsize_o, output wire [1:0] m_data_arburst_o, output wire [2:0] m_data_arprot_o,
    output wire [3:0] m_data_arcache_o,
    input wire m_data_rvalid_i, output wire m_data_rready_o, input wire [1:0] m_data_rid_i,
    input wire [8*N-1:0] m_data_rdata_i, input wire [1:0] m_data_rresp_i, input wire m_data_rlast_i,
    output wire m_results_awvalid_o, input wire m_results_awready_i, output wire m_results_awid_o,
    output wire [ADDRESS_WIDTH-1:0] m_results_awaddr_o, output wire [7:0] m_results_awlen_o,
    output wire [2:0] m_results_awsize_o, output wire [1:0] m_results_awburst_o, output wire [2:0] m_results_awprot_o,
    output wire [3:0] m_results_awcache_o,
    output wire m_results_wvalid_o, input wire m_results_wready_i, output wire [8*N-1:0] m_results_wdata_o,
    output wire [N-1:0] m_results_wstrb_o, output wire m_results_wlast_o,
    input wire m_results_bvalid_i, output wire m_results_bready_o, input wire m_results_bid_i,
    input wire [1:0] m_results_bresp_i
);

    // Memory of the loops that fuse_columns.py puts in place of the columns' statements (columns.hpp).
    reg [31:0] columns_q [0:23279] /*verilator public_flat_rw*/;

    reg rst_n_q;
    reg m_weights_arready_q, m_weights_rvalid_q, m_weights_rid_q, m_weights_rlast_q, m_data_arready_q,
        m_data_rvalid_q, m_data_rlast_q, m_results_awready_q, m_results_wready_q, m_results_bvalid_q,
        m_results_bid_q;
    reg [8*N-1:0] m_weights_rdata_q, m_data_rdata_q;
    reg [1:0] m_weights_rresp_q, m_data_rid_q, m_data_rresp_q, m_results_bresp_q;

    always @(posedge clk_i) begin
        rst_n_q <= rst_ni;
        m_weights_arready_q <= m_weights_arready_i;
        m_weights_rvalid_q <= m_weights_rvalid_i;
        m_weights_rid_q <= m_weights_rid_i;
        m_weights_rdata_q <= m_weights_rdata_i;
        m_weights_rresp_q <= m_weights_rresp_i;
        m_weights_rlast_q <= m_weights_rlast_i;
        m_data_arready_q <= m_data_arready_i;
        m_data_rvalid_q <= m_data_rvalid_i;
        m_data_rid_q <= m_data_rid_i;
        m_data_rdata_q <= m_data_rdata_i;
        m_data_rresp_q <= m_data_rresp_i;
        m_data_rlast_q <= m_data_rlast_i;
        m_results_awready_q <= m_results_awready_i;
        m_results_wready_q <= m_results_wready_i;
        m_results_bvalid_q <= m_results_bvalid_i;
        m_results_bid_q <= m_results_bid_i;
        m_results_bresp_q <= m_results_bresp_i;
    end

    gemm64 #(.N(N), .SUM_WIDTH(SUM_WIDTH), .CLOCK_ENABLES(CLOCK_ENABLES), .ADDRESS_WIDTH(ADDRESS_WIDTH)) gemm64 (
        .clk_i (clk_i), .rst_ni (rst_n_q), .irq_o (irq_o), .s_axil_awvalid_i (s_axil_awvalid_i),
        .s_axil_awready_o (s_axil_awready_o), .s_axil_awaddr_i (s_axil_awaddr_i), .s_axil_awprot_i (s_axil_awprot_i),
        .s_axil_wvalid_i (s_axil_wvalid_i), .s_axil_wready_o (s_axil_wready_o), .s_axil_wdata_i (s_axil_wdata_i),
        .s_axil_wstrb_i (s_axil_wstrb_i), .s_axil_bvalid_o (s_axil_bvalid_o), .s_axil_bready_i (s_axil_bready_i),
        .s_axil_bresp_o (s_axil_bresp_o), .s_axil_arvalid_i (s_axil_arvalid_i), .s_axil_arready_o (s_axil_arready_o),
        .s_axil_araddr_i (s_axil_araddr_i), .s_axil_arprot_i (s_axil_arprot_i), .s_axil_rvalid_o (s_axil_rvalid_o),
        .s_axil_rready_i (s_axil_rready_i), .s_axil_rdata_o (s_axil_rdata_o), .s_axil_rresp_o (s_axil_rresp_o),
        .m_weights_arvalid_o (m_weights_arvalid_o), .m_weights_arready_i (m_weights_arready_q),
        .m_weights_arid_o (m_weights_arid_o), .m_weights_araddr_o (m_weights_araddr_o),
        .m_weights_arlen_o (m_weights_arlen_o), .m_weights_arsize_o (m_weights_arsize_o),
        .m_weights_arburst_o (m_weights_arburst_o), .m_weights_arprot_o (m_weights_arprot_o),
        .m_weights_arcache_o (m_weights_arcache_o), .m_weights_rvalid_i (m_weights_rvalid_q),
        .m_weights_rready_o (m_weights_rready_o), .m_weights_rid_i (m_weights_rid_q),
        .m_weights_rdata_i (m_weights_rdata_q), .m_weights_rresp_i (m_weights_rresp_q),
        .m_weights_rlast_i (m_weights_rlast_q), .m_data_arvalid_o (m_data_arvalid_o),
        .m_data_arready_i (m_data_arready_q), .m_data_arid_o (m_data_arid_o), .m_data_araddr_o (m_data_araddr_o),
        .m_data_arlen_o (m_data_arlen_o), .m_data_arsize_o (m_data_arsize_o), .m_data_arburst_o (m_data_arburst_o),
        .m_data_arprot_o (m_data_arprot_o), .m_data_arcache_o (m_data_arcache_o), .m_data_rvalid_i (m_data_rvalid_q),
        .m_data_rready_o (m_data_rready_o), .m_data_rid_i (m_data_rid_q), .m_data_rdata_i (m_data_rdata_q),
        .m_data_rresp_i (m_data_rresp_q), .m_data_rlast_i (m_data_rlast_q),
        .m_results_awvalid_o (m_results_awvalid_o), .m_results_awready_i (m_results_awready_q),
        .m_results_awid_o (m_results_awid_o), .m_results_awaddr_o (m_results_awaddr_o),
        .m_results_awlen_o (m_results_awlen_o), .m_results_awsize_o (m_results_awsize_o),
        .m_results_awburst_o (m_results_awburst_o), .m_results_awprot_o (m_results_awprot_o),
        .m_results_awcache_o (m_results_awcache_o), .m_results_wvalid_o (m_results_wvalid_o),
        .m_results_wready_i (m_results_wready_q), .m_results_wdata_o (m_results_wdata_o),
        .m_results_wstrb_o (m_results_wstrb_o), .m_results_wlast_o (m_results_wlast_o),
        .m_results_bvalid_i (m_results_bvalid_q), .m_results_bready_o (m_results_bready_o),
        .m_results_bid_i (m_results_bid_q), .m_results_bresp_i (m_results_bresp_q)
    );

endmodule

`default_nettype wire
