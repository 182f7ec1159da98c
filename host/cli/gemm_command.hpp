// SPDX-License-Identifier: Apache-2.0
// `gemm M K N`: one product.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/cli/options.hpp"

namespace gemm64 {

struct GemmOptions : CommonOptions {
  GemmOptions() { precision = Precision::kInt8; }

  std::vector<std::int64_t> sizes;  // M, K, N, or none
  std::string a, b, output;
};

/// Runs and checks it; returns the exit code.
int run_gemm(const GemmOptions& options);

/// The options of a failure's file. Throws UsageError where they are not there.
GemmOptions read_gemm_options(const CommonOptions& common, const nlohmann::json& own);

}  // namespace gemm64
