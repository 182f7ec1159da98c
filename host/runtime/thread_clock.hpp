// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace gemm64 {

/// Seconds of processor time that this thread has had. A simulation is measured by it: what else
/// the machine does meanwhile, this program's own work included, does not count.
inline double thread_seconds() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace gemm64
