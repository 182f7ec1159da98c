// SPDX-License-Identifier: Apache-2.0
// `run --model`: a whole network from an ONNX file.
#pragma once

#include <string>
#include <vector>

#include "host/cli/options.hpp"

namespace gemm64 {

struct ModelOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string output;
  std::vector<std::string> dumps;
};

/// `common.batch` is 0 where no batch was asked for. Returns the exit code.
int run_model(const ModelOptions& options, const CommonOptions& common);

}  // namespace gemm64
