// SPDX-License-Identifier: Apache-2.0
#include "host/report/progress.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

namespace gemm64 {
namespace {

TEST(ProgressBar, TellsTheShareAndWhatIsLeft) {
  EXPECT_EQ(ProgressBar::line("classifier.1", 0.5, 3.0),
            "classifier.1  [###############...............]  50 %  3 s left");
}

TEST(ProgressBar, EstimatesNothingBeforeThereIsSomethingToEstimateFrom) {
  EXPECT_EQ(ProgressBar::line("a", 0.0, std::nullopt), "a  [..............................]   0 %");
  Remaining remaining;
  EXPECT_FALSE(remaining.left(1));
  remaining.note(0, 1);
  remaining.note(0.01, 2);
  EXPECT_FALSE(remaining.left(2));
}

// Ten seconds of reading, then 100 of work, told by a clock that the test sets.
TEST(Remaining, IsWithinHalfOfWhatItTakesAfterATenthOfTheWork) {
  for (const double first : {0.0, 0.3}) {  // a part may be there from before
    Remaining remaining;
    remaining.note(first, 0);
    for (int second = 10; second <= 110; ++second) {
      const double done = first + (1 - first) * (second - 10) / 100;
      remaining.note(done, second);
      if (second < 20) continue;
      ASSERT_TRUE(remaining.left(second));
      EXPECT_LE(*remaining.left(second), 1.5 * (110 - second) + 1e-9) << second;
      EXPECT_GE(*remaining.left(second), (110 - second) / 1.5 - 1e-9) << second;
    }
  }
}

TEST(ProgressBar, StaysWithinItsBounds) {
  EXPECT_EQ(ProgressBar::line("a", 1.5, 0.0),
            "a  [##############################] 100 %  0 s left");
}

/// What a bar writes to a pipe in about 20 of its intervals, in which nobody calls it.
std::string in_silence(bool terminal, bool erased) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  {
    ProgressBar bar(ends[1], terminal, std::chrono::milliseconds(10));
    bar.show("comparing", 0.5);
    if (erased) bar.erase();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  close(ends[1]);
  std::string text;
  char c = 0;
  while (read(ends[0], &c, 1) == 1) text += c;
  close(ends[0]);
  return text;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++found;
  }
  return found;
}

TEST(ProgressBar, GoesOnWhileNobodyCalls) {
  EXPECT_GE(count(in_silence(true, false), "\r\x1b[Kcomparing  [#####"), 2U);
  EXPECT_GE(count(in_silence(false, false), "gemm64: comparing: 50 %, 0 s"), 1U);
}

TEST(ProgressBar, IsGoneOnceErased) {
  const std::string bar = in_silence(true, true);
  EXPECT_EQ(count(bar, "comparing"), 1U);
  EXPECT_EQ(bar.substr(bar.size() - 4), "\r\x1b[K");
  EXPECT_EQ(in_silence(false, true), "");
}

TEST(ProgressBar, SaysTheSameOnALineOfItsOwn) {
  EXPECT_EQ(ProgressBar::plain_line("a", 0.999, 99.9, 0.1), "a: 99 %, 100 s, 1 s left");
}

TEST(ProgressBar, StaysSilentForTenSecondsWithoutATerminal) {
  testing::internal::CaptureStderr();  // standard error is a file now
  {
    ProgressBar bar;
    bar.show("a", 0.5);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace gemm64
