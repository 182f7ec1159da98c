// SPDX-License-Identifier: Apache-2.0
// Each test adds a line to the file that GEMM64_REACHED names: its name, its microseconds of the
// processor, whether it passed, and the numbers of the mutants whose places it came by.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "mutant.h"

namespace {

/// Of this process and of those that it has waited for.
double processor_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage spent{};
    getrusage(who, &spent);
    for (const timeval& time : {spent.ru_utime, spent.ru_stime}) {
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
  }
  return seconds;
}

class Reached : public testing::EmptyTestEventListener {
 public:
  explicit Reached(const char* path) : file_(path, std::ios::app) {}

 private:
  void OnTestStart(const testing::TestInfo&) override {
    // What ran before the first test is every test's.
    if (first_) std::copy_n(gemm64_host_reached, GEMM64_PLACES, before_);
    std::copy_n(before_, GEMM64_PLACES, gemm64_host_reached);
    first_ = false;
    began_ = processor_seconds();
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    file_ << info.test_suite_name() << '.' << info.name() << ' '
          << static_cast<long>((processor_seconds() - began_) * 1e6) << ' '
          << info.result()->Passed();
    for (std::size_t i = 0; i < GEMM64_PLACES; ++i) {
      if (gemm64_host_reached[i] != 0) file_ << ' ' << i;
    }
    file_ << '\n' << std::flush;
  }

  std::ofstream file_;
  double began_ = 0;
  bool first_ = true;
  unsigned char before_[GEMM64_PLACES] = {};
};

const bool listening = [] {
  const char* const path = std::getenv("GEMM64_REACHED");
  if (path != nullptr) testing::UnitTest::GetInstance()->listeners().Append(new Reached(path));
  return path != nullptr;
}();

}  // namespace
