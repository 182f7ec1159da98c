// SPDX-License-Identifier: Apache-2.0
// GEMM64_HOST_MUTANT selects a mutant. GEMM64_REACHED names a file to which each test adds a line:
// its name, its microseconds of the processor, and the numbers of the mutants whose places it came
// by.
#include "mutant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

extern "C" {
unsigned gemm64_host_mutant = 0;
unsigned char gemm64_host_reached[65536];
}

namespace {

// Before any object of a library is made.
__attribute__((constructor(101))) void select() {
  const char* const number = std::getenv("GEMM64_HOST_MUTANT");
  if (number != nullptr) {
    gemm64_host_mutant = static_cast<unsigned>(std::strtoul(number, nullptr, 10));
  }
}

class Reached : public testing::EmptyTestEventListener {
 public:
  explicit Reached(const char* path) : file_(path, std::ios::app) {}

 private:
  void OnTestStart(const testing::TestInfo&) override {
    // What ran before the first test is every test's.
    if (!first_) std::copy(std::begin(before_), std::end(before_), gemm64_host_reached);
    if (first_) std::copy(std::begin(gemm64_host_reached), std::end(gemm64_host_reached), before_);
    first_ = false;
    began_ = std::clock();
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    const std::clock_t took = std::clock() - began_;
    file_ << info.test_suite_name() << '.' << info.name() << ' ' << took * 1000000 / CLOCKS_PER_SEC
          << ' ' << info.result()->Passed();
    for (std::size_t i = 0; i < std::size(gemm64_host_reached); ++i) {
      if (gemm64_host_reached[i] != 0) file_ << ' ' << i;
    }
    file_ << '\n' << std::flush;
  }

  std::ofstream file_;
  std::clock_t began_ = 0;
  bool first_ = true;
  unsigned char before_[65536] = {};
};

const bool listening = [] {
  const char* const path = std::getenv("GEMM64_REACHED");
  if (path != nullptr) testing::UnitTest::GetInstance()->listeners().Append(new Reached(path));
  return path != nullptr;
}();

}  // namespace
