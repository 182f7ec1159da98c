// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/row.hpp"

#include "host/sweep/front.hpp"
#include "host/sweep/sweep_plot.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// A row of a sweep of two points, of which the report has one layer.
SweepRow row(const Sweep& sweep, std::size_t index, std::uint64_t cycles) {
  LayerReport layer;
  layer.shape = {2, 3, 4};
  layer.counters[counter::kTotalClocks] = cycles;
  layer.counters[counter::kComputeCompute] = 10;
  layer.counters[counter::kComputeWaitActivations] = 7;
  layer.counters[counter::kComputeIdle] = 3;
  layer.counters[counter::kComputeDrain] = 2;
  layer.counters[counter::kBytesWeights] = 64;
  layer.counters[counter::kBytesCommands] = 32;
  layer.predicted = layer.counters;
  layer.utilization = 0.25;
  RunReport report;
  report.layers = {layer};
  return make_row(sweep, index, report);
}

using Json = nlohmann::ordered_json;

/// The value of a plot's row in the column of this name.
Json plot_value(const Json& plot, std::size_t row, const std::string& name) {
  const Json& columns = plot["columns"];
  const auto at = std::find(columns.begin(), columns.end(), name) - columns.begin();
  return plot["rows"].at(row).at(static_cast<std::size_t>(at));
}

class Rows : public testing::Test {
 protected:
  const Sweep sweep_ = parse_sweep(
      R"({"networks": "a, \"b\".onnx", "designs": {"array": 8, "memory_latency": [5, 6]}})", "s");
  const std::vector<SweepRow> rows_{row(sweep_, 0, 22), row(sweep_, 1, 1022)};
};

TEST_F(Rows, ReportGreatestLoss) {
  EXPECT_EQ(rows_[0]["main_wait"], "wait_activations");
  EXPECT_EQ(rows_[0]["cycle_breakdown.fill"], 5);
  EXPECT_EQ(rows_[0]["bytes"], 96);
}

TEST_F(Rows, AreLinesOfCsvWithQuotedText) {
  const std::string csv = rows_csv(rows_);
  EXPECT_THAT(csv, testing::StartsWith("point,mode,device,network,batch,depthwise,array,"));
  EXPECT_THAT(csv, Says("\n0,predict,,\"a, \"\"b\"\".onnx\",1,window,8,9216,128,6144,128,16,"
                        "100.125,independent,0,5,22,,0.25,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
}

TEST_F(Rows, OfATableShowWhatDiffers) {
  const std::string table = rows_table(rows_, 0, varied_keys(rows_));
  EXPECT_EQ(varied_keys(rows_), std::vector<std::string>{"memory_latency"});
  EXPECT_THAT(table, testing::AllOf(Says("memory", "1,022", "25.00 %"), Lacks("network")));
  EXPECT_THAT(table, Lacks("verified")) << "nothing was compared";
}

TEST_F(Rows, WithoutCyclesHaveNoFigures) {
  const SweepRow empty = make_row(sweep_, 0, RunReport());
  for (const char* key : {"cycles", "utilization", "bytes", "main_wait", "device_share"}) {
    EXPECT_TRUE(empty[key].is_null()) << key;
  }
  const Json plot = sweep_plot({empty}, "s");
  EXPECT_TRUE(plot_value(plot, 0, "cycles").is_null());
  EXPECT_TRUE(plot_value(plot, 0, "y").is_null());
}

/// A row of a design on an array of `array`, with a memory of `latency`.
SweepRow design_row(const SweepRow& from, int array, int latency, std::uint64_t cycles) {
  SweepRow row = from;
  row["array"] = array;
  row["weight_tiles"] = 1024 / array;
  row["memory_latency"] = latency;
  row["cycles"] = cycles;
  return row;
}

TEST_F(Rows, AreOnTheFrontWhereNothingIsBetterForLess) {
  const SweepRow& from = rows_[0];
  std::vector<SweepRow> rows = {design_row(from, 8, 100, 900),  design_row(from, 16, 100, 300),
                                design_row(from, 32, 100, 300), design_row(from, 16, 200, 300),
                                design_row(from, 16, 50, 290),  design_row(from, 8, 100, 900)};
  EXPECT_EQ(pareto_front(rows),
            (std::vector<bool>{true, false, false, true, true, true}));  // slow memory is cheap
  rows[4]["verified"] = false;
  EXPECT_FALSE(pareto_front(rows)[4]);
  EXPECT_THAT(rows_json(with_front(rows)), Says("\"pareto\": true"));
  EXPECT_THAT(rows_csv(with_front(rows)), Says(",pareto\n"));
  EXPECT_THAT(rows_table(rows, 0, varied_keys(rows)), Says("Pareto"));
}

TEST_F(Rows, ArePlottedWithTheFrontOfTwoObjectives) {
  std::vector<SweepRow> rows;
  for (const int array : {8, 16, 32}) {
    for (const int latency : {50, 100}) {
      rows.push_back(design_row(rows_[0], array, latency, 10000 / array + latency));
    }
  }
  const Json plot = sweep_plot(rows, "s.json");
  EXPECT_EQ(plot["axes"], (Json{"cycles", "array"}));
  EXPECT_EQ(plot["design"], (Json{"array", "memory_latency"}));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(plot_value(plot, i, "y"), rows[i]["cycles"].get<double>());
    EXPECT_EQ(plot_value(plot, i, "x"), rows[i]["array"].get<double>());
    // Of each array, the faster memory is on the front.
    EXPECT_EQ(plot_value(plot, i, "front"), rows[i]["memory_latency"] == 50) << i;
  }
  const Json named = sweep_plot(rows, "s.json", {"cycles", "memory_latency"});
  EXPECT_EQ(named["axes"][1], "memory_latency");
  EXPECT_EQ(plot_value(named, 4, "front"), true);  // the fastest, and none has a faster memory
  EXPECT_EQ(plot_value(named, 0, "front"), false);
}

TEST_F(Rows, OfOneDesignArePlottedWithoutPoints) {
  const Json plot = sweep_plot({rows_[0]}, "s");
  EXPECT_EQ(plot["axes"].size(), 1U);
  EXPECT_TRUE(plot_value(plot, 0, "y").is_null());
  EXPECT_EQ(plot_value(plot, 0, "front"), false);
  EXPECT_EQ(sweep_plot({}, "s")["rows"].size(), 0U);
}

TEST_F(Rows, ArePlottedWithAWholePortAsItsWidth) {
  std::vector<SweepRow> rows = {rows_[0], rows_[0]};
  rows[1]["memory_bytes_per_cycle"] = 4;
  const Json plot = sweep_plot(rows, "s");
  EXPECT_EQ(plot["axes"][1], "memory_bytes_per_cycle");
  EXPECT_EQ(plot_value(plot, 0, "x"), 8);  // of the array
  EXPECT_EQ(plot_value(plot, 1, "x"), 4);
}

}  // namespace
}  // namespace gemm64
