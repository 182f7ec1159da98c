// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/host_threads.hpp"

#include <algorithm>
#include <future>
#include <system_error>
#include <vector>

// GNU's OpenMP, whose threads oneDNN takes; clang has no header of it.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}

namespace gemm64 {
namespace {

std::size_t all_threads() {
  // The setting is each thread's own; this one is asked before it changes it.
  thread_local const auto all = static_cast<std::size_t>(std::max(omp_get_max_threads(), 1));
  return all;
}

thread_local std::size_t reserved = 0;

}  // namespace

std::size_t host_threads() { return std::max(all_threads(), reserved + 1) - reserved; }

void leave_processors(std::size_t simulations) {
  all_threads();
  reserved = simulations;
  omp_set_num_threads(static_cast<int>(host_threads()));
}

void on_host_threads(std::int64_t count, std::int64_t steps,
                     const std::function<void(std::int64_t, std::int64_t)>& work) {
  constexpr std::int64_t kFewest = 1'000'000;  // some ten times what a thread's start takes
  const std::int64_t threads =
      steps < kFewest ? 1 : std::min(static_cast<std::int64_t>(host_threads()), count);
  std::vector<std::future<void>> others;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i + 1 < threads; ++i) {
    const std::int64_t last = count * (i + 1) / threads;
    try {
      others.push_back(std::async(std::launch::async, work, first, last));
    } catch (const std::system_error&) {
      break;
    }
    first = last;
  }
  work(first, count);
  for (std::future<void>& other : others) other.get();
}

}  // namespace gemm64
