// SPDX-License-Identifier: Apache-2.0
#include "host/dut/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>

namespace gemm64::dut {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  return ends;
}

/// Only what may be called between fork and exec.
[[noreturn]] void become(const std::vector<char*>& words, int in, int out, int error,
                         const char* folder) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (in >= 0) dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  if (error >= 0) dup2(error, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  if (*folder == '\0' || chdir(folder) == 0) execvp(words[0], words.data());
  _exit(127);
}

std::vector<char*> arguments(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Finished run_program_in(const std::filesystem::path& folder,
                        const std::vector<std::string>& words) {
  const std::array<int, 2> out = make_pipe();
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::vector<char*> list = arguments(words);
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) become(list, nothing, out[1], out[1], folder.c_str());
  close(out[1]);
  close(nothing);
  Finished finished;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = read(out[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    finished.output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(out[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

bool has_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Child::Child(const std::vector<std::string>& words) {
  const std::array<int, 2> in = make_pipe();
  const std::array<int, 2> out = make_pipe();
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const std::vector<char*> list = arguments(words);
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) become(list, in[0], out[1], nothing, "");
  close(in[0]);
  close(out[1]);
  close(nothing);
  to_ = in[1];
  from_ = out[0];
}

Child::~Child() { end(); }

bool Child::send(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t put = write(to_, next, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    next += put;
    bytes -= static_cast<std::size_t>(put);
  }
  return true;
}

bool Child::receive(void* data, std::size_t bytes, int seconds) {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    pollfd one{from_, POLLIN, 0};
    const int ready = poll(&one, 1, seconds * 1000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = read(from_, next, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::string Child::end() {
  if (pid_ < 0) return "";
  close(to_);
  close(from_);
  // It ends by itself when its input does, unless the design never returns.
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 100 && ended == 0; ++i) {
    ended = waitpid(pid_, &status, WNOHANG);
    if (ended == 0) usleep(2000);
  }
  const bool killed = ended == 0;
  if (killed) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  if (killed) return "did not return";
  if (WIFSIGNALED(status)) {
    return fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace gemm64::dut
