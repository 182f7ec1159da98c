// SPDX-License-Identifier: Apache-2.0
// Whole passes side by side, each on a device and a thread of its own: where a program takes what
// the device wrote before it, and so cannot run ahead.
#pragma once

#include "host/session/network_run.hpp"

namespace gemm64 {

/// Runs the network as run_network() does on one device, wall times apart, each pass by itself on
/// one of the devices that the options of `runner` have. Nothing is looked at again where a device
/// fails.
NetworkRun run_side_by_side(const Executor& executor, const NetworkInputs& inputs,
                            JobRunner& runner, const RunReport& report, const RunProgress& progress,
                            const Executor* exact, const Executable* compiled);

}  // namespace gemm64
