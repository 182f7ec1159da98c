// SPDX-License-Identifier: Apache-2.0
#include "host/util/parallel_for.hpp"

#include <condition_variable>
#include <mutex>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(SideBySide, CallsEachOnceInOrder) {
  for (const std::size_t jobs : {0u, 1u, 3u, 20u}) {
    std::mutex mutex;
    std::vector<std::size_t> begun;
    std::vector<int> calls(10);
    parallel_for(calls.size(), jobs, [&](std::size_t i) {
      const std::lock_guard<std::mutex> lock(mutex);
      begun.push_back(i);
      ++calls[i];
    });
    EXPECT_EQ(calls, std::vector<int>(10, 1)) << jobs;
    if (jobs < 2) EXPECT_TRUE(std::is_sorted(begun.begin(), begun.end())) << jobs;
  }
  parallel_for(0, 4, [](std::size_t) { FAIL(); });
}

// Each of the three waits until the others have begun, too.
TEST(SideBySide, CallsAsManyAtATimeAsThereAreJobs) {
  std::mutex mutex;
  std::condition_variable all_here;
  unsigned here = 0;
  parallel_for(3, 3, [&](std::size_t) {
    std::unique_lock<std::mutex> lock(mutex);
    ++here;
    all_here.notify_all();
    all_here.wait(lock, [&] { return here == 3; });
  });
  EXPECT_EQ(here, 3u);
}

TEST(SideBySide, BeginsNothingAfterException) {
  unsigned begun = 0;
  EXPECT_THROW(parallel_for(10, 1,
                            [&](std::size_t i) {
                              ++begun;
                              if (i == 3) throw std::runtime_error("the fourth");
                            }),
               std::runtime_error);
  EXPECT_EQ(begun, 4u);
}

}  // namespace
}  // namespace gemm64
