// SPDX-License-Identifier: Apache-2.0
#include "host/report/progress.hpp"

#include <pty.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "host/util/columns.hpp"
#include "host/util/escaped.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

ProgressState at(const std::string& name, double done, std::optional<double> left,
                 double cycles_per_second = 0) {
  return {name, done, 4, left, cycles_per_second};
}

TEST(ProgressBar, ShowsShareTimesAndSpeed) {
  EXPECT_EQ(ProgressBar::line(at("classifier.1", 0.5, 3.0, 1.23e6), 90),
            "classifier.1  [###############...............]  50 %  4 s, 3 s left, 1.2 M cycles/s");
  EXPECT_EQ(ProgressBar::line(at("classifier.1", 0.5, 3.0, 345678), 60),
            "classifier.1  50 %  4 s, 3 s left, 346 k cycles/s");
  EXPECT_EQ(ProgressBar::line(at("classifier.1", 0.5, 700.0), 80),
            "classifier.1  [###############...............]  50 %  4 s, 12 min left");
}

TEST(ProgressBar, EstimatesNothingTooEarly) {
  EXPECT_EQ(ProgressBar::line(at("a", 0.0, std::nullopt), 80),
            "a  [..............................]   0 %  4 s");
  Remaining remaining;
  EXPECT_FALSE(remaining.left(1));
  remaining.note(0, 1);
  remaining.note(0.01, 2);
  EXPECT_FALSE(remaining.left(2));
}

// Ten seconds of reading, then 100 of work, by a clock that the test sets.
TEST(Remaining, IsWithinHalfAfterATenth) {
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
  EXPECT_EQ(ProgressBar::line(at("a", 1.5, 0.0), 80),
            "a  [##############################] 100 %  4 s, 0 s left");
}

const std::string kLongName = "features.0, features.2, features.3, features.5, classifier.1";
const std::string kWideName =
    "層の名前、とても長い名前、もう一つの層🙂🙂🙂🙂🙂🙂🙂🙂🙂"
    "🙂"
    "🙂"
    "🙂";

TEST(ProgressBar, IsCutToTheColumnsThatThereAre) {
  EXPECT_EQ(ProgressBar::line(at(kLongName, 0.5, 3.0), 60),
            "features.0, features.2...  [#####.....]  50 %  4 s, 3 s left");
  EXPECT_EQ(ProgressBar::line(at(kLongName, 0.5, 3.0), 20), "f...  50 %  3 s left");
  for (const std::string& name : {std::string("a"), kLongName, kWideName}) {
    for (const std::optional<double> left :
         {std::optional<double>(), std::optional<double>(12345)}) {
      for (std::size_t columns = 0; columns <= 160; ++columns) {
        const std::string line = ProgressBar::line(at(name, 0.5, left, 1e6), columns);
        EXPECT_LE(columns_of(line), columns) << line;
        EXPECT_EQ(escaped(line), line) << "a character was cut in two";
        if (columns >= 19) EXPECT_THAT(line, testing::HasSubstr(" 50 %"));
      }
    }
  }
}

/// What a bar writes to a terminal of that many columns, in its lifetime.
std::string on_terminal(std::uint16_t columns, const std::string& name) {
  winsize size{};
  size.ws_row = 24;
  size.ws_col = columns;
  int program = -1;
  int screen = -1;
  EXPECT_EQ(openpty(&screen, &program, nullptr, nullptr, &size), 0);
  {
    ProgressBar bar(program, ProgressBar::Form::kBar, std::chrono::milliseconds(10));
    bar.show(name, 0.25);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  close(program);
  std::string text;
  char c = 0;
  while (read(screen, &c, 1) == 1) text += c;  // fails once the other end is closed and all is read
  close(screen);
  return text;
}

TEST(ProgressBar, NeverFillsALineOfATerminal) {
  const std::string erase = "\r\x1b[K";
  for (const std::string& name : {kLongName, kWideName}) {
    for (const std::uint16_t columns : {20, 21, 40, 63, 80, 100, 120, 0}) {
      std::string text = on_terminal(columns, name);
      std::size_t drawn = 0;
      while (!text.empty()) {
        ASSERT_EQ(text.compare(0, erase.size(), erase), 0) << text;
        const std::size_t next = std::min(text.find(erase, 1), text.size());
        const std::string line = text.substr(erase.size(), next - erase.size());
        EXPECT_LT(columns_of(line), columns == 0 ? 80 : columns) << line;
        drawn += line.empty() ? 0 : 1;
        text.erase(0, next);
      }
      EXPECT_GE(drawn, 1U);
    }
  }
}

/// What a bar writes to a pipe in about 20 of its intervals, without a call.
std::string in_silence(bool erased) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  {
    ProgressBar bar(ends[1], ProgressBar::Form::kBar, std::chrono::milliseconds(10));
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

TEST(ProgressBar, GoesOnByItself) {
  EXPECT_GE(count(in_silence(false), "\r\x1b[Kcomparing  [#####"), 2U);
}

TEST(ProgressBar, IsGoneOnceErased) {
  const std::string bar = in_silence(true);
  EXPECT_EQ(count(bar, "comparing"), 1U);
  EXPECT_EQ(bar.substr(bar.size() - 4), "\r\x1b[K");
}

/// What a bar writes to a pipe while 40 of 40 parts are finished.
std::string off_terminal(ProgressBar::Form form) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  {
    ProgressBar bar(ends[1], form, std::chrono::milliseconds(1));
    constexpr int kParts = 40;
    for (int part = 0; part <= kParts; ++part) {
      bar.show("fc1", static_cast<double>(part) / kParts);
    }
  }
  close(ends[1]);
  std::string text;
  char c = 0;
  while (read(ends[0], &c, 1) == 1) text += c;
  close(ends[0]);
  return text;
}

TEST(ProgressBar, PrintsALinePerTenPercentIfAsked) {
  const std::string lines = off_terminal(ProgressBar::Form::kLines);
  EXPECT_EQ(count(lines, "\n"), 10U) << lines;
  EXPECT_THAT(lines, testing::StartsWith("gemm64: fc1: 10 %, "));
  EXPECT_EQ(count(lines, "gemm64: fc1: 100 %, "), 1U) << lines;
  EXPECT_EQ(ProgressBar::plain_line(at("a", 0.999, 0.1, 2e6)),
            "a: 99 %, 4 s, 1 s left, 2.0 M cycles/s");
}

TEST(ProgressBar, IsSilentWithoutATerminal) {
  EXPECT_EQ(off_terminal(ProgressBar::Form::kNone), "");
  testing::internal::CaptureStderr();  // standard error is a file now
  {
    ProgressBar bar;
    bar.show("a", 0.5);
    bar.show("a", 1);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace gemm64
