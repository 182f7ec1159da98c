// SPDX-License-Identifier: Apache-2.0
// How many threads the host's own products take: no more than simulations beside them leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace gemm64 {

/// As many devices are simulated on other threads: what this thread computes from now on leaves a
/// processor to each of them, and has at least one itself. That holds for oneDNN, too.
void leave_processors(std::size_t simulations);

/// Threads for what this thread computes, itself included: all processors, or what OMP_NUM_THREADS
/// says, less what leave_processors() leaves.
std::size_t host_threads();

/// Calls work(first, last) for the parts of [0, count), one on each of these threads; for fewer
/// than a million `steps` in all, or where no thread can be started, all is done on this one.
void on_host_threads(std::int64_t count, std::int64_t steps,
                     const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace gemm64
