// SPDX-License-Identifier: Apache-2.0
// The view of a GTKWave save file for Surfer: a state file, and a command file for versions that
// cannot read that state.
#pragma once

#include <cstdint>
#include <string>

namespace gemm64 {

struct SurferFiles {
  std::string state;     // FILE.surf.ron
  std::string commands;  // FILE.sucl
};

/// Returns both for the text of a save file that fits the waveform, which ends at `end` in units of
/// its resolution. Surfer shows no part of a bus: the bus is shown once in place of its lanes.
SurferFiles surfer_files(const std::string& save_file, const std::string& fst_file,
                         std::uint64_t end);

}  // namespace gemm64
