// SPDX-License-Identifier: Apache-2.0
// Programs for the platform's processor.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gemm64 {

/// An executable for RV64, little endian.
struct Elf {
  struct Segment {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes;  // zeros up to its size in memory included
  };
  struct Function {
    std::uint64_t address = 0;
    std::string name;
  };

  std::string file;
  std::uint64_t entry = 0;
  std::vector<Segment> segments;
  std::vector<Function> functions;  // by address

  /// The function that holds `address`: the last that begins at or before it; "?" where none does.
  const std::string& function(std::uint64_t address) const;
};

/// Reads an ELF file. Throws UsageError, one line with the file and what is wrong, if it cannot
/// be read, is no executable for RV64, or is damaged.
Elf load_elf(const std::string& file);

}  // namespace gemm64
