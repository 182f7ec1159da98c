// SPDX-License-Identifier: Apache-2.0
// Campaigns of faults as a user runs them, and the commands that they print.

#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::json;

class FaultsCommand : public Program {};

TEST_F(FaultsCommand, ReportsOutcomeOfEveryFault) {
  const Outcome outcome = run("faults --count 124 --array 4 --seed 5 --jobs 2 --json f.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Says("124 faults on 4x4, seed 5", "lanes: lane-line",
                                "HELD: no fault hung, none that changed a result went"));
  // What Verilator prints of failed assertions is no part of the report.
  EXPECT_THAT(outcome.out, Lacks("%Error"));
  const json report = json_of("f.json");
  EXPECT_EQ(report["count"], 124);
  EXPECT_EQ(report["outcomes"]["hung"], 0);
  EXPECT_EQ(report["outcomes"]["unnoticed"], 0);
  EXPECT_EQ(report["tries"].size(), 124u);
  EXPECT_EQ(report["programs"].size(), 4u);
}

TEST_F(FaultsCommand, FlipsTwoBitsOfAWordAtOnce) {
  ASSERT_EQ(
      run("faults --flips 2 --program products --count 90 --array 4 --seed 5 --json f.json").code,
      0);
  const json report = json_of("f.json");
  EXPECT_EQ(report["flips"], 2);
  EXPECT_FALSE(report["kinds"].contains("hang"));
  unsigned wrong = 0;
  for (const json& entry : report["tries"]) {
    if (entry["outcome"] != "wrong_sums" || ++wrong > 3) continue;
    const Outcome outcome = run(entry["command"].get<std::string>().substr(7));
    EXPECT_EQ(outcome.code, 1);
    const std::string text = entry["fault"];
    const std::size_t both = text.find(" and ");
    EXPECT_THAT(outcome.out, Says(" differ"));
    EXPECT_THAT(entry["command"].get<std::string>(),
                Says("--inject " + text.substr(0, both), "--inject " + text.substr(both + 5)));
  }
  EXPECT_GT(wrong, 0u);
}

TEST_F(FaultsCommand, GivesCommandsThatRepeatEveryTry) {
  ASSERT_EQ(run("faults --program products --count 240 --array 4 --seed 5 --json f.json").code, 0);
  const json report = json_of("f.json");
  std::map<std::string, int> repeated;  // by kind and outcome: one of each is enough
  for (const json& entry : report["tries"]) {
    const std::string fault = entry["fault"];
    const std::string end = entry["outcome"];
    if (++repeated[fault.substr(0, fault.find(':')) + " " + end] > 1) continue;
    const std::string command = entry["command"];
    SCOPED_TRACE(end + ": " + command);
    ASSERT_EQ(command.substr(0, 7), "gemm64 ");
    const Outcome outcome = run(command.substr(7));
    EXPECT_EQ(outcome.code, end == "masked" ? 0 : 1) << outcome.out << outcome.err;
    if (end == "masked") {
      EXPECT_THAT(outcome.out, Says("VERIFIED"));
    } else if (end == "wrong_sums") {
      EXPECT_THAT(outcome.out, Says(" differ"));
    } else if (end == "wrong_counters") {
      EXPECT_THAT(outcome.out, testing::AllOf(Says("counter "), Lacks(" differ")));
    } else {
      EXPECT_THAT(outcome.err, Says(entry["error"].get<std::string>()));
    }
  }
  EXPECT_GT(repeated.size(), 20u);
}

TEST_F(FaultsCommand, RepeatsTryOfAProgramByNumber) {
  for (const char* const program : {"convolutions", "lanes", "vector"}) {
    SCOPED_TRACE(program);
    const std::string campaign = std::string("faults --array 4 --seed 6 --program ") + program;
    ASSERT_EQ(run(campaign + " --count 40 --json f.json").code, 0);
    const json report = json_of("f.json");
    EXPECT_EQ(report["programs"].size(), 1u);
    for (const json& entry : report["tries"]) {
      if (entry["outcome"] != "wrong_sums") continue;
      expect(0, entry["command"].get<std::string>().substr(7) + " --json g.json",
             entry["diagnosis"].get<std::string>(), "first wrong");
      EXPECT_EQ(json_of("g.json")["tries"][0], entry);
      break;
    }
  }
}

TEST_F(FaultsCommand, ReplaysFaultsOfPortsAndResults) {
  for (const char* fault :
       {"lost:weights.r@60", "repeated:results.w@60", "slverr:data@60", "result:3:2@60"}) {
    SCOPED_TRACE(fault);
    expect(1, std::string("gemm 8 24 8 --array 8 --memory-latency 7 --watchdog 1500 --inject ") +
                  fault);
    const json failure = json_of("failure.json");
    EXPECT_EQ(failure["options"]["watchdog"], 1500);
    const Outcome again = run("replay failure.json");
    EXPECT_EQ(again.code, 1) << again.out;
    EXPECT_THAT(again.out + again.err, Lacks("did not fail again"));
    EXPECT_EQ(json_of("failure.json")["failure"]["first_wrong"], failure["failure"]["first_wrong"]);
    fs::remove(folder_ / "failure.json");
  }
}

TEST_F(FaultsCommand, AnInterruptionSaysWhatWasFound) {
  // How long it takes to start and to finish the first fault depends on the machine: a signal
  // before that finds nothing to tell.
  const std::string line = "cd " + folder_.string() +
                           " && for t in 1 2 4 8 16 32; do timeout -s INT $t " + program_path() +
                           " faults --count 1000000 --array 4 --json f.json > out 2> err; "
                           "if grep -q masked err; then break; fi; done";
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_THAT(contents(folder_ / "err"),
              Says("gemm64: interrupted in faults: ", " masked, ", " 0 unnoticed, "));
  EXPECT_FALSE(fs::exists(folder_ / "f.json"));
}

TEST_F(FaultsCommand, ReportsOutcomeOfBrokenPrograms) {
  const std::string command = "faults --kind broken-programs --array 4 --seed 5 --json f.json";
  expect(0, command + " --count 30 --jobs 2", "30 broken programs on 4x4, seed 5",
         "HELD: both refuse the same");
  const json all = json_of("f.json");
  ASSERT_EQ(all["tries"].size(), 30u);
  const json& entry = all["tries"][17];
  EXPECT_EQ(entry["command"],
            "gemm64 faults --kind broken-programs --array 4 --seed 5 --first 17 --count 1");
  expect(0, entry["command"].get<std::string>().substr(7) + " --json f.json",
         entry["changes"][0].get<std::string>());
  EXPECT_EQ(json_of("f.json")["tries"][0], entry);
}

TEST_F(FaultsCommand, CountsEndsInANetwork) {
  const std::string command = "faults --model lenet --array 8 --count 63 --repeat 3 --json f.json";
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, Says("silent", "top-1 changed", "63 flipped bits in 1 program of ",
                                "HELD: 3 tries repeated on the RTL throughout"));
  EXPECT_THAT(outcome.out, Lacks("%Error"));
  const json report = json_of("f.json");
  EXPECT_EQ(report["held"], true);
  EXPECT_EQ(report["structures"]["weight"]["tries"], 3);
  const json& all = report["all"];
  EXPECT_EQ(all["tries"], 63);
  EXPECT_GT(all["silent"]["count"], 0);
  EXPECT_LT(all["silent"]["low"], all["silent"]["share"]);
  EXPECT_GT(all["silent"]["high"], all["silent"]["share"]);
  ASSERT_EQ(report["tries"].size(), 63u);
  expect(0, "faults --model lenet --array 8 --count 21 --first 42 --jobs 1 --json g.json",
         "NOT REPEATED");
  const json own = json_of("g.json")["tries"];
  for (std::size_t i = 0; i < 21; ++i) {
    EXPECT_EQ(own[i]["fault"], report["tries"][42 + i]["fault"]);
    EXPECT_EQ(own[i]["outcome"], report["tries"][42 + i]["outcome"]);
  }
}

TEST_F(FaultsCommand, PutsFaultsIntoANetworkOfAFile) {
  expect(0,
         "faults --model " GEMM64_TEST_DATA
         "/depthwise.onnx --array 4 --count 42 --repeat 2 --json f.json",
         "depthwise.onnx on 4x4", "HELD: 2 tries");
}

TEST_F(FaultsCommand, RefusesWhatMakesNoSense) {
  expect_refused("faults --model lenet --kind broken-programs", "--model");
  expect_refused("faults --model lenet --flips 2", "--flips");
  expect_refused("faults --repeat 2", "--model");
  expect_refused("faults --model none.onnx", "none.onnx");
  expect_refused("faults --kind other", "broken-programs");
  expect_refused("faults --program other", "convolutions");
  expect_refused("faults --kind broken-programs --program lanes", "--kind injected");
  expect_refused("faults --kind broken-programs --flips 2", "--kind injected");
  expect_refused("faults --array 16", "16");
  expect_refused("faults --count 0", "0");
  expect_refused("faults --jobs 0", "0");
}

}  // namespace
}  // namespace gemm64::cli_test
