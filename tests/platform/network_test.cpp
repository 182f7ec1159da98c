// SPDX-License-Identifier: Apache-2.0
// Quantized networks, run by the firmware: layers on the accelerator, pools by the processor.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "host/cli/network_jobs.hpp"
#include "host/debug/timeline.hpp"
#include "host/device/array_geometry.hpp"
#include "sim/platform/firmware/job_list.h"
#include "sim/rtl_device.hpp"
#include "tests/folder.hpp"
#include "tests/host/debug/timeline_file.hpp"
#include "tests/host/execute/quantized_graph_text.hpp"
#include "tests/says.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kArray = 8;

/// Three programs, of one, three and two layers; the last begins with a window that is the map.
OnnxModel pooled_network() {
  QuantizedText text("2,3,11,9");
  text.conv("x", "first", 3, 12, 3, "pads = [1,1,1,1]")
      .node("pool1", "MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = 1> (first)")
      .conv("pool1", "a", 12, 10, 3, "pads = [1,1,1,1]")
      .conv("a", "b", 10, 20, 1)
      .conv("pool1", "side", 12, 20, 1)
      .node("pool2", "MaxPool <kernel_shape = [3,2], strides = [2,2], pads = [1,1,1,0]> (b)")
      .node("flat", "Flatten (pool2)")
      .matmul("flat", "hidden", 180, 20)
      .matmul("hidden", "y", 20, 11);
  return text.model();
}

const Tensor& input() {
  static const Tensor tensor = quantized_input({2, 3, 11, 9});
  return tensor;
}

struct Outcome {
  NetworkJobs network;
  FirmwareReport report;
  std::vector<std::uint8_t> memory;
};

/// `change`: of jobs or platform, before the run.
Outcome run(const std::string& accelerator, bool one_at_a_time = false,
            const std::function<void(NetworkJobs&, Platform&)>& change = nullptr,
            bool debug = false) {
  const Geometry geometry = geometry_of_array(kArray);
  const OnnxModel model = pooled_network();
  Outcome run;
  run.network = make_network_jobs(NetworkPlan(model, geometry), {{"x", input()}}, geometry);
  PlatformOptions options;
  options.accelerator = accelerator;
  options.device.array = kArray;
  options.memory_bytes = run.network.memory.size();
  options.debug = debug;
  Platform platform(options);
  platform.device().write_memory(0, run.network.memory.data(), run.network.memory.size());
  if (change) change(run.network, platform);
  FirmwareOptions how;
  how.one_at_a_time = one_at_a_time;
  how.ring = run.network.ring;
  how.places = run.network.places;
  run.report = platform.run(load_elf(GEMM64_FIRMWARE), how, run.network.jobs);
  run.memory.resize(run.network.memory.size());
  platform.device().read_memory(0, run.memory.data(), run.memory.size());
  return run;
}

std::vector<std::uint32_t> statuses(const FirmwareReport& report) {
  std::vector<std::uint32_t> statuses;
  for (const FirmwareJobResult& job : report.jobs) statuses.push_back(job.status);
  return statuses;
}

/// The classes that the network's own arithmetic finds.
std::vector<std::uint32_t> classes_of(const OnnxModel& model) {
  const Tensor y = Executor(model).run({{"x", input()}}).at("y");
  std::vector<std::uint32_t> classes;
  const std::int64_t length = y.elements() / y.dim(0);
  for (std::int64_t image = 0; image < y.dim(0); ++image) {
    const std::uint8_t* const row = y.values<std::uint8_t>() + image * length;
    classes.push_back(static_cast<std::uint32_t>(std::max_element(row, row + length) - row));
  }
  return classes;
}

class FirmwareNetwork : public testing::TestWithParam<const char*> {};

TEST_P(FirmwareNetwork, RunsAsOnnxSaysInterruptByInterrupt) {
  for (const bool one_at_a_time : {false, true}) {
    const Outcome found = run(GetParam(), one_at_a_time);
    EXPECT_EQ(found.report.stopped, "");
    EXPECT_EQ(found.report.exit_code, 0U) << found.report.printed;
    // first; pool1; a, side, b; pool2; hidden, y; classes
    ASSERT_EQ(found.report.jobs.size(), 9U);
    EXPECT_EQ(found.network.layers.jobs.size(), 6U);
    EXPECT_EQ(found.report.doorbells.size(), 3U);
    EXPECT_EQ(found.report.interrupts.size(), 3U);
    EXPECT_GT(found.report.reaction(), found.report.work() / 3);
    for (std::size_t i = 0; i < found.report.jobs.size(); ++i) {
      const FirmwareJobResult& job = found.report.jobs[i];
      EXPECT_EQ(job.status, JOB_DONE) << i;
      EXPECT_EQ(job.order, i + 1);
      EXPECT_EQ(job.clocks != 0, i == 1 || i == 5 || i == 8) << i;
    }
    const std::vector<std::uint32_t> classes = classes_of(pooled_network());
    EXPECT_EQ(found.network.classes, classes);
    for (std::size_t image = 0; image < classes.size(); ++image) {
      EXPECT_THAT(found.report.printed,
                  Says(fmt::format("image {}: class {}\n", image, classes[image])));
    }
    const std::uint8_t* const last = found.memory.data() + found.network.jobs.back().results;
    EXPECT_EQ(std::memcmp(last, classes.data(), classes.size() * sizeof classes[0]), 0);
  }
}

TEST_P(FirmwareNetwork, TellsWhichLayerHasAWrongCrc) {
  for (const std::size_t wrong : {1U, 3U, 8U}) {
    const Outcome found = run(
        GetParam(), false, [&](NetworkJobs& network, Platform&) { network.jobs[wrong].crc ^= 1; });
    EXPECT_EQ(found.report.exit_code, 1U);
    std::vector<std::uint32_t> expected(9, JOB_DONE);
    expected[wrong] = JOB_WRONG_CRC;
    EXPECT_EQ(statuses(found.report), expected);
    EXPECT_THAT(found.report.printed, Says("8 of 9 jobs done"));
  }
}

// What pools wrongly is found where it pools, and in all that reads it.
TEST_P(FirmwareNetwork, TellsOfPoolingThatIsBroken) {
  const Outcome found = run(GetParam(), false, [](NetworkJobs& network, Platform&) {
    network.jobs[1].work.dilation_width = 2;
  });
  EXPECT_EQ(found.report.exit_code, 1U);
  const std::vector<std::uint32_t> status = statuses(found.report);
  EXPECT_EQ(status[0], JOB_DONE);
  for (std::size_t i = 1; i < 8; ++i) EXPECT_EQ(status[i], JOB_WRONG_CRC) << i;
}

INSTANTIATE_TEST_SUITE_P(Accelerators, FirmwareNetwork, testing::Values("rtl", "tlm"),
                         [](const auto& info) { return std::string(info.param); });

// Whichever burst fails, the program that it belongs to runs again, and all else as ever.
TEST(FirmwareNetworkOnRtl, ComesBackFromABusErrorInTheMidst) {
  std::set<std::size_t> failed;
  for (std::uint64_t burst = 1;; ++burst) {
    ASSERT_LT(burst, 1000U);
    const Outcome found = run("rtl", false, [&](NetworkJobs&, Platform& platform) {
      platform.rtl()->ports().results.fail_burst(burst);
    });
    EXPECT_EQ(found.report.exit_code, 0U) << found.report.printed;
    EXPECT_EQ(statuses(found.report), std::vector<std::uint32_t>(9, JOB_DONE));
    if (found.report.resets == 0) break;  // there are no more
    EXPECT_THAT(found.report.printed, Says("BUS_SLAVE"));
    EXPECT_EQ(found.report.resets, 1U);
    EXPECT_EQ(found.report.doorbells.size(), 4U);
    for (std::size_t i = 0; i < found.report.jobs.size(); ++i) {
      if (found.report.jobs[i].error_code != 0) failed.insert(i);
    }
  }
  EXPECT_EQ(failed, (std::set<std::size_t>{0, 2, 6}));  // of each program its first layer
}

// Layers of the engines' timeline begin with their programs' doorbells, and end with interrupts.
TEST(FirmwareNetworkOnRtl, ShowsItsLayersOnTheTimeline) {
  const TestFolder folder;
  const std::filesystem::path path = folder / "network.json";
  TraceEvents trace(path);
  Timeline timeline(trace, 3);
  NetworkJobs network;  // outlives the platform
  const Outcome found = run(
      "rtl", false,
      [&](NetworkJobs& jobs, Platform& platform) {
        network.layers = jobs.layers;
        timeline.begin(network.layers, 0);
        platform.observe(timeline);
      },
      true);
  timeline.end(found.report.clocks);
  trace.finish({});
  const TimelineFile file(path);
  const std::vector<TimelineSlice>& layers = file.tracks.at("layers");
  ASSERT_EQ(layers.size(), 6U);
  const std::size_t first[] = {0, 1, 4}, last[] = {0, 3, 5};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(static_cast<double>(layers[first[i]].begin),
                static_cast<double>(found.report.doorbells[i]), 2);
    EXPECT_NEAR(static_cast<double>(layers[last[i]].end),
                static_cast<double>(found.report.interrupts[i]), 2);
  }
}

std::string refusal(const OnnxModel& model) {
  const Geometry geometry = geometry_of_array(kArray);
  return message_of([&] {
    make_network_jobs(NetworkPlan(model, geometry), {{"x", input()}}, geometry);
  });
}

TEST(NetworkPlan, RefusesOtherWorkByName) {
  const auto start = [] {
    QuantizedText text("2,3,11,9");
    text.conv("x", "a", 3, 12, 3);
    return text;
  };
  EXPECT_THAT(refusal(start().add("a", "a", "y").model()),
              Says("test.onnx: 'y': the firmware has no com.microsoft.QLinearAdd behind a "
                   "layer; it has MaxPool"));
  EXPECT_THAT(refusal(start().conv("a", "y", 12, 3, 1).model(3)),
              Says("'a': the accelerator does not give its 8-bit results: its weights have a "
                   "zero point"));
  EXPECT_THAT(refusal(start().conv("a", "y", 12, 3, 1).model()), Says("there are no classes"));
  QuantizedText none("2,3,11,9");
  none.node("y", "MaxPool <kernel_shape = [2,2]> (x)");
  EXPECT_THAT(refusal(none.model()), Says("has no quantized layer"));
}

}  // namespace
}  // namespace gemm64
