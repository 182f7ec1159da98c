// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/run_report.hpp"

#include "tests/test.hpp"
#include "tests/unit/runtime/reports.hpp"

namespace gemm64 {
namespace {

TEST(RunReport, IsVerifiedIfAllChecksHeld) {
  EXPECT_TRUE(example_report().verified());
  EXPECT_TRUE(example_report().predictable());
}

TEST(RunReport, IsNotVerifiedWhereNothingWasChecked) {
  RunReport report = example_report();
  report.layers.clear();
  EXPECT_FALSE(report.verified());
}

TEST(RunReport, IsNotVerifiedWhereAProblemIsKnown) {
  RunReport report = example_report();
  report.problems = {"--trace-tile fc:0,0,0: the tile was never reached"};
  EXPECT_FALSE(report.verified());
}

TEST(RunReport, IsNotVerifiedWhereASumDiffers) {
  RunReport report = example_report();
  report.layers[1].mismatches.count = 1;
  EXPECT_FALSE(report.verified());
}

TEST(RunReport, ErrorBeyondBoundIsNotVerified) {
  RunReport report = example_report();
  report.layers[1].max_abs_error = 2;
  EXPECT_TRUE(report.verified());  // no bound is claimed
  report.layers[1].error_bound = 1;
  EXPECT_FALSE(report.verified());
  report.layers[1].max_abs_error = NAN;
  EXPECT_FALSE(report.verified());
  report.layers[1].max_abs_error = 1;
  EXPECT_TRUE(report.verified());
}

TEST(RunReport, WrongCounterIsNotVerified) {
  RunReport report = example_report();
  ++report.layers[1].counters[counter::kWeightsIdle];
  EXPECT_FALSE(report.verified());
  report.memory.stall_probability = 0.5;  // no cycles are predicted for a memory that stalls
  EXPECT_TRUE(report.verified());
}

TEST(RunReport, WrongBytesUnderStallsAreNot) {
  for (const std::size_t bytes : {counter::kBytesWeights, counter::kBytesActivations,
                                  counter::kBytesCommands, counter::kBytesResults}) {
    RunReport report = example_report();
    report.memory.stall_probability = 0.5;
    ASSERT_TRUE(report.verified());
    ++report.layers[0].counters[bytes];
    EXPECT_FALSE(report.verified());
  }
}

/// As example_report(), on an array of 8x8, with layers that take as long as they say.
RunReport report_of_cycles(std::uint64_t first, std::uint64_t second) {
  RunReport report = example_report();
  report.geometry.n = 8;
  report.layers[0].counters[counter::kTotalClocks] = first;
  report.layers[1].counters[counter::kTotalClocks] = second;
  for (LayerReport& layer : report.layers) {
    layer.shape = {64, 8, 8};  // 64 cycles of all MACs
    layer.tiles = 1;
    layer.predicted = layer.counters;
    set_utilization(layer, report.geometry, report.memory);
  }
  return report;
}

TEST(RunReport, ValueBeyondBoundIsNotVerified) {
  EXPECT_TRUE(report_of_cycles(64, 64).verified());
  const RunReport report = report_of_cycles(113, 15);
  EXPECT_FALSE(report.verified());
  EXPECT_EQ(report.impossible().at(0),
            "fc2: its utilization is 426.67 %; more than 100 % cannot be");
}

TEST(RunReport, AllowsLanesOfASmallArray) {
  RunReport report = report_of_cycles(64, 60);
  EXPECT_FALSE(report.verified());
  for (LayerReport& layer : report.layers) layer.tiles = 0;
  EXPECT_TRUE(report.verified()) << "nine for each of 8 columns";
}

TEST(RunReport, ProgramBeyondBoundIsNotVerified) {
  RunReport report = report_of_cycles(64, 63);
  for (LayerReport& layer : report.layers) {
    layer.overlapped = true;  // no share of its own
    layer.utilization = layer.roofline_utilization = 0;
    layer.program = 3;
  }
  EXPECT_EQ(report.impossible().at(0),
            "program 3: its utilization is 100.79 %; more than 100 % cannot be");
  EXPECT_FALSE(report.verified());
  report = report_of_cycles(64, 64);
  report.one_program = true;
  EXPECT_TRUE(report.verified());
  ++report.layers[0].counters[counter::kBytesWeights];
  report.layers[0].counters[counter::kBytesWeights] = 130 * 8;
  report.layers[0].predicted = report.layers[0].counters;
  EXPECT_FALSE(report.verified());  // 130 beats in 128 cycles
}

TEST(RunReport, CauseBeyondTotalIsNotVerified) {
  RunReport report = example_report();
  report.layers[0].counters[counter::kWeightsIdle] = 101;
  report.layers[0].predicted = report.layers[0].counters;
  EXPECT_FALSE(report.verified());
  EXPECT_EQ(report.impossible().at(0), "fc1: counter weights.idle is 101, in 100 cycles");
}

// The first layer's MACs and the second one's bytes may go on at once.
TEST(RunReport, BoundsProgramByMacsAndBytes) {
  RunReport report = report_of_cycles(64, 64);
  report.layers[1].shape = {1, 8, 8};
  report.layers[1].counters[counter::kBytesWeights] = 60 * 8;
  for (LayerReport& layer : report.layers) {
    layer.program = 1;
    layer.predicted = layer.counters;
    set_utilization(layer, report.geometry, report.memory);
  }
  EXPECT_DOUBLE_EQ(report.layers[1].roofline_utilization, 60.0 / 64);
  EXPECT_DOUBLE_EQ(report.total().roofline_utilization, 65.0 / 128);
  report.layers[1].program = 2;
  EXPECT_DOUBLE_EQ(report.total().roofline_utilization, (64 + 60.0) / 128);
}

TEST(RunReport, AddsUpTheMacsOfDeviceAndHost) {
  const RunReport report = example_report();
  EXPECT_EQ(report.device_macs(), 2U * 3 * 4 + 2 * 4 * 5);
  EXPECT_EQ(report.all_macs(), 2U * 3 * 4 + 2 * 4 * 5 + 900 + 36);
}

TEST(NetworkQuality, CountsImagesOfSameClass) {
  MatrixF exact(3, 2), found(3, 2);
  exact << 1, 0, 0, 1, 2, 3;
  found << 1, 0, 1, 0, 2, 3;
  const NetworkQuality quality = network_quality(exact, found);
  EXPECT_EQ(quality.images, 3U);
  EXPECT_EQ(quality.top1_equal, 2U);
  EXPECT_DOUBLE_EQ(quality.top1_agreement(), 2.0 / 3);
  EXPECT_NEAR(quality.signal_to_noise_db, 10 * std::log10(15.0 / 2), 1e-6);
}

TEST(Utilization, CountsUsefulWorkOnly) {
  LayerReport layer;
  layer.shape = {4, 8, 8};
  layer.counters[counter::kTotalClocks] = 16;
  layer.counters[counter::kBytesWeights] = 64;
  layer.counters[counter::kBytesResults] = 4 * 8 * 4;
  Geometry geometry;
  geometry.n = 8;
  MemoryTiming memory;
  set_utilization(layer, geometry, memory);
  EXPECT_DOUBLE_EQ(layer.utilization, 4.0 * 8 * 8 / (64 * 16));
  EXPECT_DOUBLE_EQ(layer.roofline_utilization, 128.0 / 8 / 16);  // the results' port bounds it
  memory.bytes_per_cycle = 4;
  set_utilization(layer, geometry, memory);
  // All but the first beat, whose bytes may have been saved before.
  EXPECT_DOUBLE_EQ(layer.roofline_utilization, (128.0 - 8) / 4 / 16);
}

TEST(Utilization, LeavesOutTheWriteBufferOfADram) {
  LayerReport layer;
  layer.counters[counter::kTotalClocks] = 1000;
  layer.counters[counter::kBytesResults] = 10000;
  Geometry geometry;
  geometry.n = 8;
  MemoryTiming memory;
  memory.sharing = MemorySharing::kDram;
  memory.dram.write_buffer = 4000;
  memory.latency = 10;
  const double peak = memory.dram.peak_bytes_per_cycle();
  set_utilization(layer, geometry, memory);
  EXPECT_DOUBLE_EQ(layer.roofline_utilization, (10000 - 4000 - 8 - 10 * peak) / peak / 1000);
  layer.counters[counter::kBytesResults] = 4000;  // the controller may still have all of them
  set_utilization(layer, geometry, memory);
  EXPECT_DOUBLE_EQ(layer.roofline_utilization, 0);
}

TEST(RunReport, AddsImagesThatRanOneAfterTheOther) {
  const LayerReport image = example_report().layers[0];
  LayerReport images = image;
  LayerReport wrong = image;
  wrong.mismatches = {2, 1, 3, 5, 6, 1};
  wrong.max_abs_error = 3;
  wrong.error_bound = 2;
  add_image(images, image);
  add_image(images, wrong);
  EXPECT_EQ(images.shape.m, 6U);
  EXPECT_EQ(images.counters[counter::kTotalClocks], 300U);
  EXPECT_EQ(images.predicted[counter::kTotalClocks], 300U);
  EXPECT_EQ(images.mismatches.count, 2U);
  EXPECT_EQ(images.mismatches.first_row, 1 + 4);
  EXPECT_EQ(images.mismatches.first_column, 3);
  EXPECT_EQ(images.error_bound, 2);
  EXPECT_EQ(images.max_abs_error, 3);
  LayerReport skipped_layer;
  skipped_layer.skipped = true;
  add_image(images, skipped_layer);
  EXPECT_EQ(images.shape.m, 6U);
  add_image(skipped_layer, image);
  EXPECT_FALSE(skipped_layer.skipped);
  EXPECT_EQ(skipped_layer.shape.m, 2U);
}

}  // namespace
}  // namespace gemm64
