// SPDX-License-Identifier: Apache-2.0
// The analysis as tables, JSON and CSV.

#include "host/analysis/analysis_report.hpp"
#include "host/analysis/columns.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

class Report : public ::testing::Test {
 protected:
  static const Analysis& alexnet() {
    static const Analysis analysis = analyze(load_graph("alexnet"), Geometry(), {});
    return analysis;
  }
  static std::vector<std::size_t> sorted(const std::string& key, std::size_t top = 0) {
    return sort_layers(alexnet(), shown_layers(alexnet()), key, top);
  }
  static std::string name(std::size_t layer) { return alexnet().layers[layer].name; }
};

TEST_F(Report, SortsNumbersFromTheLargest) {
  const std::vector<std::size_t> layers = sorted("macs", 3);
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(name(layers[0]), "/features/features.3/Conv");
  EXPECT_EQ(name(layers[1]), "/features/features.8/Conv");
  EXPECT_EQ(name(layers[2]), "/features/features.6/Conv");
}

TEST_F(Report, PredictsForAnyArrayAndMemory) {
  MemoryTiming shared;
  shared.sharing = MemorySharing::kShared;
  Geometry small;
  small.n = 16;
  small.stage_rows = 4;
  const Analysis analysis = analyze(load_graph("alexnet"), small, shared);
  EXPECT_GT(analysis.totals.cycles, alexnet().totals.cycles * 4);
  EXPECT_LE(analysis.totals.roof_cycles, analysis.totals.cycles);
  EXPECT_EQ(to_json(analysis)["array"]["memory"], "shared");
  EXPECT_EQ(to_json(alexnet())["array"]["memory"], "independent");
  EXPECT_THAT(analysis_tables(analysis, {}, "all", 0),
              Says("int8, shared memory, memory latency 100", "on the 16x16 array"));
}

TEST_F(Report, WarnsIfFewMacsAreOnDevice) {
  EXPECT_THAT(analysis_tables(alexnet(), {}, "all", 0),
              Says("Warning: in gemm64 run, only 8.2 % (58,621,952 of 714,188,480) of the "
                   "network's MACs are on the device"));
  EXPECT_EQ(to_json(alexnet())["warnings"].size(), 1U);
}

TEST_F(Report, SortsTextAndKeepsEqualOnes) {
  const std::vector<std::size_t> layers = sorted("operator");
  EXPECT_EQ(name(layers[0]), "/avgpool/AveragePool");
  EXPECT_EQ(name(layers[1]), "/features/features.0/Conv");
  EXPECT_EQ(name(layers[2]), "/features/features.3/Conv");
}

TEST_F(Report, SortsLayersWithoutAFigureLast) {
  const std::vector<std::size_t> layers = sorted("clocks");
  EXPECT_EQ(name(layers[0]), "/classifier/classifier.1/Gemm");
  EXPECT_TRUE(alexnet().layers[layers[7]].array);
  EXPECT_FALSE(alexnet().layers[layers[8]].array);
}

TEST_F(Report, ListsTheColumnsWhenAskedForAnother) {
  const std::string error = message_of([] { sorted("colour"); });
  EXPECT_THAT(error, Says("colour", "traffic_bytes"));
}

TEST_F(Report, ShowsTotalsKindsAndLayers) {
  const std::string text = analysis_tables(alexnet(), sorted("macs", 2), "all", 0);
  for (const char* expected : {"61,100,840", "244,403,360", "714,188,480", "4,437,728", "Dropout",
                               "3 to 11", "/features/features.3/Conv", "2 of 26 nodes shown"}) {
    EXPECT_THAT(text, Says(expected));
  }
  EXPECT_THAT(text, Lacks("/features/features.0/Conv"));
}

TEST_F(Report, WritesEveryLayerAsJson) {
  const nlohmann::ordered_json json = to_json(alexnet());
  EXPECT_EQ(json["total"]["macs"], 714188480);
  EXPECT_EQ(json["layers"].size(), 26U);
  EXPECT_EQ(json["layers"][0]["array"]["k"], 363);
  EXPECT_EQ(json["layers"][0]["attributes"]["kernel_shape"], "11x11");
  EXPECT_EQ(json["operators"]["Conv"]["attributes"]["kernel_shape"]["max"], 11);
  EXPECT_EQ(json["array"]["published_cycles"]["scale_sim_os"],
            alexnet().totals.published.scale_sim_os);
  EXPECT_EQ(nlohmann::ordered_json::parse(json.dump()), json);
}

TEST_F(Report, WritesCsvCellsForAllColumns) {
  std::istringstream lines(layers_csv(alexnet(), sorted("", 0)));
  std::string line;
  std::size_t count = 0;
  const auto commas = static_cast<std::ptrdiff_t>(layer_columns().size() - 1);
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas) << line;
    ++count;
  }
  EXPECT_EQ(count, 1U + 22);
}

Analysis analysis_of(const std::string& graph, const std::vector<std::string>& weights = {}) {
  return analyze(load_text(graph, weights), Geometry(), {});
}

TEST_F(Report, SaysWhatRunsOnTheDevice) {
  const std::string text = analysis_tables(alexnet(), sorted(""), "all", 0);
  for (const char* expected :
       {"8.2 % (58,621,952 of 714,188,480) of their MACs", "predicted, if on the device",
        "On the host in gemm64 run: 5 Conv: convolutions run on the device only", "runs on"}) {
    EXPECT_THAT(text, Says(expected));
  }
  EXPECT_THAT(text, Lacks(">="));
  const nlohmann::ordered_json json = to_json(alexnet());
  EXPECT_EQ(json["array"]["on_device"]["layers"], 3);
  EXPECT_EQ(json["array"]["predicted_if_on_device"]["layers"], 5);
  EXPECT_EQ(json["array"]["on_device"]["clocks"].get<int>() +
                json["array"]["predicted_if_on_device"]["clocks"].get<int>(),
            json["array"]["clocks"]);
  EXPECT_EQ(json["layers"][0]["on"], "host");
  EXPECT_EQ(json["layers"][0]["why_on_host"],
            "convolutions run on the device only where their values are of 8 bits");
  EXPECT_EQ(json["layers"].back()["on"], "device");
  EXPECT_TRUE(json["total"]["partial"].empty());
}

TEST(PartialReport, MarksSumsAndPointsToTheOption) {
  const Analysis analysis = analysis_of(
      "(float[4,H] x, float[3,5] w) => (float[4,5] y) {a = Relu(x) y = MatMul(a, w)}", {"w"});
  const std::string text = analysis_tables(analysis, shown_layers(analysis), "all", 0);
  EXPECT_THAT(text, Says(">= 0", "Partial: totals marked >= omit what is listed at the end.",
                         "give them with --input-shape x=4xA.", "?"));
  const nlohmann::ordered_json json = to_json(analysis);
  EXPECT_EQ(json["total"]["partial"], (nlohmann::ordered_json{"macs", "bytes", "array"}));
  EXPECT_TRUE(json["layers"][1]["macs"].is_null());
  EXPECT_EQ(json["layers"][1]["parameters"], 15);
}

TEST(PartialReport, NamesNoUselessOption) {
  const Analysis analysis = analysis_of("(float[4,4] a) => (float[] y) {y = Det(a)}");
  const std::string text = analysis_tables(analysis, shown_layers(analysis), "all", 0);
  EXPECT_THAT(text, testing::AllOf(Says("Partial", "MACs of operator Det are not counted"),
                                   Lacks("--input-shape")));
}

TEST(Csv, QuotesTextWithCommasAndQuotes) {
  Analysis analysis;
  analysis.layers.resize(1);
  analysis.layers[0].name = "a,\"b\"";
  EXPECT_THAT(layers_csv(analysis, {0}), Says("\n\"a,\"\"b\"\"\","));
}

}  // namespace
}  // namespace gemm64
