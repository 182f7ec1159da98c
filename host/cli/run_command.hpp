// SPDX-License-Identifier: Apache-2.0
// `run`: a network's Linear layers, or a whole network from an ONNX file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/cli/options.hpp"
#include "host/cli/run_model.hpp"
#include "host/models/network.hpp"

namespace gemm64 {

struct NetworkOptions : CommonOptions {
  std::string network = "alexnet";
  std::string data = kFashionMnistFolder;
  ModelOptions model;
};

/// Runs and checks it; returns the exit code.
int run_network_command(const NetworkOptions& options);

/// The options of a failure's file. Throws UsageError where they are not there.
NetworkOptions read_network_options(const CommonOptions& common, const nlohmann::json& own);

}  // namespace gemm64
