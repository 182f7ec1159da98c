// SPDX-License-Identifier: Apache-2.0
// Inspecting convolutions: the timeline accounts for every cycle, a tile is traced by its name, and
// faults are found at their very place, reported by pixel, tap and channel.

#include "host/check/failure.hpp"
#include "host/check/investigation.hpp"
#include "host/check/tile_trace.hpp"
#include "host/runtime/job_runner.hpp"
#include "tests/system/convolution_programs.hpp"
#include "tests/system/convolutions.hpp"
#include "tests/system/draw_fault.hpp"
#include "tests/system/timeline.hpp"

namespace gemm64::system_test {
namespace {

/// Convolutions as one program: each but the last gives int8 results, which the next one may read.
struct Network {
  std::vector<ProgramLayer> layers;

  std::vector<Job> jobs() const {
    std::vector<Job> jobs;
    for (const ProgramLayer& layer : layers) {
      jobs.push_back(layer.job);
      jobs.back().source = layer.source;
    }
    return jobs;
  }
};

Output int8_output(std::mt19937& random) {
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.zero = static_cast<int>(draw(random, 0, 40)) - 20;
  output.low = -128;
  output.high = 127;
  return output;
}

/// A convolution that takes what another one gives, with its zero point beyond the border.
Convolution follower(std::mt19937& random, const Convolution& before, std::int8_t zero) {
  Convolution c;
  do {
    c = random_convolution(random, 20, 8, 60'000);
    c.groups = 1;
    c.images = before.images;
    c.height = before.out_height;
    c.width = before.out_width;
    c.channels = before.out_channels;
    c.zero = zero;
  } while (!draw_output(random, c) || macs(c) > 200'000);
  return c;
}

Network random_network(std::mt19937& random, const Geometry& geometry, unsigned count,
                       bool last_is_int8) {
  Network network;
  Convolution c = random_convolution(random, 20, 9, 60'000);
  MatrixI8 a;
  for (unsigned i = 0; i < count; ++i) {
    const bool reads = i != 0 && draw(random, 0, 2) != 0;
    ProgramLayer layer;
    if (reads) {
      const Output& from = network.layers.back().job.plan.output;
      c = follower(random, c, static_cast<std::int8_t>(from.zero));
      layer.source = i - 1;
    } else if (i != 0) {
      c = random_convolution(random, 20, 9, 60'000);
    }
    const Output output = i + 1 < count || last_is_int8 ? int8_output(random) : Output{};
    Operands operands = random_operands(random, c);
    if (reads) operands.a = network.layers.back().expected.cast<std::int8_t>();
    layer.job = gemm64::make_job("layer " + std::to_string(i), c, geometry, output);
    layer.expected = expected_convolution(c, output, operands);
    if (!reads) layer.a = operands.a;
    layer.w = operands.w;
    layer.bias = operands.bias;
    layer.scale = operands.scales;
    network.layers.push_back(std::move(layer));
  }
  return network;
}

/// Keeps a program for its observer, which looks at it while it runs.
class ListObserver : public JobObserver {
 public:
  explicit ListObserver(std::vector<JobObserver*> others) : others_(std::move(others)) {}
  void begin(const Job&, std::uint64_t) override {}
  void begin(const JobProgram& list, std::uint64_t clock) override {
    commands = list.program.size();
    plans.clear();
    for (const Job& job : list.jobs) plans.push_back(job.plan);
    for (JobObserver* other : others_) other->begin(list, clock);
  }
  void clock(std::uint64_t, const Probe&) override {}
  void end(std::uint64_t clock) override {
    for (JobObserver* other : others_) other->end(clock);
  }

  std::size_t commands = 0;
  std::vector<Plan> plans;

 private:
  std::vector<JobObserver*> others_;
};

/// The tiles that all layers' plans have, in their order.
Tiles tiles_of(const std::vector<Plan>& plans) {
  Tiles tiles;
  for (const Plan& plan : plans) {
    Tiles part = planned_tiles(plan);
    part.erase("activations");  // they are planes of pixels
    for (auto& [engine, list] : part) {
      tiles[engine].insert(tiles[engine].end(), list.begin(), list.end());
    }
  }
  return tiles;
}

void expect_timeline(Rig& rig, std::mt19937& random, unsigned layers) {
  const TestFolder folder;
  const std::filesystem::path path = folder / "windows.json";
  Timeline timeline(path);
  EventRecorder recorder;
  ListObserver list({&timeline});
  rig.device->observe(timeline);
  rig.device->observe(recorder);
  rig.set_latency(draw(random, 1, 120));
  RunOptions options;
  options.memory = rig.memory;
  options.observers = {&list};
  JobRunner runner(*rig.device, rig.driver, options);
  const Network network = random_network(random, rig.driver.geometry(), layers, false);
  const std::vector<LayerReport> reports =
      runner.run_program(network.layers, ProgressShare()).layers;
  timeline.finish();

  Counters expected{};
  for (const LayerReport& report : reports) {
    EXPECT_EQ(report.mismatches.count, 0u);
    for (std::size_t i = 0; i < counter::kBytesWeights; ++i) expected[i] += report.counters[i];
  }
  const TimelineFile file(path);
  expect_places(file, recorder);
  EXPECT_EQ(file.count("commands", "dispatch"), list.commands);
  ASSERT_EQ(file.count("layers", "layer"), layers);
  TimelineSlice all = file.tracks.at("layers").front();
  all.end = file.tracks.at("layers").back().end;
  for (const bool inner : {false, true}) {
    const Counters found = file.counters(inner, all.begin, all.end);
    EXPECT_TRUE(found == expected)
        << (inner ? "tiles" : "commands") << " (model: device, device: timeline)"
        << difference(expected, found);
  }
  Tiles found = found_tiles(file, all);
  found.erase("activations");
  std::vector<std::string>& results = found["results"];
  const auto is_snapshot = [](const std::string& tile) { return tile.rfind("-1 -1 -1", 0) == 0; };
  results.erase(std::remove_if(results.begin(), results.end(), is_snapshot), results.end());
  const Tiles planned = tiles_of(list.plans);
  ASSERT_EQ(found.size(), planned.size());
  for (const auto& [engine, tiles] : planned) EXPECT_EQ(found[engine], tiles) << engine;
  std::uint64_t planes = 0, words = 0;
  for (const TimelineSlice& slice : file.tracks.at("activations")) {
    if (slice.category != "tile") continue;
    EXPECT_GE(slice.args.value("plane", -1), 0);
    ++planes;
    words += slice.args.value("transfer", std::uint64_t{0});
  }
  EXPECT_GE(planes, layers);
  EXPECT_EQ(words, expected[counter::kActivationsTransfer]);
}

TEST(WindowTimeline, AccountsForEveryCycle) {
  for (const int n : {2, 4, 8}) {
    SCOPED_TRACE("N = " + std::to_string(n));
    for_seeds(3300, 6, [&](std::mt19937& random) {
      RtlOptions options = Rig::options(n);
      options.debug = true;
      Rig rig(options);
      expect_timeline(rig, random, draw(random, 1, 3));
    });
  }
}

TEST(WindowTimeline, AccountsForStalls) {
  for_seeds(3320, 4, [&](std::mt19937& random) {
    RtlOptions options = Rig::options(4, 0.3, 5);
    options.debug = true;
    Rig rig(options);
    rig.memory.stall_probability = 0.3;
    expect_timeline(rig, random, 2);
  });
}

TEST(WindowTiles, AreTracedByTheirNames) {
  for_seeds(3340, 6, [](std::mt19937& random) {
    RtlOptions options = Rig::options(4);
    options.debug = true;
    const TestFolder folder;
    options.trace_file = folder / "tile.fst";
    options.trace_begin = std::numeric_limits<std::uint64_t>::max() - 1;
    Rig rig(options);
    const Network network = random_network(random, rig.driver.geometry(), 2, true);
    const TileIndex counts = tile_counts(network.layers[1].job);
    const TileIndex last{counts.m - 1, counts.k - 1, counts.n - 1};
    TileTrace trace(*rig.device, rig.driver.geometry(), TileName{"layer 1", last});
    EventRecorder recorder;
    ListObserver list({&trace});
    rig.device->observe(trace);
    rig.device->observe(recorder);
    RunOptions run;
    run.observers = {&list};
    JobRunner runner(*rig.device, rig.driver, run);
    runner.run_program(network.layers, ProgressShare());
    ASSERT_TRUE(trace.cycles());
    EXPECT_TRUE(trace.cycles()->tile == last);
    // It is the last tile of all: after its last row none enters the array.
    std::uint64_t last_row = 0;
    for (std::uint64_t c = 0; c < recorder.events.size(); ++c) {
      if (recorder.is(c, counter::kComputeCompute)) last_row = c;
    }
    EXPECT_EQ(trace.cycles()->end, last_row + rig.driver.geometry().pipeline() + 1);
  });
}

struct Experiment {
  int n;
  std::uint32_t seed;
  std::vector<Fault> faults;

  std::unique_ptr<RtlDevice> device() const {
    RtlOptions options = Rig::options(n);
    options.debug = true;
    options.seed = seed;
    std::unique_ptr<RtlDevice> device = make_rtl_device(options);
    for (const Fault& fault : faults) device->inject(fault);
    return device;
  }
};

struct Outcome {
  std::optional<Failure> failure;
  Network network;
  std::uint64_t end = 0;  // clock
};

Outcome conduct(const Experiment& experiment) {
  const std::unique_ptr<RtlDevice> device = experiment.device();
  Driver driver(*device);
  std::mt19937 random(experiment.seed);
  Outcome outcome;
  outcome.network = random_network(random, driver.geometry(), 2, experiment.seed % 2 == 0);
  RunOptions options;
  options.investigate = [&](const JobRun& job, Failure& failure) {
    investigate(
        job, [&](bool) { return experiment.device(); }, Timeouts(), failure);
  };
  JobRunner runner(*device, driver, options);
  runner.run_program(outcome.network.layers, ProgressShare());
  outcome.failure = runner.failure();
  outcome.end = device->cycles();
  return outcome;
}

/// What is multiplied at a place, by the definition of a convolution.
void expect_place(const Failure& failure, const Network& network) {
  const Finding& finding = failure.finding;
  const ProgramLayer& layer = network.layers[failure.index];
  const Plan& plan = layer.job.plan;
  const Convolution& c = plan.window->convolution;
  ASSERT_TRUE(finding.window) << describe(failure);
  const WindowPlace& place = *finding.window;
  const auto pixel = static_cast<std::uint64_t>(failure.mismatches.first_row);
  const auto out = static_cast<std::uint64_t>(failure.mismatches.first_column);
  EXPECT_EQ((place.image * c.out_height + place.out_row) * c.out_width + place.out_column, pixel);
  EXPECT_EQ(place.tap_row * c.kernel_width + place.tap_column, finding.tile.k % c.taps());
  EXPECT_EQ(place.row + c.pad_top, static_cast<std::int64_t>(place.out_row * c.stride_height +
                                                             place.tap_row * c.dilation_height));
  EXPECT_EQ(place.column + c.pad_left,
            static_cast<std::int64_t>(place.out_column * c.stride_width +
                                      place.tap_column * c.dilation_width));
  EXPECT_EQ(place.inside,
            place.row >= 0 && place.row < c.height && place.column >= 0 && place.column < c.width);
  EXPECT_THAT(describe(failure), Says("multiplied    output pixel"));
  if (!finding.channel) return;
  EXPECT_EQ(*finding.channel % plan.array, finding.row);
  if (finding.place == Finding::Place::kWeight) {
    const std::uint64_t first = out / c.group_out_channels() * c.group_channels();
    std::int64_t expected = 0;
    if (*finding.channel >= first && *finding.channel < first + c.group_channels()) {
      expected = layer.w(static_cast<Eigen::Index>(out),
                         static_cast<Eigen::Index>((*finding.channel - first) * c.taps() +
                                                   finding.tile.k % c.taps()));
    }
    EXPECT_EQ(finding.expected, expected);
  }
}

/// Draws faults of one kind until `wanted` of them gave a mismatch, and checks each one's finding.
void draw_faults(Fault::Kind kind, unsigned wanted) {
  unsigned hits = 0;
  for (unsigned seed = 1; hits < wanted; ++seed) {
    ASSERT_LT(seed, 400u) << "faults of this kind hardly ever show";
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed + 77);
    Experiment experiment{2 << draw(random, 0, 2), seed, {}};
    const auto n = static_cast<unsigned>(experiment.n);
    const std::uint64_t cycles = conduct(experiment).end;
    // High bits, which 8-bit results do not hide.
    const Fault fault = draw_fault(random, kind, n, cycles, 5, 12);
    SCOPED_TRACE(to_string(fault));
    experiment.faults = {fault};
    const Outcome outcome = conduct(experiment);
    if (!outcome.failure) continue;
    ++hits;
    const Finding& finding = outcome.failure->finding;
    SCOPED_TRACE(describe(*outcome.failure));
    EXPECT_EQ(finding.column,
              static_cast<std::uint64_t>(outcome.failure->mismatches.first_column) % n);
    EXPECT_EQ(finding.tile.n,
              static_cast<std::uint64_t>(outcome.failure->mismatches.first_column) / n);
    expect_place(*outcome.failure, outcome.network);
    // One of an accumulator may have been put in while the row waited for its way out.
    if (kind != Fault::Kind::kAccumulator || (finding.place != Finding::Place::kRequantized &&
                                              finding.place != Finding::Place::kMemory)) {
      expect_found(fault, finding);
    }
    EXPECT_TRUE(finding.channel || kind == Fault::Kind::kPartialSum ||
                kind == Fault::Kind::kAccumulator);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(WindowFailures, WrongWeightIsFound) { draw_faults(Fault::Kind::kWeight, 12); }
TEST(WindowFailures, WrongActivationIsFound) { draw_faults(Fault::Kind::kActivation, 12); }
TEST(WindowFailures, WrongPartialSumIsFound) { draw_faults(Fault::Kind::kPartialSum, 12); }
TEST(WindowFailures, WrongAccumulatorIsFound) { draw_faults(Fault::Kind::kAccumulator, 6); }

/// A chain in stripes with a fault; its last layer is on the array.
struct StripedExperiment {
  std::uint32_t seed = 1;
  std::vector<Fault> faults;

  std::unique_ptr<RtlDevice> device() const {
    RtlOptions options = Rig::options(4);
    options.debug = true;
    std::unique_ptr<RtlDevice> device = make_rtl_device(options);
    for (const Fault& fault : faults) device->inject(fault);
    return device;
  }

  /// Returns the failure of the last layer, if it has one; nothing if the seed draws no such chain.
  std::optional<Failure> run(std::uint64_t& cycles) const;
};

std::optional<Failure> StripedExperiment::run(std::uint64_t& cycles) const {
  const std::unique_ptr<RtlDevice> device = this->device();
  Driver driver(*device);
  std::mt19937 random(seed);
  Geometry geometry = driver.geometry().with_tensor_memory();
  ProgramParts program(random, geometry);
  Convolution c;
  c.height = c.width = c.out_height = c.out_width = draw(random, 12, 18);
  c.out_channels = draw(random, 4, 8);
  for (unsigned i = 0; i < 3; ++i) {
    const bool middle = i == 1, on_lanes = middle && draw(random, 0, 1) != 0;
    c.channels = c.out_channels;
    c.kernel_height = c.kernel_width = middle ? 3 : 1;
    c.pad_top = c.pad_left = middle ? 1 : 0;
    c.groups = on_lanes ? c.channels : 1;
    program.add(c, int8_output(random), i == 0 ? std::nullopt : std::optional<std::size_t>(i - 1),
                on_lanes);
  }
  for (std::size_t i = 0; i < 2; ++i) program.parts[i].job.internal = true;
  geometry.tensor_words = draw(random, 150, 350);
  const JobProgram list = jobs_of(program.parts, geometry);
  cycles = 0;
  if (!list.is_in_stripes(2)) return std::nullopt;
  std::vector<SharedBytes> weights;
  std::vector<std::vector<std::uint8_t>> parameters;
  for (std::size_t i = 0; i < 3; ++i) {
    Packed packed(list.jobs[i], program.parts[i].operands);
    weights.emplace_back(std::move(packed.weights));
    parameters.push_back(std::move(packed.parameters));
  }
  const MatrixI8 none;
  std::vector<JobOperands> operands;
  for (std::size_t i = 0; i < 3; ++i) {
    operands.push_back({weights[i], i == 0 ? program.parts[0].operands.a : none, &parameters[i]});
  }
  Failure failure;
  failure.first_clock = device->cycles();
  device->reset();
  const std::vector<GemmResult> results = driver.run(list, operands);
  cycles = device->cycles();
  const ProgramPart& last = program.parts.back();
  failure.mismatches = compare(last.expected, results.back().sums);
  if (failure.mismatches.count == 0) return std::nullopt;
  investigate(
      {list.jobs[2], weights[2], last.operands.a, last.operands.w, &parameters[2], &list, &operands,
       2},
      [this](bool) { return this->device(); }, Timeouts(), failure);
  EXPECT_LT(failure.finding.tile.m, tile_counts(list.jobs[2]).m);
  return failure;
}

TEST(WindowFailures, OfStripesAreFoundInTheirTile) {
  unsigned sums = 0, operands = 0;
  for (std::uint32_t seed = 1; sums < 4 || operands < 4; ++seed) {
    ASSERT_LT(seed, 200U);
    std::uint64_t cycles = 0;
    StripedExperiment experiment{seed, {}};
    ASSERT_FALSE(experiment.run(cycles));
    if (cycles == 0) continue;
    const std::uint64_t end = cycles;
    std::mt19937 random(seed);
    for (int i = 0; i < 8; ++i) {
      const Fault fault = draw_fault(random, Fault::Kind::kPartialSum, 4, end, 5, 14);
      experiment.faults = {fault};
      const std::optional<Failure> failure = experiment.run(cycles);
      if (!failure) continue;
      const Finding& finding = failure->finding;
      SCOPED_TRACE(fmt::format("seed {}, {}: {}", seed, to_string(fault), describe(*failure)));
      EXPECT_EQ(finding.tile.n, static_cast<std::uint64_t>(failure->mismatches.first_column) / 4);
      if (finding.place == Finding::Place::kPartialSum) {
        EXPECT_EQ(finding.row, fault.row);
        EXPECT_EQ(finding.column, fault.column);
        EXPECT_EQ(finding.wrong_clock, fault.clock);
        ++sums;
      } else {  // in an earlier layer: what this one reads is wrong
        EXPECT_EQ(finding.place, Finding::Place::kActivation);
        EXPECT_GT(finding.wrong_clock, fault.clock);
        ++operands;
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gemm64::system_test
