// SPDX-License-Identifier: Apache-2.0
#include "host/cli/child_process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "host/runtime/memory_need.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/temporary_files.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

constexpr int kBadInput = 2;
constexpr std::array<int, 3> kEnding{SIGINT, SIGTERM, SIGHUP};

bool is_child = false;
volatile pid_t child_to_signal = 0;

extern "C" void hand_on(int number) { kill(child_to_signal, number); }

/// More addresses than this machine has memory for are a damaged file's. A sanitizer needs more.
void limit_memory() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return;
#endif
#endif
  constexpr double kApart = std::uint64_t{16} << 30;  // stacks, libraries, what is never touched
  const auto bytes = static_cast<rlim_t>(machine_memory() + kApart);
  const rlimit addresses{bytes, bytes};
  setrlimit(RLIMIT_AS, &addresses);
}

/// While one lives, signals that end the program go to the child.
class SignalsToChild {
 public:
  explicit SignalsToChild(pid_t child) {
    child_to_signal = child;
    for (std::size_t i = 0; i < kEnding.size(); ++i) {
      sigaction(kEnding[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction own = {};
      own.sa_handler = hand_on;
      sigaction(kEnding[i], &own, nullptr);
    }
  }
  ~SignalsToChild() {
    for (std::size_t i = 0; i < kEnding.size(); ++i) sigaction(kEnding[i], &before_[i], nullptr);
  }
  SignalsToChild(const SignalsToChild&) = delete;
  SignalsToChild& operator=(const SignalsToChild&) = delete;

 private:
  std::array<struct sigaction, kEnding.size()> before_{};
};

}  // namespace

bool is_child_process() { return is_child; }

int run_in_child(const std::string& model, const std::function<int()>& action) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw UsageError(fmt::format("no process for ONNX Runtime: {}", strerror(errno)));
  }
  if (child == 0) {
    is_child = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kBadInput);
    limit_memory();
    return action();
  }
  const SignalsToChild signals(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw UsageError("ONNX Runtime's process is lost");
  }
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  remove_temporary_files();
  const int number = WTERMSIG(status);
  print_error(
      number == SIGKILL || number == SIGXCPU
          ? fmt::format(
                "{}: the run was killed; check the limits on memory and processor time (ulimit -a)",
                printable(model))
          : fmt::format("{}: ONNX Runtime crashed ({}); check the network with onnx.checker",
                        printable(model), strsignal(number)));
  return kBadInput;
}

}  // namespace gemm64
