// SPDX-License-Identifier: Apache-2.0
// What a sweep still owes when a signal ends it.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace gemm64 {

/// As long as it lives, SIGINT, SIGTERM and SIGHUP first call `last` on a thread of its own, and
/// then end the program as catch_interrupts() has it. To be made before other threads, which
/// inherit that these signals are not theirs. Signals that the caller ignores stay ignored.
class BeforeEnd {
 public:
  explicit BeforeEnd(std::function<void()> last);
  ~BeforeEnd();
  BeforeEnd(const BeforeEnd&) = delete;
  BeforeEnd& operator=(const BeforeEnd&) = delete;

 private:
  void wait();

  const std::function<void()> last_;
  sigset_t signals_{}, before_{};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace gemm64
