// SPDX-License-Identifier: Apache-2.0
#include "host/report/progress.hpp"

#include <gtest/gtest.h>

namespace gemm64 {
namespace {

TEST(ProgressBar, TellsTheShareAndWhatIsLeft) {
  EXPECT_EQ(ProgressBar::line("classifier.1", 0.5, 3.0),
            "classifier.1  [###############...............]  50 %  3 s left");
}

TEST(ProgressBar, EstimatesNothingBeforeThereIsSomethingToEstimateFrom) {
  EXPECT_EQ(ProgressBar::line("a", 0.0, 1.0), "a  [..............................]   0 %");
}

TEST(ProgressBar, StaysWithinItsBounds) {
  EXPECT_EQ(ProgressBar::line("a", 1.5, 1.0),
            "a  [##############################] 100 %  0 s left");
}

TEST(ProgressBar, StaysSilentWithoutATerminal) {
  testing::internal::CaptureStderr();  // standard error is a file now
  {
    ProgressBar bar;
    bar.show("a", 0.5);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace gemm64
