// SPDX-License-Identifier: Apache-2.0
// GTKWave's writer and reader of FST files, as Verilator's run time brings them along, made safe on
// full disks.
#pragma once

#include <string>

namespace gemm64 {

/// Was anything of this waveform, which a VerilatedFstC has closed, not written? By the name that
/// it was opened with; asked once.
bool take_fst_loss(const std::string& file);

/// Did memory not suffice for the names in a waveform that was read?
bool fst_names_lost();

}  // namespace gemm64
