// SPDX-License-Identifier: Apache-2.0
// Adds up what all models of a process counted, and writes it at its end to the file
// GEMM64_COVERAGE, in the format of verilator_coverage. A model's counts are read when its memory
// is freed.
#include "coverage.hpp"

#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

namespace {

// Literals of the generated code, so that their addresses tell a point, and soon.
using Place = std::tuple<const char*, int, int, const char*, const char*, const char*>;

struct Counts {
  std::map<Place, std::uint64_t*> places;  // the total that each has
  std::map<std::string, std::uint64_t> totals;
  // A model's count and what it is added to: several points, where modules share a signal.
  std::multimap<std::uintptr_t, std::uint64_t*> living;
  std::mutex mutex;

  /// Adds what stands between two addresses, which are a model's no more from now on.
  void gather(std::uintptr_t begin, std::uintptr_t end) {
    const auto first = living.lower_bound(begin), last = living.lower_bound(end);
    for (auto i = first; i != last; ++i)
      *i->second += *reinterpret_cast<const std::uint32_t*>(i->first);
    living.erase(first, last);
  }
};

// Lives as long as anything may be freed.
Counts& counts() {
  static Counts& all = *new Counts;
  return all;
}

bool counting = false;
thread_local bool inside = false;  // what is freed in here holds no counts

void freed(void* memory) {
  const std::size_t size = counting && !inside ? malloc_usable_size(memory) : 0;
  if (size < 64) return;  // smaller than any model
  inside = true;
  {
    const std::lock_guard<std::mutex> lock(counts().mutex);
    counts().gather(reinterpret_cast<std::uintptr_t>(memory),
                    reinterpret_cast<std::uintptr_t>(memory) + size);
  }
  inside = false;
}

/// A point as verilator_coverage writes it.
std::string point(const char* file, int line, int column, const std::string& module,
                  const char* hierarchy, const char* what) {
  std::string text;
  const auto add = [&text](const char* key, const std::string& value) {
    text += std::string("\1") + key + '\2' + value;
  };
  add("f", file);
  add("l", std::to_string(line));
  add("n", std::to_string(column));
  add("t", module.substr(2, module.find('/') - 2));
  add("page", module);
  add("o", what);
  add("h", hierarchy);
  return text;
}

void write() {
  const char* const path = std::getenv("GEMM64_COVERAGE");
  if (path == nullptr) return;
  inside = true;
  counts().gather(0, UINTPTR_MAX);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) std::_Exit(3);
  std::fputs("# SystemC::Coverage-3\n", file);
  for (const auto& [point, count] : counts().totals) {
    std::fprintf(file, "C '%s' %llu\n", point.c_str(), static_cast<unsigned long long>(count));
  }
  if (std::fclose(file) != 0) std::_Exit(3);
}

}  // namespace

void gemm64_cover(const void* count, const char* file, int line, int column, const char* module,
                  const char* hierarchy, const char* what) {
  inside = true;
  {
    const std::lock_guard<std::mutex> lock(counts().mutex);
    if (counts().totals.empty()) std::atexit(write);
    std::uint64_t*& total = counts().places[{file, line, column, module, hierarchy, what}];
    if (total == nullptr) {
      total = &counts().totals[point(file, line, column, module, hierarchy, what)];
    }
    counting = true;
    counts().living.emplace(reinterpret_cast<std::uintptr_t>(count), total);
  }
  inside = false;
}

void operator delete(void* memory) noexcept {
  freed(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  operator delete(memory);
}
