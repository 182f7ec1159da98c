// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace gemm64::dut {

/// A directory of its own below `below`, gone with this. Throws UsageError if it cannot be made.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& below);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace gemm64::dut
