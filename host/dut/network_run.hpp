// SPDX-License-Identifier: Apache-2.0
// All products of a network on a user's array, one after the other.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/dut/network_products.hpp"
#include "host/dut/run_report.hpp"
#include "host/dut/verilated_bench.hpp"
#include "host/kernels/tensor.hpp"

namespace gemm64::dut {

using NamedTensors = std::map<std::string, Tensor>;

struct NetworkWork {
  std::string name;
  std::optional<OnnxModel> model = {};  // which the products point into
  std::vector<NetworkProduct> products = {};
  std::optional<NamedTensors> inputs = {};  // of the model; empty: activations are random
};

/// Ends after the first product that the array does not finish. With inputs, ONNX Runtime computes
/// the network, and the array each product on the operands that the network has there. `progress`:
/// the product that runs and the share of all MACs that is done. If ONNX Runtime cannot run the
/// network, or is missing, activations are random.
RunResult run_network(VerilatedBench& bench, const Description& description,
                      const NetworkWork& work, std::uint32_t seed,
                      const std::function<void(const std::string&, double)>& progress);

}  // namespace gemm64::dut
