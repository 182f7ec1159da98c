// SPDX-License-Identifier: Apache-2.0
// Which commands of a program are alike, and which of them each engine has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/device/commands.hpp"
#include "host/device/registers.hpp"

namespace gemm64::cycles {

class Shapes {
 public:
  explicit Shapes(const std::vector<Command>& program);

  /// Commands of one shape differ in nothing but addresses and the places of pixels, which change
  /// no more than how bursts are cut, and in the pixels that a MATMUL frees.
  std::uint32_t of(std::size_t command) const { return shapes_[command]; }
  /// Where a command goes: to an engine, or else to none, by its shape.
  std::uint32_t way_of(std::size_t command) const { return ways_[command]; }
  /// Indices of an engine's commands, in order.
  const std::vector<std::size_t>& of(Engine engine) const {
    return of_engines_[static_cast<std::size_t>(engine)];
  }

 private:
  std::vector<std::uint32_t> shapes_, ways_;
  std::vector<std::size_t> of_engines_[static_cast<std::size_t>(Engine::kOperands) + 1];
};

}  // namespace gemm64::cycles
