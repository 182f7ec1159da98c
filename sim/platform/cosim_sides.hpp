// SPDX-License-Identifier: Apache-2.0
// The sides of a co-simulation that lie in the platform.
#pragma once

#include <string>

#include "host/cosim/cosim.hpp"
#include "sim/platform/platform.hpp"

namespace gemm64 {

/// The work by firmware, on a platform that has not run: programs one at a time, each tried once.
/// Of the registers ERROR alone is told, and only where a program failed.
CosimOutcome run_cosim_firmware(Platform& platform, const Elf& elf, const CosimWork& work,
                                std::string side, std::string family);

}  // namespace gemm64
