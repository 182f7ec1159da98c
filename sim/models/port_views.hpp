// SPDX-License-Identifier: Apache-2.0
// The ports of the accelerator by name, in any model of it. Only verilated_device.hpp includes
// this.
#pragma once

#include "sim/waves/signal_view.hpp"

namespace gemm64 {

/// Every port of the module gemm64, in its order. The model outlives them.
template <class Model>
NamedSignals port_views(const Model& model) {
  NamedSignals ports;
  const auto add = [&ports](const char* name, const auto& port) {
    ports.emplace_back(name, SignalView{&port, sizeof port, 0});
  };
  add("clk_i", model.clk_i);
  add("rst_ni", model.rst_ni);
  add("irq_o", model.irq_o);
  add("s_axil_awvalid_i", model.s_axil_awvalid_i);
  add("s_axil_awready_o", model.s_axil_awready_o);
  add("s_axil_awaddr_i", model.s_axil_awaddr_i);
  add("s_axil_awprot_i", model.s_axil_awprot_i);
  add("s_axil_wvalid_i", model.s_axil_wvalid_i);
  add("s_axil_wready_o", model.s_axil_wready_o);
  add("s_axil_wdata_i", model.s_axil_wdata_i);
  add("s_axil_wstrb_i", model.s_axil_wstrb_i);
  add("s_axil_bvalid_o", model.s_axil_bvalid_o);
  add("s_axil_bready_i", model.s_axil_bready_i);
  add("s_axil_bresp_o", model.s_axil_bresp_o);
  add("s_axil_arvalid_i", model.s_axil_arvalid_i);
  add("s_axil_arready_o", model.s_axil_arready_o);
  add("s_axil_araddr_i", model.s_axil_araddr_i);
  add("s_axil_arprot_i", model.s_axil_arprot_i);
  add("s_axil_rvalid_o", model.s_axil_rvalid_o);
  add("s_axil_rready_i", model.s_axil_rready_i);
  add("s_axil_rdata_o", model.s_axil_rdata_o);
  add("s_axil_rresp_o", model.s_axil_rresp_o);
  add("m_weights_arvalid_o", model.m_weights_arvalid_o);
  add("m_weights_arready_i", model.m_weights_arready_i);
  add("m_weights_arid_o", model.m_weights_arid_o);
  add("m_weights_araddr_o", model.m_weights_araddr_o);
  add("m_weights_arlen_o", model.m_weights_arlen_o);
  add("m_weights_arsize_o", model.m_weights_arsize_o);
  add("m_weights_arburst_o", model.m_weights_arburst_o);
  add("m_weights_arprot_o", model.m_weights_arprot_o);
  add("m_weights_arcache_o", model.m_weights_arcache_o);
  add("m_weights_rvalid_i", model.m_weights_rvalid_i);
  add("m_weights_rready_o", model.m_weights_rready_o);
  add("m_weights_rid_i", model.m_weights_rid_i);
  add("m_weights_rdata_i", model.m_weights_rdata_i);
  add("m_weights_rresp_i", model.m_weights_rresp_i);
  add("m_weights_rlast_i", model.m_weights_rlast_i);
  add("m_data_arvalid_o", model.m_data_arvalid_o);
  add("m_data_arready_i", model.m_data_arready_i);
  add("m_data_arid_o", model.m_data_arid_o);
  add("m_data_araddr_o", model.m_data_araddr_o);
  add("m_data_arlen_o", model.m_data_arlen_o);
  add("m_data_arsize_o", model.m_data_arsize_o);
  add("m_data_arburst_o", model.m_data_arburst_o);
  add("m_data_arprot_o", model.m_data_arprot_o);
  add("m_data_arcache_o", model.m_data_arcache_o);
  add("m_data_rvalid_i", model.m_data_rvalid_i);
  add("m_data_rready_o", model.m_data_rready_o);
  add("m_data_rid_i", model.m_data_rid_i);
  add("m_data_rdata_i", model.m_data_rdata_i);
  add("m_data_rresp_i", model.m_data_rresp_i);
  add("m_data_rlast_i", model.m_data_rlast_i);
  add("m_results_awvalid_o", model.m_results_awvalid_o);
  add("m_results_awready_i", model.m_results_awready_i);
  add("m_results_awid_o", model.m_results_awid_o);
  add("m_results_awaddr_o", model.m_results_awaddr_o);
  add("m_results_awlen_o", model.m_results_awlen_o);
  add("m_results_awsize_o", model.m_results_awsize_o);
  add("m_results_awburst_o", model.m_results_awburst_o);
  add("m_results_awprot_o", model.m_results_awprot_o);
  add("m_results_awcache_o", model.m_results_awcache_o);
  add("m_results_wvalid_o", model.m_results_wvalid_o);
  add("m_results_wready_i", model.m_results_wready_i);
  add("m_results_wdata_o", model.m_results_wdata_o);
  add("m_results_wstrb_o", model.m_results_wstrb_o);
  add("m_results_wlast_o", model.m_results_wlast_o);
  add("m_results_bvalid_i", model.m_results_bvalid_i);
  add("m_results_bready_o", model.m_results_bready_o);
  add("m_results_bid_i", model.m_results_bid_i);
  add("m_results_bresp_i", model.m_results_bresp_i);
  return ports;
}

}  // namespace gemm64
