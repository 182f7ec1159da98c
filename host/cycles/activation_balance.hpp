// SPDX-License-Identifier: Apache-2.0
// Do the loads of activations fit the MATMULs, where products and windows take turns?
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/cycles/shares.hpp"
#include "host/device/command_types.hpp"

namespace gemm64::cycles {

/// The LOAD_ACTIVATIONS and MATMULs of a program, in turns: as long as all are of products, or all
/// of windows, one scratchpad serves them without being emptied.
class ActivationBalance {
 public:
  void load(const LoadActivationsCommand& load, std::size_t index);
  /// A MATMUL of a window claims that many words.
  void take(const MatmulCommand& matmul, std::size_t index, std::uint64_t words);
  /// A DEPTHWISE takes them as a product does.
  void take(std::size_t index, std::uint64_t words) { add(taken_, false, {index, words}, 0); }

  /// Throws UsageError, naming the command, if the loads of a turn do not bring the very words
  /// that its MATMULs take; where one of these frees pixels before they are there, or none ever
  /// does.
  void check(const std::vector<Command>& program) const;

 private:
  /// What the commands of one turn load, or take.
  struct Turn {
    bool window;
    std::vector<Share> words;
    std::vector<Share> pixels;  // loaded, or freed
  };
  static void add(std::vector<Turn>& turns, bool window, const Share& words, std::uint64_t pixels);
  static void check_pixels(const std::vector<Command>& program, const Turn& loaded,
                           const Turn& taken);

  std::vector<Turn> loaded_, taken_;
};

}  // namespace gemm64::cycles
