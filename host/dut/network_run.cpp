// SPDX-License-Identifier: Apache-2.0
#include "host/dut/network_run.hpp"

#include <optional>

namespace gemm64::dut {
namespace {

/// Activations are drawn from other numbers than weights.
constexpr std::uint32_t kActivationSeed = 0x10000;

double macs_of(const NetworkProduct& product) {
  return static_cast<double>(product.shape.m) * static_cast<double>(product.shape.k) *
         static_cast<double>(product.shape.n) * static_cast<double>(product.count);
}

}  // namespace

RunResult run_network(VerilatedBench& bench, const Description& description,
                      const std::vector<NetworkProduct>& products, std::uint32_t seed,
                      const std::function<void(const std::string&, double)>& progress) {
  double all = 0;
  for (const NetworkProduct& product : products) all += macs_of(product);
  double done = 0;
  RunResult result;
  for (const NetworkProduct& product : products) {
    std::optional<ProductRun> sum;
    const double share = macs_of(product) / static_cast<double>(product.count) / all;
    for (std::uint64_t i = 0; i < product.count && (!sum || sum->error.empty()); ++i) {
      const std::uint32_t own = seed + static_cast<std::uint32_t>(i);
      const Operands weights = weights_of(product, i, description.weights, own);
      const Operands activations = random_operands(product.shape.m, product.shape.k,
                                                   description.activations, own + kActivationSeed);
      ProductRun one = run_product(bench, description, activations, weights, [&](double part) {
        progress(product.name, done + part * share);
      });
      done += share;
      if (sum) {
        sum->add(one);
      } else {
        one.name = product.name;
        one.operation = product.operation;
        sum = one;
      }
    }
    result.products.push_back(*sum);
    // A design that stopped would stop again.
    if (!sum->error.empty()) break;
  }
  return result;
}

}  // namespace gemm64::dut
