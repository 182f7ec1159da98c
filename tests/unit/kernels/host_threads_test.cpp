// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/host_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

// OpenMP's, of which clang has no header.
extern "C" {
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}

namespace gemm64 {
namespace {

constexpr std::int64_t kMany = 1'000'000'000;

TEST(HostThreads, LeaveAProcessorToEachSimulation) {
  const std::size_t all = host_threads();
  ASSERT_GE(all, 1U);
  leave_processors(1);
  EXPECT_EQ(host_threads(), all > 1 ? all - 1 : 1);
  leave_processors(1000);
  EXPECT_EQ(host_threads(), 1U);
  leave_processors(0);
  EXPECT_EQ(host_threads(), all);
}

TEST(HostThreads, DoAllPartsOnce) {
  for (const std::int64_t steps : {std::int64_t{1}, kMany}) {
    for (const std::int64_t count : {0, 1, 2, 3, 100}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
      on_host_threads(count, steps, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) ++done[static_cast<std::size_t>(i)];
      });
      for (const auto& one : done) EXPECT_EQ(one, 1);
    }
  }
}

TEST(HostThreads, OfOpenMpAreThoseThatAreLeft) {
  std::vector<int> threads;
  std::thread other([&] {  // which counts its own threads, however many processors there are
    omp_set_num_threads(3);
    for (const std::size_t simulations : {1, 5, 0}) {
      leave_processors(simulations);
      threads.push_back(omp_get_max_threads());
    }
  });
  other.join();
  EXPECT_EQ(threads, (std::vector<int>{2, 1, 3}));
}

TEST(HostThreads, HaveEqualParts) {
  using Part = std::pair<std::int64_t, std::int64_t>;
  std::set<Part> parts;
  std::thread other([&] {
    omp_set_num_threads(3);
    std::mutex mutex;
    on_host_threads(10, kMany, [&](std::int64_t first, std::int64_t last) {
      const std::lock_guard<std::mutex> lock(mutex);
      parts.emplace(first, last);
    });
  });
  other.join();
  EXPECT_EQ(parts, (std::set<Part>{{0, 3}, {3, 6}, {6, 10}}));
}

TEST(HostThreads, HandOnWhatIsThrown) {
  EXPECT_THROW(on_host_threads(100, kMany,
                               [](std::int64_t first, std::int64_t) {
                                 if (first == 0) throw std::runtime_error("the first part");
                               }),
               std::runtime_error);
}

}  // namespace
}  // namespace gemm64
