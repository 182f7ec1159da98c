// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/sweep/front.hpp"
#include "host/sweep/sweep_plot.hpp"
#include "tests/says.hpp"

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

class Rows : public testing::Test {
 protected:
  const Sweep sweep_ = parse_sweep(
      R"({"networks": "a, \"b\".onnx", "designs": {"array": 8, "memory_latency": [5, 6]}})", "s");
  const std::vector<SweepRow> rows_{row(sweep_, 0, 22), row(sweep_, 1, 1022)};
};

TEST_F(Rows, TellTheGreatestLoss) {
  EXPECT_EQ(rows_[0]["main_wait"], "wait_activations");
  EXPECT_EQ(rows_[0]["cycle_breakdown.fill"], 5);
  EXPECT_EQ(rows_[0]["bytes"], 96);
}

TEST_F(Rows, AreLinesOfCsvWithQuotedText) {
  const std::string csv = rows_csv(rows_);
  EXPECT_THAT(csv, testing::StartsWith("point,mode,device,network,batch,depthwise,array,"));
  EXPECT_THAT(csv, Says("\n0,predict,,\"a, \"\"b\"\".onnx\",1,window,8,9216,128,independent,0,5,"
                        "22,,0.25,"));
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
  EXPECT_THAT(plot_svg({empty}, "s"), Says("nothing on the device"));
}

TEST_F(Rows, ArePlottedByName) {
  const std::string svg = plot_svg(rows_, "s.json");
  EXPECT_THAT(svg, Says("a, &quot;b&quot;.onnx, batch 1", ">1.02 k<", ">25.00 %<", ">96<"));
}

/// A row of a design on an array of `array`, with a memory of `latency`.
SweepRow design_row(const SweepRow& from, int array, int latency, std::uint64_t cycles) {
  SweepRow row = from;
  row["array"] = array;
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

TEST_F(Rows, ArePlottedAsPointsWithTheFrontOfTwoObjectives) {
  std::vector<SweepRow> rows;
  for (const int array : {8, 16, 32}) {
    for (const int latency : {50, 100}) {
      rows.push_back(design_row(rows_[0], array, latency, 10000 / array + latency));
    }
  }
  const std::string svg = plot_svg(rows, "s.json");
  EXPECT_THAT(svg, Says(">cycles against array<", ">memory_latency 50<", ">on the Pareto front",
                        ">1.3 k: array 8, memory_latency 50<"));
  // Of each array, the faster memory is on the front.
  EXPECT_THAT(svg, Lacks("k: array 8, memory_latency 100<"));
  EXPECT_THAT(plot_svg(rows, "s.json", {"cycles", "memory_latency"}),
              Says(">cycles against memory_latency<", ">362: array 32, memory_latency 50<"));
  EXPECT_THAT(plot_svg({rows_[0]}, "s"), Lacks(" against "));
}

TEST_F(Rows, OfAFileInAFolderArePlottedByTheEndOfItsPath) {
  SweepRow row = rows_[0];
  row["network"] = "/home/someone/with/a/long/path/nets/resnet50.onnx";
  const std::string svg = plot_svg({row}, "/home/someone/sweeps/s.json");
  EXPECT_THAT(svg, testing::AllOf(Says(">…/nets/resnet50.onnx, batch 1<"), Lacks("someone/with")));
}

TEST_F(Rows, OfALargeSweepArePointsOnly) {
  std::vector<SweepRow> rows;
  for (int i = 0; i < 1000; ++i) {
    rows.push_back(design_row(rows_[0], 2 << i % 6, 50 + i, 1000 + 7 * i));
  }
  const std::string svg = plot_svg(rows, "s.json");
  EXPECT_THAT(svg, testing::AllOf(Says("1,000 points", "viewBox=\"0 0 860 "), Lacks(">25.00 %<")));
  const std::size_t at = svg.find("viewBox=\"0 0 860 ") + 17;
  EXPECT_LT(std::stoi(svg.substr(at)), 600) << "higher than a page";
}

}  // namespace
}  // namespace gemm64
