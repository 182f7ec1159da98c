// SPDX-License-Identifier: Apache-2.0
#include "host/faults/campaign_report.hpp"

#include "tests/test.hpp"

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
  report.tries[1].outcome = FaultOutcome::kDeviceError;
  report.tries[1].error = "WATCHDOG";
  report.tries[2].outcome = FaultOutcome::kWrongSums;
  return report;
}

class CampaignReportTest : public testing::Test {
 protected:
  CampaignReport report = example();
};

TEST_F(CampaignReportTest, IsATableByKindAndOutcome) {
  const std::string text = campaign_table(example());
  EXPECT_THAT(text, testing::AllOf(
                        Says("\nproducts: weight      2       1              1 ",
                             "\nproducts: hang        1       0              0 ",
                             "\nall                   3       1              1 ",
                             "3 faults on 8x8, seed 7: 0.5 s, 6.0 faults/s, 2 at a time.", "HELD"),
                        Lacks("gemm64 gemm"),
                        // Nothing of the kind was tried.
                        Lacks("products: activation"), Lacks("vector:")));
}

TEST_F(CampaignReportTest, NamesWhatMustNotBe) {
  report.tries[0].outcome = FaultOutcome::kUnnoticed;
  report.tries[1].outcome = FaultOutcome::kHung;
  const std::string text = campaign_table(report);
  EXPECT_THAT(text, Says("unnoticed: products, weight:0,1:2@3: gemm64 gemm 1 2 3 --array 8",
                         "--inject weight:0,1:2@3\n",
                         "hung: products, hang:data@4: gemm64 gemm 1 2 3 --array 8", "FAILED"));
}

TEST_F(CampaignReportTest, NamesWhatWasMisdiagnosed) {
  report.tries[2].fault_try.program = FaultProgram::kLanes;
  report.tries[2].diagnosis = "what it says\n";
  report.tries[2].misdiagnosed = true;
  EXPECT_THAT(
      campaign_table(report),
      testing::AllOf(
          Says("misdiagnosed: lanes, weight:3,1:2@5: gemm64 faults --program all", "FAILED"),
          Lacks("what it says")));
  EXPECT_EQ(to_json(report)["tries"][2]["diagnosis"], "what it says\n");
  EXPECT_EQ(to_json(report)["tries"][2]["misdiagnosed"], true);
  EXPECT_EQ(to_json(report)["misdiagnosed"], 1);
  EXPECT_EQ(to_json(report)["programs"]["lanes"]["misdiagnosed"], 1);
}

TEST_F(CampaignReportTest, ShowsSingleTry) {
  report.tries.erase(report.tries.begin(), report.tries.begin() + 2);
  report.tries[0].diagnosis = "what it says\n";
  EXPECT_THAT(campaign_table(report), Says("wrong_sums: products, weight:3,1:2@5", "what it says"));
}

TEST_F(CampaignReportTest, ShowsFoundFaults) {
  EXPECT_THAT(campaign_table(report), Lacks("faults that matter"));
  EXPECT_FALSE(to_json(report)["outcomes"].contains("run_again"));
  report.self_check = true;
  for (const std::uint64_t cycles : {30, 10, 20, 1000}) {
    report.tries.push_back(report.tries.front());
    report.tries.back().outcome = FaultOutcome::kRunAgain;
    report.tries.back().found_after = cycles;
    report.tries.back().matters = cycles != 1000;
  }
  report.tries[2].matters = true;
  EXPECT_THAT(campaign_table(report), Says("products: weight: 4", "\nall: 4 "));
  const nlohmann::ordered_json json = to_json(report);
  EXPECT_EQ(json["outcomes"]["run_again"], 4);
  EXPECT_EQ(json["programs"]["products"]["self_found"]["weight"],
            nlohmann::ordered_json::parse(R"({"matter": 4, "run_again": 3, "device_error": 0,
                                              "median_clocks": 20, "most_clocks": 30})"));
  EXPECT_EQ(json["tries"][3]["found_after"], 30);
  EXPECT_EQ(json["tries"][3]["matters"], true);
  EXPECT_THAT(campaign_line(report), Says("1 by the device (and run again: 4)"));
}

TEST_F(CampaignReportTest, ShowsChosenPrograms) {
  report.programs = FaultProgram::kProducts;
  EXPECT_THAT(campaign_table(report), Lacks("vector: table"));
  EXPECT_EQ(to_json(report)["programs"].size(), 1u);
}

TEST_F(CampaignReportTest, IsALineForProgress) {
  EXPECT_EQ(campaign_line(example()),
            "1 masked, 1 found by the host, 1 by the device, 0 stopped elsewhere, 0 hung, 0 "
            "unnoticed");
}

TEST_F(CampaignReportTest, WritesCommandsAsJson) {
  const nlohmann::ordered_json json = to_json(example());
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["held"], true);
  EXPECT_EQ(json["outcomes"]["device_error"], 1);
  EXPECT_EQ(json["misdiagnosed"], 0);
  EXPECT_EQ(json["programs"]["products"]["kinds"]["weight"]["wrong_sums"], 1);
  EXPECT_EQ(json["programs"]["vector"]["outcomes"]["masked"], 0);
  EXPECT_EQ(json["kinds"]["weight"]["wrong_sums"], 1);
  EXPECT_EQ(json["kinds"]["weight"]["masked"], 1);
  EXPECT_EQ(json["kinds"]["lost"]["masked"], 0);
  EXPECT_EQ(json["tries"][1]["fault"], "hang:data@4");
  EXPECT_EQ(json["tries"][1]["outcome"], "device_error");
  EXPECT_EQ(json["tries"][1]["program"], "products");
  EXPECT_EQ(json["tries"][1]["error"], "WATCHDOG");
  EXPECT_THAT(json["tries"][2]["command"].get<std::string>(), Says("--inject weight:3,1:2@5"));
}

}  // namespace
}  // namespace gemm64
