// SPDX-License-Identifier: Apache-2.0
// What commands of windows must have in common with those before them.
#pragma once

#include <cstdint>

#include "host/device/command_types.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// The commands of windows in the order of their dispatch, since the reset.
class WindowOrder {
 public:
  /// Why the accelerator refuses the next command of a window with BAD_OPERAND; nullptr where it
  /// does not, as far as the commands before it are concerned.
  const char* refusal(const Command& command, const Geometry& geometry) const;
  /// It is dispatched.
  void add(const Command& command);

 private:
  const char* refusal(const SetWindowCommand& set) const;
  const char* refusal(const MatmulCommand& matmul, const Geometry& geometry) const;
  const char* refusal(const LoadActivationsCommand& load) const;
  void add(const SetWindowCommand& set);
  void add(const MatmulCommand& matmul);
  void add(const LoadActivationsCommand& load);
  /// Is it a chunk that begins a convolution?
  bool begins(const LoadActivationsCommand& load) const;
  /// A SET_WINDOW has come for chunks that have not.
  bool parted() const { return begun_ && layer_ != planes_ && !stale_; }

  bool described_ = false;                        // there was a SET_WINDOW
  bool begun_ = false;                            // there was a chunk
  bool stale_ = false;                            // the last chunks have no SET_WINDOW yet
  bool ahead_ = false;                            // MATMULs have come whose chunks have not
  std::uint32_t layer_ = 0;                       // CAPACITY of the last SET_WINDOW
  std::uint32_t out_height_ = 0, out_width_ = 0;  // of it, too
  std::uint32_t planes_ = 0;                      // and of the last chunk
  std::uint32_t end_ = 0;                         // slot after the last chunk
  std::uint32_t kept_ = 0;  // pixels of all chunks that no MATMUL frees, modulo 2^32
};

}  // namespace gemm64
