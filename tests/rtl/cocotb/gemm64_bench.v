// SPDX-License-Identifier: Apache-2.0
// The accelerator under the port names that the agent looks for: those of cocotbext-axi. An interconnect of your own goes
// between these ports and the accelerator, or replaces this module by one with the same ports (README.md).
// Read data that no valid vouches for are X; unknown_i makes a bit of valid weights X.
`default_nettype none

module gemm64_bench #(
    parameter N             = 4,
    parameter SELF_CHECK    = 0,
    parameter ADDRESS_WIDTH = 40
) (
    input  wire                     clk,
    input  wire                     rst_n,
    output wire                     irq,
    input  wire                     unknown_i,
    // Registers
    input  wire                     s_axil_awvalid,
    output wire                     s_axil_awready,
    input  wire [11:0]              s_axil_awaddr,
    input  wire [2:0]               s_axil_awprot,
    input  wire                     s_axil_wvalid,
    output wire                     s_axil_wready,
    input  wire [31:0]              s_axil_wdata,
    input  wire [3:0]               s_axil_wstrb,
    output wire                     s_axil_bvalid,
    input  wire                     s_axil_bready,
    output wire [1:0]               s_axil_bresp,
    input  wire                     s_axil_arvalid,
    output wire                     s_axil_arready,
    input  wire [11:0]              s_axil_araddr,
    input  wire [2:0]               s_axil_arprot,
    output wire                     s_axil_rvalid,
    input  wire                     s_axil_rready,
    output wire [31:0]              s_axil_rdata,
    output wire [1:0]               s_axil_rresp,
    // Weights
    output wire                     m_weights_arvalid,
    input  wire                     m_weights_arready,
    output wire                     m_weights_arid,
    output wire [ADDRESS_WIDTH-1:0] m_weights_araddr,
    output wire [7:0]               m_weights_arlen,
    output wire [2:0]               m_weights_arsize,
    output wire [1:0]               m_weights_arburst,
    output wire [2:0]               m_weights_arprot,
    output wire [3:0]               m_weights_arcache,
    input  wire                     m_weights_rvalid,
    output wire                     m_weights_rready,
    input  wire                     m_weights_rid,
    input  wire [8*N-1:0]           m_weights_rdata,
    input  wire [1:0]               m_weights_rresp,
    input  wire                     m_weights_rlast,
    // Commands, activations, parameters, operands
    output wire                     m_data_arvalid,
    input  wire                     m_data_arready,
    output wire [1:0]               m_data_arid,
    output wire [ADDRESS_WIDTH-1:0] m_data_araddr,
    output wire [7:0]               m_data_arlen,
    output wire [2:0]               m_data_arsize,
    output wire [1:0]               m_data_arburst,
    output wire [2:0]               m_data_arprot,
    output wire [3:0]               m_data_arcache,
    input  wire                     m_data_rvalid,
    output wire                     m_data_rready,
    input  wire [1:0]               m_data_rid,
    input  wire [8*N-1:0]           m_data_rdata,
    input  wire [1:0]               m_data_rresp,
    input  wire                     m_data_rlast,
    // Results
    output wire                     m_results_awvalid,
    input  wire                     m_results_awready,
    output wire                     m_results_awid,
    output wire [ADDRESS_WIDTH-1:0] m_results_awaddr,
    output wire [7:0]               m_results_awlen,
    output wire [2:0]               m_results_awsize,
    output wire [1:0]               m_results_awburst,
    output wire [2:0]               m_results_awprot,
    output wire [3:0]               m_results_awcache,
    output wire                     m_results_wvalid,
    input  wire                     m_results_wready,
    output wire [8*N-1:0]           m_results_wdata,
    output wire [N-1:0]             m_results_wstrb,
    output wire                     m_results_wlast,
    input  wire                     m_results_bvalid,
    output wire                     m_results_bready,
    input  wire                     m_results_bid,
    input  wire [1:0]               m_results_bresp
);

    localparam [8*N-1:0] UNKNOWN = {8*N{1'bx}};

    wire [8*N-1:0] weights_rdata = m_weights_rvalid ? m_weights_rdata ^ {{8*N-1{1'b0}}, unknown_i ? 1'bx : 1'b0} : UNKNOWN;
    wire [8*N-1:0] data_rdata    = m_data_rvalid ? m_data_rdata : UNKNOWN;

    gemm64 #(.N(N), .SELF_CHECK(SELF_CHECK), .ADDRESS_WIDTH(ADDRESS_WIDTH)) u_gemm64 (
        .clk_i(clk), .rst_ni(rst_n), .irq_o(irq),
        .s_axil_awvalid_i(s_axil_awvalid), .s_axil_awready_o(s_axil_awready), .s_axil_awaddr_i(s_axil_awaddr),
        .s_axil_awprot_i(s_axil_awprot), .s_axil_wvalid_i(s_axil_wvalid), .s_axil_wready_o(s_axil_wready),
        .s_axil_wdata_i(s_axil_wdata), .s_axil_wstrb_i(s_axil_wstrb), .s_axil_bvalid_o(s_axil_bvalid),
        .s_axil_bready_i(s_axil_bready), .s_axil_bresp_o(s_axil_bresp), .s_axil_arvalid_i(s_axil_arvalid),
        .s_axil_arready_o(s_axil_arready), .s_axil_araddr_i(s_axil_araddr), .s_axil_arprot_i(s_axil_arprot),
        .s_axil_rvalid_o(s_axil_rvalid), .s_axil_rready_i(s_axil_rready), .s_axil_rdata_o(s_axil_rdata),
        .s_axil_rresp_o(s_axil_rresp),
        .m_weights_arvalid_o(m_weights_arvalid), .m_weights_arready_i(m_weights_arready), .m_weights_arid_o(m_weights_arid),
        .m_weights_araddr_o(m_weights_araddr), .m_weights_arlen_o(m_weights_arlen), .m_weights_arsize_o(m_weights_arsize),
        .m_weights_arburst_o(m_weights_arburst), .m_weights_arprot_o(m_weights_arprot),
        .m_weights_arcache_o(m_weights_arcache), .m_weights_rvalid_i(m_weights_rvalid),
        .m_weights_rready_o(m_weights_rready), .m_weights_rid_i(m_weights_rid), .m_weights_rdata_i(weights_rdata),
        .m_weights_rresp_i(m_weights_rresp), .m_weights_rlast_i(m_weights_rlast),
        .m_data_arvalid_o(m_data_arvalid), .m_data_arready_i(m_data_arready), .m_data_arid_o(m_data_arid),
        .m_data_araddr_o(m_data_araddr), .m_data_arlen_o(m_data_arlen), .m_data_arsize_o(m_data_arsize),
        .m_data_arburst_o(m_data_arburst), .m_data_arprot_o(m_data_arprot), .m_data_arcache_o(m_data_arcache),
        .m_data_rvalid_i(m_data_rvalid), .m_data_rready_o(m_data_rready), .m_data_rid_i(m_data_rid),
        .m_data_rdata_i(data_rdata), .m_data_rresp_i(m_data_rresp), .m_data_rlast_i(m_data_rlast),
        .m_results_awvalid_o(m_results_awvalid), .m_results_awready_i(m_results_awready), .m_results_awid_o(m_results_awid),
        .m_results_awaddr_o(m_results_awaddr), .m_results_awlen_o(m_results_awlen), .m_results_awsize_o(m_results_awsize),
        .m_results_awburst_o(m_results_awburst), .m_results_awprot_o(m_results_awprot),
        .m_results_awcache_o(m_results_awcache), .m_results_wvalid_o(m_results_wvalid),
        .m_results_wready_i(m_results_wready), .m_results_wdata_o(m_results_wdata), .m_results_wstrb_o(m_results_wstrb),
        .m_results_wlast_o(m_results_wlast), .m_results_bvalid_i(m_results_bvalid), .m_results_bready_o(m_results_bready),
        .m_results_bid_i(m_results_bid), .m_results_bresp_i(m_results_bresp)
    );

endmodule

`default_nettype wire
