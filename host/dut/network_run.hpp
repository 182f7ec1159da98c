// SPDX-License-Identifier: Apache-2.0
// All products of a network on a user's array, one after the other.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/dut/network_products.hpp"
#include "host/dut/run_report.hpp"
#include "host/dut/verilated_bench.hpp"

namespace gemm64::dut {

/// Ends after the first product that the array does not finish. `progress`: the product that runs
/// and the share of all MACs that is done.
RunResult run_network(VerilatedBench& bench, const Description& description,
                      const std::vector<NetworkProduct>& products, std::uint32_t seed,
                      const std::function<void(const std::string&, double)>& progress);

}  // namespace gemm64::dut
