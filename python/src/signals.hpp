// SPDX-License-Identifier: Apache-2.0
// Ctrl-C while C++ runs without Python's lock.
#pragma once

#include <chrono>

namespace gemm64::python {

/// Asks Python now and then whether a signal has come. To be called without the GIL, by code that
/// computes for long; cheap enough for inner loops.
class SignalCheck {
 public:
  /// Throws nanobind::python_error where a handler of Python's raised: KeyboardInterrupt of Ctrl-C.
  void operator()();

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace gemm64::python
