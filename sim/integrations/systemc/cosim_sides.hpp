// SPDX-License-Identifier: Apache-2.0
// The sides of a co-simulation that lie in the platform.
#pragma once

#include <string>
#include <vector>

#include "host/check/cosim.hpp"
#include "sim/integrations/systemc/platform.hpp"

namespace gemm64 {

/// The work as jobs. `expected`: whose results the CRCs are to be of; nullptr: none are compared.
std::vector<FirmwareJob> firmware_jobs(const CosimWork& work,
                                       const CosimOutcome* expected = nullptr);

/// What came of the work on a platform whose firmware was given such jobs, and has ended. Of the
/// registers only ERROR is reported, and only where a program failed. Throws std::runtime_error
/// where the CRC that the firmware found of a result is not that of its bytes.
CosimOutcome firmware_outcome(Platform& platform, const CosimWork& work,
                              const FirmwareReport& report);

/// The work by firmware, on a platform that has not run: programs one at a time, each tried once.
CosimOutcome run_cosim_firmware(Platform& platform, const Elf& elf, const CosimWork& work,
                                std::string side, std::string family);

}  // namespace gemm64
