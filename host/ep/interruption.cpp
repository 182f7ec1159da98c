// SPDX-License-Identifier: Apache-2.0
#include "host/ep/interruption.hpp"

#include <csignal>
#include <mutex>

namespace gemm64::ep {
namespace {

std::mutex mutex;
unsigned users = 0;
bool is_ours = false;            // the handler
struct sigaction previous = {};  // the program's
volatile std::sig_atomic_t signals = 0;

void note(int signal, siginfo_t* info, void* context) {
  signals = signals + 1;
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else {
    previous.sa_handler(signal);
  }
}

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

}  // namespace

Interruption::Interruption() : before_(static_cast<unsigned>(signals)) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (users++ != 0) return;
  sigaction(SIGINT, nullptr, &previous);
  if (!has_handler(previous)) return;
  struct sigaction own = previous;
  own.sa_flags |= SA_SIGINFO;
  own.sa_sigaction = note;
  is_ours = sigaction(SIGINT, &own, nullptr) == 0;
}

Interruption::~Interruption() {
  const std::lock_guard<std::mutex> lock(mutex);
  if (--users != 0 || !is_ours) return;
  is_ours = false;
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  // Unless the program has set another one meanwhile.
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == note) {
    sigaction(SIGINT, &previous, nullptr);
  }
}

void Interruption::check() const {
  if (static_cast<unsigned>(signals) != before_) throw Interrupted();
}

}  // namespace gemm64::ep
