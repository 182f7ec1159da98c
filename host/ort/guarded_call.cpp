// SPDX-License-Identifier: Apache-2.0
#include "host/ort/guarded_call.hpp"

#include <atomic>
#include <csetjmp>
#include <csignal>

#include "host/ort/api.hpp"

namespace gemm64::ort {
namespace {

/// Where to continue on this thread after a division of integers that the processor refuses.
thread_local sigjmp_buf* after_fault = nullptr;

struct sigaction earlier_action;
std::atomic<bool> guards_runs{false};

void at_fault(int signal) {
  if (after_fault != nullptr) siglongjmp(*after_fault, 1);
  sigaction(signal, &earlier_action, nullptr);  // and the instruction runs again
}

/// Sets `after_fault` as long as it exists.
class Guard {
 public:
  explicit Guard(sigjmp_buf& buffer) : before_(after_fault) { after_fault = &buffer; }
  ~Guard() { after_fault = before_; }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  sigjmp_buf* const before_;
};

}  // namespace

void call_guarded(const std::function<void()>& action) {
  static const bool is_installed = [] {
    struct sigaction handler {};
    handler.sa_handler = at_fault;
    handler.sa_flags = SA_NODEFER;
    return sigaction(SIGFPE, &handler, &earlier_action) == 0;
  }();
  static_cast<void>(is_installed);
  sigjmp_buf here;
  const Guard guard(here);
  if (sigsetjmp(here, 1) != 0) {
    throw Error(ORT_FAIL, "a quotient of integers overflows");
  }
  action();
}

void guard_runs() { guards_runs = true; }
bool runs_are_guarded() { return guards_runs; }

}  // namespace gemm64::ort
