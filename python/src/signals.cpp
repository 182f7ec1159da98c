// SPDX-License-Identifier: Apache-2.0
#include "python/src/signals.hpp"

#include <nanobind/nanobind.h>

namespace gemm64::python {
namespace {

constexpr std::chrono::milliseconds kBetween{50};

}  // namespace

void SignalCheck::operator()() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kBetween) return;
  last_ = now;
  const nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace gemm64::python
