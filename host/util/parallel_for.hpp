// SPDX-License-Identifier: Apache-2.0
// Work that several threads share.
#pragma once

#include <cstddef>
#include <functional>

namespace gemm64 {

/// Calls work(0) here and work(1) to work(threads - 1) each in a thread of its own, and returns
/// when all have. Where the system has no more threads, fewer are called. `work` throws nothing.
void on_threads(std::size_t threads, const std::function<void(std::size_t)>& work);

/// Calls body(i) for each i below `count`, the lowest first, on up to `jobs` threads, this one
/// among them. Once a call throws, no other begins; what was thrown first is thrown again at the
/// end.
void parallel_for(std::size_t count, std::size_t jobs,
                  const std::function<void(std::size_t)>& body);

}  // namespace gemm64
