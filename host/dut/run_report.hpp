// SPDX-License-Identifier: Apache-2.0
// The products that a user's array ran, as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/dut/product_run.hpp"

namespace gemm64::dut {

struct RunResult {
  std::string model;
  std::int64_t batch = 1;
  std::vector<ProductRun> products;
  std::string why_random;  // are activations, though the network was given inputs

  ProductRun total() const;
};

/// Where the cycles of `run` went, a line for each part, with its reason.
std::vector<std::string> cycles_in_words(const Description& description, const ProductRun& run);

std::string run_text(const Description& description, const RunResult& result, std::size_t width);
/// As `run` writes its reports, so that pages show it.
nlohmann::ordered_json run_json(const Description& description, const RunResult& result);

}  // namespace gemm64::dut
