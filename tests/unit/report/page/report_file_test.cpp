// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/report_file.hpp"

#include <unistd.h>

#include "host/report/json.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

class ReportFile : public InFolder {
 protected:
  nlohmann::ordered_json read(const std::string& text) const {
    write("report.json", text);
    return read_report(file_);
  }

  /// The message names the file and says why.
  void expect_refused(const std::string& text, const std::string& why) const {
    SCOPED_TRACE(text.substr(0, 100));
    EXPECT_THAT([&] { read(text); }, Fails(file_, why));
  }

  static std::string with_layer(const std::string& layer) {
    return R"({"format": 1, "model": "m", "total": {}, "array": 8, "layers": [)" + layer + "]}";
  }

  const std::string file_ = folder_ / "report.json";
};

TEST_F(ReportFile, ReadsWhatTheProgramWrites) {
  RunReport report;
  report.model = "net";
  report.layers.emplace_back();
  report.layers[0].name = "fc";
  const nlohmann::ordered_json json = to_json(report);
  EXPECT_EQ(json.begin().key(), "format");
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(read(json.dump()), json);
  EXPECT_FALSE(is_analysis(json));
  EXPECT_TRUE(
      is_analysis(read(R"({"model": "m", "total": {}, "array": {"n": 64}, "layers": []})")));
}

TEST_F(ReportFile, ReadsOldReports) {
  EXPECT_NO_THROW(read(R"({"model": "m", "total": {}, "array": 8, "layers": []})"));
}

TEST_F(ReportFile, RefusesWhatIsNoJson) {
  expect_refused("", "no JSON");
  expect_refused("VERIFIED", "no JSON (byte 1)");
  expect_refused(R"({"model": )", "no JSON");
  expect_refused(R"({"model": 1e400})", "no JSON");
  expect_refused(std::string(100000, '['), "nests more than 32 levels");
}

TEST_F(ReportFile, RefusesOtherFormats) {
  expect_refused(R"({"format": 2, "model": "m"})",
                 "a report of format 2; this program reads format 1");
  expect_refused(R"({"format": "one", "model": "m"})", "format is not a whole number");
}

TEST_F(ReportFile, RefusesWhatIsNoReport) {
  expect_refused("[]", "no report of gemm64");
  expect_refused("{}", "no report of gemm64");
  expect_refused(R"({"traceEvents": []})", "no report of gemm64");
  expect_refused(R"({"model": "m", "total": {}, "array": 8})", "no report of gemm64");
}

TEST_F(ReportFile, RefusesFieldsThatAreNotOfTheirKind) {
  expect_refused(R"({"model": 5, "total": {}, "array": 8, "layers": []})", "model is not text");
  expect_refused(R"({"model": "m", "total": {}, "array": "8", "layers": []})", "array is neither");
  expect_refused(R"({"model": "m", "total": {}, "array": 8, "layers": {}})",
                 "layers is not an array");
  expect_refused(with_layer("5"), "layers[0] is not an object");
  expect_refused(with_layer("{}"), "layers[0] has no name");
  expect_refused(with_layer(R"({"name": "l", "cycles": -1})"),
                 "layers[0].cycles is not a whole number");
  expect_refused(with_layer(R"({"name": "l", "bytes": {"weights": "many"}})"),
                 "layers[0].bytes.weights is not a whole number");
  expect_refused(with_layer(R"({"name": "l", "counters": {"compute": 5}})"),
                 "layers[0].counters.compute is not an object");
  expect_refused(with_layer(R"({"name": "l", "counters": {"compute": {"idle": 0.5}}})"),
                 "layers[0].counters.compute.idle is not a whole number");
  expect_refused(with_layer(R"({"name": "l", "array": {"clocks": []}})"),
                 "layers[0].array.clocks is not a whole number");
}

TEST_F(ReportFile, NamesAFileThatIsNotThere) {
  EXPECT_THAT([&] { read_report("nowhere.json"); }, Fails("nowhere.json"));
}

}  // namespace
}  // namespace gemm64
