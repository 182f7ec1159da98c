// SPDX-License-Identifier: Apache-2.0
// Whole quantized networks, run by the firmware as one program.

#include "host/check/timeline.hpp"
#include "host/cli/firmware_network.hpp"
#include "host/compile/device_layer.hpp"
#include "host/device/array_geometry.hpp"
#include "host/tiling/packing.hpp"
#include "sim/integrations/systemc/cosim_sides.hpp"
#include "sim/integrations/systemc/firmware/job_list.h"
#include "sim/models/rtl_device.hpp"
#include "tests/test.hpp"
#include "tests/unit/check/timeline_file.hpp"
#include "tests/unit/run_on_cpu.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kArray = 8;

NamedTensors inputs_of(const OnnxModel& model) {
  return {{"x", quantized_input(model.type("x")->dims)}};
}

/// A network, what it was compiled to, and what the firmware is given.
struct Compiled {
  explicit Compiled(OnnxModel of, const MemoryTiming& memory = {})
      : model(std::move(of)),
        executable(compile(model, geometry_of_array(kArray))),
        timing(memory),
        network((require_one_program(executable, model),
                 make_firmware_network(model, executable, NetworkInputs::of(inputs_of(model)),
                                       timing))) {}

  OnnxModel model;
  Executable executable;
  MemoryTiming timing;
  FirmwareNetwork network;
};

struct Outcome {
  FirmwareReport report;
  CosimOutcome found;
  CosimVerdict verdict;
};

/// `change`: of the platform, before the run.
Outcome run(const Compiled& compiled, const std::string& accelerator,
            const std::function<void(Platform&)>& change = nullptr, bool debug = false) {
  const CosimWork& work = compiled.network.work;
  PlatformOptions options;
  options.accelerator = accelerator;
  options.device.array = kArray;
  options.device.memory = compiled.timing;
  options.memory_bytes = work.memory.size();
  options.debug = debug;
  Platform platform(options);
  platform.device().write_memory(0, work.memory.data(), work.memory.size());
  if (change) change(platform);
  FirmwareOptions how;
  how.ring = work.ring;
  how.places = work.places;
  Outcome run;
  run.report = platform.run(load_elf(GEMM64_FIRMWARE), how, compiled.network.jobs);
  EXPECT_EQ(run.report.stopped, "");
  run.found = firmware_outcome(platform, work, run.report);
  run.found.family = accelerator;
  Cosim cosim(work);
  cosim.add(compiled.network.expected);
  run.verdict = cosim.add(run.found);
  return run;
}

std::vector<std::uint32_t> statuses(const FirmwareReport& report) {
  std::vector<std::uint32_t> statuses;
  for (const FirmwareJobResult& job : report.jobs) statuses.push_back(job.status);
  return statuses;
}

/// The network's output, as it is in memory.
Tensor output_in(const std::vector<std::uint8_t>& memory, const Compiled& compiled) {
  const std::vector<DeviceLayer>& layers = compiled.executable.plan.programs[0].layers;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (compiled.model.graph().node(layers[i].gives()).output(0) != "y") continue;
    const Job& job = compiled.executable.programs[0].list.jobs[i];
    const auto* const begin = memory.data() + job.layout.results;
    const MatrixI32 values = unpack_results(
        job, result_values(job.plan.results(), {begin, begin + job.plan.result_bytes()}));
    return to_node_results(layers[i], values, *compiled.model.type("y"), layers[i].result_order);
  }
  return {};
}

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()};
}

class FirmwareOn : public testing::TestWithParam<const char*> {};

TEST_P(FirmwareOn, RunsWholeNetworksAsOneProgram) {
  MemoryTiming shared;
  shared.sharing = MemorySharing::kShared;
  for (OnnxModel (*const model)() :
       {+[] { return quantized_lanes(); }, +[] { return quantized_ways(2); },
        +[] { return quantized_parts(); }, +[] { return quantized_slices(); }}) {
    for (const MemoryTiming& timing : {MemoryTiming{}, shared}) {
      const Compiled compiled(model(), timing);
      const Outcome found = run(compiled, GetParam());
      EXPECT_EQ(found.report.exit_code, 0U) << found.report.printed;
      EXPECT_TRUE(found.verdict.agrees()) << found.verdict.memory << found.verdict.counters;
      EXPECT_EQ(found.found.cycles, (*compiled.network.expected.counters)[counter::kTotalClocks]);
      EXPECT_EQ(found.report.doorbells.size(), 1U);
      EXPECT_EQ(found.report.interrupts.size(), 1U);
      const std::size_t layers = compiled.executable.plan.programs[0].layers.size();
      EXPECT_EQ(statuses(found.report), std::vector<std::uint32_t>(layers, JOB_DONE));
      const Tensor y = run_on_cpu(compiled.model, inputs_of(compiled.model)).at("y");
      EXPECT_EQ(bytes_of(output_in(found.found.memory, compiled)), bytes_of(y));
    }
  }
}

TEST_P(FirmwareOn, PrintsTheClassOfEachImage) {
  const Compiled compiled(quantized_lanes());
  const Tensor y = run_on_cpu(compiled.model, inputs_of(compiled.model)).at("y");
  ASSERT_EQ(y.dims(), (Dims{2, 7}));
  const std::string printed = run(compiled, GetParam()).report.printed;
  for (std::uint32_t image = 0; image < 2; ++image) {
    const std::uint8_t* const row = y.values<std::uint8_t>() + 7 * image;
    const auto best = static_cast<std::uint32_t>(std::max_element(row, row + 7) - row);
    EXPECT_EQ(compiled.network.classes.at(image), best);
    EXPECT_THAT(printed, Says(fmt::format("image {}: class {}\n", image, best)));
  }
  const Compiled map(quantized_ways());
  EXPECT_TRUE(map.network.classes.empty());
  EXPECT_THAT(run(map, GetParam()).report.printed, Lacks("class"));
}

TEST_P(FirmwareOn, ReportsLayerWithWrongCrc) {
  Compiled compiled(quantized_lanes());
  const std::size_t layers = compiled.network.jobs.size();
  for (const std::size_t wrong : {std::size_t{0}, std::size_t{3}, layers - 1}) {
    compiled.network.jobs[wrong].crc ^= 1;
    const Outcome found = run(compiled, GetParam());
    compiled.network.jobs[wrong].crc ^= 1;
    EXPECT_EQ(found.report.exit_code, 1U);
    std::vector<std::uint32_t> expected(layers, JOB_DONE);
    expected[wrong] = JOB_WRONG_CRC;
    EXPECT_EQ(statuses(found.report), expected);
    EXPECT_THAT(found.report.printed, Says(fmt::format("{} of {} jobs done", layers - 1, layers)));
    EXPECT_TRUE(found.verdict.agrees()) << "its results are right";
  }
}

// A weight that is another in memory: all layers from that on are wrong.
TEST_P(FirmwareOn, ReportsResultsThatDiffer) {
  Compiled compiled(quantized_lanes());
  const std::vector<Job>& jobs = compiled.network.work.jobs;
  const auto deep =
      std::find_if(jobs.begin(), jobs.end(), [](const Job& job) { return job.name == "deep"; });
  ASSERT_NE(deep, jobs.end());
  compiled.network.work.memory[deep->layout.weights] ^= 0x40;
  const Outcome found = run(compiled, GetParam());
  EXPECT_EQ(found.report.exit_code, 1U);
  EXPECT_THAT(found.verdict.memory, Says("bytes differ"));
  EXPECT_EQ(found.verdict.counters, "") << "the cycles are the same";
  const std::vector<std::uint32_t> status = statuses(found.report);
  const auto first = static_cast<std::size_t>(deep - jobs.begin());
  for (std::size_t i = 0; i < first; ++i) EXPECT_EQ(status[i], JOB_DONE) << i;
  EXPECT_EQ(status[first], JOB_WRONG_CRC);
}

TEST_P(FirmwareOn, ReportsCounterThatDiffers) {
  Compiled compiled(quantized_lanes());
  ++compiled.network.expected.snapshots.at(2)[counter::kTotalClocks];
  EXPECT_THAT(run(compiled, GetParam()).verdict.counters, Says("at FENCE 2"));
}

INSTANTIATE_TEST_SUITE_P(Accelerators, FirmwareOn, testing::Values("rtl", "tlm"),
                         [](const auto& info) { return std::string(info.param); });

// Whichever burst fails, the program runs again from its first layer.
TEST(FirmwareNetworkOnRtl, RecoversFromBusError) {
  const Compiled compiled(quantized_lanes());
  bool failed = true;
  for (std::uint64_t burst = 1; failed; burst += 9) {
    ASSERT_LT(burst, 1000U);
    const Outcome found = run(compiled, "rtl", [&](Platform& platform) {
      platform.rtl()->ports().results.fail_burst(burst);
    });
    EXPECT_EQ(found.report.exit_code, 0U) << found.report.printed;
    EXPECT_EQ(found.verdict.memory, "");
    failed = found.report.resets != 0;  // else there is no such burst
    if (!failed) continue;
    EXPECT_THAT(found.report.printed, Says("BUS_SLAVE"));
    EXPECT_EQ(found.report.doorbells.size(), 2U);
    EXPECT_NE(found.report.jobs[0].error_code, 0U);
    EXPECT_EQ(found.report.jobs[0].attempts, 2U);
  }
}

// Layers of the engines' timeline begin with the doorbell, and end with the interrupt.
TEST(FirmwareNetworkOnRtl, ShowsLayersOnTimeline) {
  const TestFolder folder;
  const std::filesystem::path path = folder / "network.json";
  const Compiled compiled(quantized_ways());
  const JobProgram& list = compiled.executable.programs[0].list;
  TraceEvents trace(path);
  Timeline timeline(trace, 3);
  const Outcome found = run(
      compiled, "rtl",
      [&](Platform& platform) {
        timeline.begin(list, 0);
        platform.observe(timeline);
      },
      true);
  timeline.end(found.report.cycles);
  trace.finish({});
  const TimelineFile file(path);
  const std::vector<TimelineSlice>& layers = file.tracks.at("layers");
  ASSERT_EQ(layers.size(), list.jobs.size());
  EXPECT_NEAR(static_cast<double>(layers.front().begin),
              static_cast<double>(found.report.doorbells[0]), 2);
  EXPECT_NEAR(static_cast<double>(layers.back().end),
              static_cast<double>(found.report.interrupts[0]), 2);
}

std::string refusal(const OnnxModel& model) {
  return message_of([&] { require_one_program(compile(model, geometry_of_array(kArray)), model); });
}

TEST(FirmwareNetwork, NamesOperatorOfHost) {
  const auto start = [] {
    QuantizedText text("2,3,11,9");
    text.conv("x", "a", 3, 12, 3);
    return text;
  };
  EXPECT_EQ(refusal(start().conv("a", "y", 12, 3, 1).model()), "");
  EXPECT_EQ(refusal(quantized_branches()),
            "test.onnx: 'pooled': Transpose gives 'pooled' on the host, between programs 1 and 2: "
            "the device has no such operation; the firmware runs one program");
  // What the second program takes, rather than what stands before it.
  EXPECT_THAT(refusal(start()
                          .node("t", "Transpose <perm = [0,1,3,2]> (a)")
                          .node("side", "Transpose <perm = [0,1,3,2]> (a)")
                          .node("flat", "Flatten (t)")
                          .matmul("flat", "y", 756, 5)
                          .model()),
              Says("'t': Transpose gives 't' on the host"));
  // The host's work before and after the program is none of the firmware's.
  EXPECT_EQ(refusal(QuantizedText("2,3,11,9")
                        .node("t", "Transpose <perm = [0,1,3,2]> (x)")
                        .conv("t", "a", 3, 12, 3)
                        .node("y", "Transpose <perm = [0,1,3,2]> (a)")
                        .model()),
            "");
  EXPECT_THAT(
      refusal(start().node("flat", "Flatten <axis = 2> (a)").matmul("flat", "y", 63, 5).model()),
      Says("'y': the host lays out 'flat' for it, between programs 1 and 2"));
  QuantizedText none("2,3,11,9");
  none.node("y", "MaxPool <kernel_shape = [2,2]> (x)");
  EXPECT_THAT(refusal(none.model()), Says("has no layer of 8-bit values"));
}

}  // namespace
}  // namespace gemm64
