// SPDX-License-Identifier: Apache-2.0
// Reports read back: two of them compared, and files that are none. Pages are tests/page's.

#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using testing::StartsWith;

class Report : public Program {
 protected:
  void SetUp() override { write_report("a.json"); }

  /// A report of one product, in `file`.
  void write_report(const std::string& file, const std::string& options = "") const {
    ASSERT_EQ(run("gemm 64 128 64 --device tlm --json " + file + " " + options).code, 0);
  }
};

TEST_F(Report, ComparesCyclesOfTwoRuns) {
  write_report("b.json", "--memory shared");
  const Outcome outcome = run("report --compare a.json b.json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out,
              StartsWith("A: a.json\nB: b.json\nmemory/sharing: independent in A, shared in B\n"));
  EXPECT_THAT(
      outcome.out,
      Says("gemm               838     965    +127  +15.16 %  33,088  33,088      0  0.00 %\n",
           "activations.wait_memory   100  227   +127    +127.00 %\n",
           "compute.wait_activations    1  128   +127  +12700.00 %\n"));
}

TEST_F(Report, OfEqualRunsSaysSo) {
  expect(0, "report --compare a.json a.json", " counters are equal.\n");
}

TEST_F(Report, ReportsSizesThatDiffer) {
  ASSERT_EQ(run("gemm 64 64 64 --device tlm --json b.json").code, 0);
  EXPECT_THAT(run("report --compare a.json b.json").out,
              Says("gemm: 64x128x64 in A, 64x64x64 in B\n"));
}

TEST_F(Report, EndsWithOneWhereARunWasNotVerified) {
  nlohmann::ordered_json wrong = json_of<nlohmann::ordered_json>("a.json");
  wrong["verified"] = false;
  write("b.json", wrong.dump());
  for (const auto& [files, which] :
       {std::pair("a.json b.json", "B"), std::pair("b.json a.json", "A"),
        std::pair("b.json b.json", "both runs")}) {
    expect(1, std::string("report --compare ") + files,
           std::string("\nNOT VERIFIED: ") + which + ".\n");
  }
}

TEST_F(Report, PrintsOneReportAndItsVerdict) {
  for (const bool held : {true, false}) {
    nlohmann::ordered_json changed = json_of<nlohmann::ordered_json>("a.json");
    changed["verified"] = held;
    write("b.json", changed.dump());
    const Outcome outcome = run("report b.json");
    EXPECT_EQ(outcome.code, held ? 0 : 1);
    EXPECT_THAT(outcome.out, Says("gemm   64x128x64  524,288     838        838", "32.312 KiB"));
    EXPECT_THAT(outcome.out, Says(held ? "\nVERIFIED.\n" : "\nNOT VERIFIED.\n"));
  }
  ASSERT_EQ(run(std::string("analyze ") + GEMM64_TEST_DATA + "/alexnet.onnx --json b.json").code,
            0);
  const Outcome outcome = run("report b.json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, testing::AllOf(Says("1,084,179"), Lacks("VERIFIED")));
  expect_bad("report nowhere.json", "nowhere.json: cannot be read");
}

TEST_F(Report, RefusesWhatIsNoReportByName) {
  write("text.json", "VERIFIED\n");
  write("newer.json", R"({"format": 7, "model": "m", "total": {}, "array": 8, "layers": []})");
  write("other.json", R"({"name": "project"})");
  write("nested.json", std::string(1000000, '['));
  expect_bad("report --compare a.json text.json", "text.json: this is no JSON (byte 1)");
  expect_bad("report --compare newer.json a.json",
             "newer.json: a report of format 7; this program reads format 1");
  expect_bad("report --compare a.json other.json", "other.json: this is no report of gemm64");
  expect_bad("report --compare a.json nested.json",
             "nested.json: it nests more than 32 levels deep");
  expect_bad("report --compare a.json nowhere.json", "nowhere.json: cannot be read");
}

TEST_F(Report, RefusesTwoOfDifferentKinds) {
  ASSERT_EQ(run(std::string("analyze ") + GEMM64_TEST_DATA + "/alexnet.onnx --json b.json").code,
            0);
  expect_bad("report --compare a.json b.json",
             "a.json is a report of run or gemm, b.json one of analyze");
  expect(0, "report --compare b.json b.json",
         "layers of both                 1,084,179  1,084,179       0  0.00 %");
}

TEST_F(Report, SaysWhatItNeeds) {
  expect_bad("report", "give a report that --json wrote, or two with --compare A.json B.json");
  expect_bad("report a.json --timeline a.json", "requires");
  expect_bad("report --compare a.json", "at least 2 values are required");
  expect_bad("report a.json --compare a.json a.json", "excludes");
  expect_bad("report --compare a.json a.json --timeline a.json", "requires");
}

}  // namespace
}  // namespace gemm64::cli_test
