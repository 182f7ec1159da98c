// SPDX-License-Identifier: Apache-2.0
// What a waveform file holds, read with the library that Verilator's run time brings along.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gemm64 {

/// Signals by their full name without their range, such as "top.unit.data_q[3]", each with its
/// range, such as "[7:0]"; empty for a single bit. Throws UsageError where `file` is no FST file.
std::map<std::string, std::string> fst_signals(const std::string& file);

/// The first time at which the signal of one bit is 1; nothing where it never is or does not exist.
/// Throws UsageError where `file` is no FST file.
std::optional<std::uint64_t> fst_first_one(const std::string& file, const std::string& signal);

/// The clocks of the first tile that starts in the file: in `first` its first row is read, in
/// `last` its last one.
struct FirstTile {
  std::uint64_t first;
  std::uint64_t last;
};

/// Nothing where no tile starts in the file. Throws UsageError where `file` is no FST file.
std::optional<FirstTile> fst_first_tile(const std::string& file);

}  // namespace gemm64
