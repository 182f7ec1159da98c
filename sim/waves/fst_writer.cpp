// SPDX-License-Identifier: Apache-2.0
// Compiled instead of Verilator's verilated_fst_c.cpp, which it includes. That file includes
// GTKWave's fstapi.c in turn, which checks no write, keeps scratch files next to the waveform and
// in the folder for temporary files, and maps them into memory: a full disk ends the program with
// SIGBUS. Here its scratch files lie in memory, what cannot be written of them is zero instead, and
// every error of the waveform itself is remembered until somebody asks. Reading a waveform unpacks
// its names into a scratch file too, and looks for their end for ever where that could not be
// written: they are kept in memory that no limit of file sizes and no disk cuts.
#include "sim/waves/fst_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>

#include "verilated.h"
#include "verilated_fst_c.h"

namespace {

std::mutex mutex;
std::map<std::FILE*, std::string> waveforms;  // those being written
std::set<std::string> lost;
bool names_lost = false;    // of a waveform that is read
bool scratch_lost = false;  // of any of them: which, a mapping cannot tell

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::FILE* open_scratch() {
  const int file = memfd_create("gemm64 waveform", MFD_CLOEXEC);
  return file < 0 ? nullptr : fdopen(file, "w+b");
}

/// A file that is nothing but memory.
struct Memory {
  std::string bytes;
  std::size_t at = 0;
  bool lost = false;  // no memory was left: what follows reads as zeros, which end every name
};

ssize_t read_memory(void* cookie, char* to, std::size_t count) {
  auto& memory = *static_cast<Memory*>(cookie);
  if (memory.at >= memory.bytes.size()) {
    if (!memory.lost) return 0;
    std::memset(to, 0, count);
    return static_cast<ssize_t>(count);
  }
  const std::size_t got = memory.bytes.copy(to, count, memory.at);
  memory.at += got;
  return static_cast<ssize_t>(got);
}

ssize_t write_memory(void* cookie, const char* from, std::size_t count) {
  auto& memory = *static_cast<Memory*>(cookie);
  try {
    if (memory.at + count > memory.bytes.size()) memory.bytes.resize(memory.at + count);
  } catch (...) {
    memory.lost = true;
    const std::lock_guard<std::mutex> lock(mutex);
    names_lost = true;
    return 0;
  }
  memory.bytes.replace(memory.at, count, from, count);
  memory.at += count;
  return static_cast<ssize_t>(count);
}

int seek_memory(void* cookie, off64_t* offset, int from) {
  auto& memory = *static_cast<Memory*>(cookie);
  const off64_t base = from == SEEK_SET   ? 0
                       : from == SEEK_CUR ? static_cast<off64_t>(memory.at)
                                          : static_cast<off64_t>(memory.bytes.size());
  if (base + *offset < 0) return -1;
  *offset += base;
  memory.at = static_cast<std::size_t>(*offset);
  return 0;
}

int close_memory(void* cookie) {
  delete static_cast<Memory*>(cookie);
  return 0;
}

std::FILE* open_memory() {
  Memory* const memory = new (std::nothrow) Memory;
  if (memory == nullptr) return nullptr;
  return fopencookie(memory, "w+", {read_memory, write_memory, seek_memory, close_memory});
}

std::FILE* open_waveform(const char* name, const char* mode) {
  const bool written = std::strchr(mode, 'w') != nullptr;
  if (written && ends_with(name, ".hier")) return open_scratch();
  // As the reader calls it: FILE.hier_PID_ADDRESS.
  if (written &&
      std::strstr(name, (".hier_" + std::to_string(getpid()) + "_").c_str()) != nullptr) {
    return open_memory();
  }
  std::FILE* const file = std::fopen(name, mode);
  if (written && file != nullptr) {
    const std::lock_guard<std::mutex> lock(mutex);
    waveforms[file] = name;
  }
  return file;
}

int close_waveform(std::FILE* file) {
  const bool failed = std::ferror(file) != 0;
  const int result = std::fclose(file);
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = waveforms.find(file);
  if (found == waveforms.end()) return result;
  if (failed || result != 0) lost.insert(found->second);
  waveforms.erase(found);
  return result;
}

/// Maps a scratch file whole, though a limit of file sizes may have cut it.
void* map_scratch(void* address, std::size_t bytes, int protection, int flags, int file,
                  off_t offset) {
  struct stat found {};
  if (fstat(file, &found) == 0 && static_cast<std::size_t>(found.st_size) >= bytes) {
    return mmap(address, bytes, protection, flags, file, offset);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex);
    scratch_lost = true;
  }
  return mmap(address, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

}  // namespace

namespace gemm64 {

bool take_fst_loss(const std::string& file) {
  const std::lock_guard<std::mutex> lock(mutex);
  return lost.erase(file) != 0 || scratch_lost;
}

bool fst_names_lost() {
  const std::lock_guard<std::mutex> lock(mutex);
  return names_lost;
}

}  // namespace gemm64

#define tmpfile open_scratch
#define fopen open_waveform
#define fclose close_waveform
#define mmap map_scratch
#include "verilated_fst_c.cpp"  // NOLINT(bugprone-suspicious-include)
