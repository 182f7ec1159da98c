// SPDX-License-Identifier: Apache-2.0
#include "host/report/campaign_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/says.hpp"

namespace gemm64 {
namespace {

CampaignReport example() {
  CampaignReport report;
  report.array = 8;
  report.seed = 7;
  report.jobs = 2;
  report.seconds = 0.5;
  for (const char* fault : {"weight:0,1:2@3", "hang:data@4", "weight:3,1:2@5"}) {
    TriedFault tried;
    tried.fault_try.index = report.tries.size();
    tried.fault_try.array = 8;
    tried.fault_try.shape = {1, 2, 3};
    tried.fault_try.fault = parse_fault(fault);
    report.tries.push_back(tried);
  }
  report.tries[1].outcome = FaultOutcome::kStopped;
  report.tries[1].error = "WATCHDOG";
  report.tries[2].outcome = FaultOutcome::kWrongSums;
  return report;
}

TEST(CampaignReport, IsATableByKindAndOutcome) {
  const std::string text = campaign_table(example());
  EXPECT_THAT(text, testing::AllOf(
                        Says("\nweight           2       1             1                0        0",
                             "\nall              3       1             1                0        1",
                             "3 faults on 8x8, seed 7: 0.5 s, 6.0 faults/s, 2 at a time.", "HELD"),
                        Lacks("gemm64 gemm")));
}

TEST(CampaignReport, NamesWhatMustNotBe) {
  CampaignReport report = example();
  report.tries[0].outcome = FaultOutcome::kUnnoticed;
  report.tries[1].outcome = FaultOutcome::kHung;
  const std::string text = campaign_table(report);
  EXPECT_THAT(text, Says("unnoticed: gemm64 gemm 1 2 3 --array 8", "--inject weight:0,1:2@3\n",
                         "hung: gemm64 gemm 1 2 3 --array 8", "FAILED"));
}

TEST(CampaignReport, IsALineForProgress) {
  EXPECT_EQ(campaign_line(example()),
            "1 masked, 1 found by the check, 1 stopped, 0 hung, 0 unnoticed");
}

TEST(CampaignReport, IsJsonWithTheCommandOfEveryTry) {
  const nlohmann::ordered_json json = to_json(example());
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["held"], true);
  EXPECT_EQ(json["outcomes"]["stopped"], 1);
  EXPECT_EQ(json["kinds"]["weight"]["wrong_sums"], 1);
  EXPECT_EQ(json["kinds"]["weight"]["masked"], 1);
  EXPECT_EQ(json["kinds"]["lost"]["masked"], 0);
  EXPECT_EQ(json["tries"][1]["fault"], "hang:data@4");
  EXPECT_EQ(json["tries"][1]["outcome"], "stopped");
  EXPECT_EQ(json["tries"][1]["error"], "WATCHDOG");
  EXPECT_THAT(json["tries"][2]["command"].get<std::string>(), Says("--inject weight:3,1:2@5"));
}

}  // namespace
}  // namespace gemm64
