// SPDX-License-Identifier: Apache-2.0
// GTKWave's writer of FST files, as Verilator's run time brings it along, made safe on full disks.
#pragma once

#include <string>

namespace gemm64 {

/// Was anything of this waveform, which a VerilatedFstC has closed, not written? By the name that
/// it was opened with; asked once.
bool take_fst_loss(const std::string& file);

}  // namespace gemm64
