// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/test.hpp"

namespace gemm64 {

/// Units of time in a cycle of a waveform.
inline constexpr std::uint64_t kCycleTime = 1000;

/// The big-endian number at a place of an FST file's header: 9 is the first time of the waveform,
/// 17 the last.
inline std::uint64_t fst_word(const std::filesystem::path& path, std::streamoff at) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(at);
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word = word << 8 | static_cast<std::uint8_t>(file.get());
  return word;
}

}  // namespace gemm64
