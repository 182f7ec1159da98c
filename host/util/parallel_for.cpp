// SPDX-License-Identifier: Apache-2.0
#include "host/util/parallel_for.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gemm64 {

void on_threads(std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> others;
  try {
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
  } catch (const std::system_error&) {
    // Those that there are do all.
  }
  work(0);
  for (std::thread& other : others) other.join();
}

void parallel_for(std::size_t count, std::size_t jobs,
                  const std::function<void(std::size_t)>& body) {
  std::mutex mutex;  // of failure
  std::exception_ptr failure;
  std::atomic<std::size_t> next{0};
  on_threads(std::min(jobs, count), [&](std::size_t) {
    try {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard<std::mutex> lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gemm64
