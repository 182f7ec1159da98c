// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/before_end.hpp"

#include <ctime>
#include <utility>

namespace gemm64 {

BeforeEnd::BeforeEnd(std::function<void()> last) : last_(std::move(last)) {
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&signals_, number);
    }
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  try {
    thread_ = std::thread([this] { wait(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    throw;
  }
}

BeforeEnd::~BeforeEnd() {
  over_ = true;
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void BeforeEnd::wait() {
  constexpr timespec kBetweenLooks{0, 50'000'000};
  while (!over_) {
    const int number = sigtimedwait(&signals_, nullptr, &kBetweenLooks);
    if (number <= 0) continue;
    last_();
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    raise(number);
  }
}

}  // namespace gemm64
