// SPDX-License-Identifier: Apache-2.0
#include "host/report/json.hpp"

#include "tests/test.hpp"
#include "tests/unit/runtime/reports.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

TEST(Json, ListsLayersOfTheDeviceAndOfTheHost) {
  const Json json = to_json(example_report());
  const Json& layers = json["layers"];
  ASSERT_EQ(layers.size(), 5U);
  EXPECT_EQ(layers[0]["name"], "fc1");
  EXPECT_EQ(layers[0]["on"], "device");
  EXPECT_EQ(layers[0]["macs"], 2 * 3 * 4);
  EXPECT_EQ(layers[4], Json({{"name", "attention"},
                             {"on", "host"},
                             {"operator", "MatMul"},
                             {"macs", 36},
                             {"reason", "its weights depend on the input"}}));
}

TEST(Json, ReportsDeviceShareOfNetwork) {
  RunReport report = example_report();
  EXPECT_DOUBLE_EQ(to_json(report)["total"]["device_share"].get<double>(), 64.0 / 1000);
  EXPECT_EQ(to_json(report)["total"]["macs"], 64);
  report.layers.clear();
  EXPECT_EQ(to_json(report)["total"]["device_share"], 0);
  report.host_layers.clear();
  EXPECT_EQ(to_json(report)["total"]["device_share"], 0);  // of nothing
  report.host.reset();
  EXPECT_FALSE(to_json(report)["total"].contains("device_share")) << "no network, no share";
}

TEST(Json, CountsImagesOfTheSameClass) {
  const Json quality = to_json(example_report())["quality"];
  EXPECT_EQ(quality["images"], 64);
  EXPECT_EQ(quality["top1_equal"], 63);
  EXPECT_DOUBLE_EQ(quality["top1_agreement"].get<double>(), 63.0 / 64);
}

TEST(Json, IsVerifiedAsTheReportIs) {
  RunReport report = example_report();
  EXPECT_EQ(to_json(report)["verified"], true);
  EXPECT_FALSE(to_json(report).contains("problems"));
  report.problems = {"the tile was never reached"};
  EXPECT_EQ(to_json(report)["verified"], false);
  EXPECT_EQ(to_json(report)["problems"], Json::array({"the tile was never reached"}));
}

TEST(Json, ShowsTheFirstMismatch) {
  RunReport report = example_report();
  EXPECT_FALSE(to_json(report)["layers"][0].contains("first_mismatch"));
  report.layers[0].mismatches = {1, 2, 3, 40, 41, 1};
  EXPECT_EQ(to_json(report)["layers"][0]["first_mismatch"],
            Json({{"row", 2}, {"column", 3}, {"expected", 40}, {"found", 41}}));
}

}  // namespace
}  // namespace gemm64
