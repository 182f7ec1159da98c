// SPDX-License-Identifier: Apache-2.0
#include "host/util/interrupt.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "host/util/temporary_files.hpp"

namespace gemm64 {
namespace {

// All that the handler touches stands here from the beginning to the end: a handler must not
// allocate, nor see what another thread frees.
constexpr int kSlots = 256;
constexpr std::size_t kNoteBytes = 512;
constexpr int kEndedByLibrary = 2;  // nothing was checked: what ran was not given what it needs

struct Slot {
  std::atomic<int> state{0};  // 0: free, 1: being written, 2: a name
  std::array<char, PATH_MAX> name{};
};
using Slots = std::array<Slot, kSlots>;

Slots& make_slots() {
  static Slots own;
  void* const memory =
      mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? own : *static_cast<Slots*>(memory);  // zeros are free slots
}

// Shared with child processes, whose files this one removes if they crash.
Slots& slots = make_slots();

std::array<std::array<char, kNoteBytes>, 2> notes;
std::atomic<unsigned> note{0};
std::atomic<bool> note_is_read{false};  // by the handler: from then on no note is written

void say(const char* text) {
  const ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

}  // namespace

void remove_temporary_files() {
  for (Slot& slot : slots) {
    if (slot.state == 2) unlink(slot.name.data());
  }
}

namespace {

std::atomic<bool> ended_by_signal{false};

extern "C" void end_program(int number) {
  // A second signal may reach another thread while the first one's message is written.
  if (ended_by_signal.exchange(true)) {
    for (;;) pause();
  }
  remove_temporary_files();
  if (isatty(STDERR_FILENO) != 0) say("\r\x1b[K");  // a progress bar
  say(number == SIGINT ? "gemm64: interrupted" : "gemm64: ended by a signal");
  note_is_read = true;
  const char* const finished = notes[note % 2].data();
  say(*finished != '\0' ? " " : "; nothing was finished yet");
  say(finished);
  say("\n");
  _exit(128 + number);
}

std::atomic<bool> ending{false};

extern "C" void end_by_library() {
  if (ending) return;
  remove_temporary_files();
  say("gemm64: a library ended the program; more memory or threads may be needed (ulimit -a)\n");
  _exit(kEndedByLibrary);
}

}  // namespace

void catch_interrupts() {
  std::atexit(end_by_library);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    if (sigaction(number, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = end_program;
    sigfillset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

void end_is_wanted() { ending = true; }

namespace {
std::mutex note_mutex;  // of writers: the handler takes none
bool note_is_last = false;

void write_note(std::string_view text) {
  if (note_is_read || note_is_last) return;
  const unsigned next = note + 1;
  auto& to = notes[next % 2];
  const std::size_t size = std::min(text.size(), kNoteBytes - 1);
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    to[i] = byte < 0x20 || byte == 0x7f ? '?' : text[i];
  }
  to[size] = '\0';
  note = next;
}
}  // namespace

void note_finished(std::string_view text) {
  const std::lock_guard<std::mutex> lock(note_mutex);
  write_note(text);
}

void note_finished_last(std::string_view text) {
  const std::lock_guard<std::mutex> lock(note_mutex);
  write_note(text);
  note_is_last = true;
}

TemporaryName::TemporaryName(const std::filesystem::path& path) : slot_(-1) {
  const std::string name = std::filesystem::absolute(path).string();
  if (name.size() >= PATH_MAX) return;
  for (int i = 0; i < kSlots; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    int free = 0;
    if (!slot.state.compare_exchange_strong(free, 1)) continue;
    std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
    slot.state = 2;
    slot_ = i;
    return;
  }
}

TemporaryName::~TemporaryName() {
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].state = 0;
}

}  // namespace gemm64
