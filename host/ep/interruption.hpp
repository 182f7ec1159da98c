// SPDX-License-Identifier: Apache-2.0
// Ctrl-C while a device works, in a program that has a handler of its own for it.
#pragma once

#include <stdexcept>

namespace gemm64::ep {

/// Ends a run after Ctrl-C.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("the run was interrupted") {}
};

/// As long as one lives, SIGINT is noted before the program's own handler, such as Python's, is
/// called, since that one may wait until the run has ended. Programs without a handler end, or
/// ignore the signal, as before.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Throws Interrupted where a signal has come since this was made. Cheap enough for inner loops.
  void check() const;

 private:
  unsigned before_;
};

}  // namespace gemm64::ep
