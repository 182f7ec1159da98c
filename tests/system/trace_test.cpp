// SPDX-License-Identifier: Apache-2.0
// Waveforms: the window that was asked for, in a file that GTKWave opens.

#include "tests/fst_word.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

class Trace : public InFolder {
 protected:
  RtlOptions options(std::uint64_t begin, std::uint64_t end) const {
    RtlOptions options = Rig::options(8);
    options.trace_file = file_.string();
    options.trace_begin = begin;
    options.trace_end = end;
    return options;
  }

  /// Traces one job and returns the file's size.
  std::uintmax_t trace(std::uint64_t begin, std::uint64_t end) {
    {
      Rig rig(options(begin, end));
      std::mt19937 random(1000);
      expect_exact(rig, {{30, 33, 17}}, random);
    }
    return std::filesystem::exists(file_) ? std::filesystem::file_size(file_) : 0;
  }

  const std::filesystem::path file_ = folder_ / "t.fst";
};

// An FST file begins with its header: block type 0, length 329, first and last time (big endian).
TEST_F(Trace, HoldsTheWindowThatWasAskedFor) {
  ASSERT_GT(trace(200, 300), 1000u);
  std::ifstream file(file_, std::ios::binary);
  EXPECT_EQ(file.get(), 0);
  EXPECT_EQ(fst_word(file_, 1), 329u);
  EXPECT_EQ(fst_word(file_, 9), 200 * kCycleTime);
  EXPECT_EQ(fst_word(file_, 17), 300 * kCycleTime - kCycleTime / 2);
}

TEST_F(Trace, AShorterWindowMakesASmallerFile) {
  const std::uintmax_t longer = trace(100, 700);
  const std::uintmax_t shorter = trace(100, 150);
  EXPECT_GT(shorter, 0u);
  EXPECT_LT(shorter, longer);
}

TEST_F(Trace, WithoutAnEndGoesOnToTheLastCycle) {
  ASSERT_GT(trace(50, std::numeric_limits<std::uint64_t>::max()), 1000u);
  EXPECT_EQ(fst_word(file_, 9), 50 * kCycleTime);
  EXPECT_GT(fst_word(file_, 17), 700 * kCycleTime);
}

TEST_F(Trace, AWindowThatIsNeverReachedLeavesNoFile) {
  EXPECT_EQ(trace(1'000'000'000, 2'000'000'000), 0u);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(Trace, AnEmptyWindowIsAUsageError) {
  EXPECT_THROW(make_rtl_device(options(100, 100)), UsageError);
  EXPECT_THROW(make_rtl_device(options(100, 99)), UsageError);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(Trace, AFileThatCannotBeWrittenIsAUsageError) {
  RtlOptions nowhere = options(0, 100);
  nowhere.trace_file =
      (std::filesystem::path(testing::TempDir()) / "no_such_folder" / "t.fst").string();
  EXPECT_THROW(make_rtl_device(nowhere), UsageError);
}

TEST(Models, LiveInParallel) {
  std::mt19937 random(1010);
  auto first = std::make_unique<Rig>(8);
  auto second = std::make_unique<Rig>(8);
  auto third = std::make_unique<Rig>(4);
  expect_exact(*second, {{9, 9, 9}}, random);
  third.reset();
  first.reset();
  expect_exact(*second, {{9, 9, 9}}, random);
}

TEST(Models, ThatDoNotExistAreUsageErrors) {
  RtlOptions options;
  const auto refusal = [&options] { return message_of([&] { make_rtl_device(options); }); };
  options.n = 6;
  EXPECT_THAT(refusal(), Says("2, 4, 8, 16, 32, 64"));
  options.n = 16;  // there is one for tests, but none that can be looked into
  options.debug = true;
  EXPECT_THAT(refusal(), Says("N = 16"));
  options.n = 8;
  options.tight = true;
  EXPECT_THAT(refusal(), Says("tight"));
}

TEST(Options, OutOfRangeAreUsageErrors) {
  RtlOptions options = Rig::options(8);
  options.memory.latency = 0;
  EXPECT_THROW(make_rtl_device(options), UsageError);
  options = Rig::options(8, 1.0);
  EXPECT_THROW(make_rtl_device(options), UsageError);
  options = Rig::options(8, -0.1);
  EXPECT_THROW(make_rtl_device(options), UsageError);
  options = Rig::options(8);
  options.memory_bytes = 0;
  EXPECT_THROW(make_rtl_device(options), UsageError);
}

}  // namespace
}  // namespace gemm64::system_test
