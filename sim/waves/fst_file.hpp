// SPDX-License-Identifier: Apache-2.0
// What a waveform file holds, read with the library that Verilator's run time brings along.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gemm64 {

/// Signals by their full name without their range, such as "top.unit.data_q[3]", each with its
/// range, such as "[7:0]"; empty for a single bit. Throws UsageError if `file` is no FST file.
std::map<std::string, std::string> fst_signals(const std::string& file);

/// The time of the last change. Throws UsageError if `file` is no FST file.
std::uint64_t fst_end(const std::string& file);

/// The first time, not before `from`, at which the signal of one bit is 1; nothing where it never
/// is or does not exist. Throws UsageError if `file` is no FST file.
std::optional<std::uint64_t> fst_first_one(const std::string& file, const std::string& signal,
                                           std::uint64_t from = 0);

}  // namespace gemm64
