// SPDX-License-Identifier: Apache-2.0
// `run`: a whole network, its Linear layers on the device.
#pragma once

#include <nlohmann/json.hpp>

#include "host/cli/network_source.hpp"

namespace gemm64 {

/// Runs and checks it; returns the exit code.
int run_network_command(const NetworkOptions& options);

/// The options of a failure's file. Throws UsageError where they are not there.
NetworkOptions read_network_options(const CommonOptions& common, const nlohmann::json& own);

}  // namespace gemm64
