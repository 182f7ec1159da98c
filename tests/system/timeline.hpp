// SPDX-License-Identifier: Apache-2.0
// A product on the real RTL with its timeline: every slice against what the device really did.
#pragma once

#include <unistd.h>

#include "host/check/timeline.hpp"
#include "tests/system/system.hpp"
#include "tests/unit/check/timeline_file.hpp"

namespace gemm64::system_test {

/// Keeps the events of every cycle, for comparison.
class EventRecorder : public Observer {
 public:
  void clock(std::uint64_t clock, const Probe& probe) override {
    events.resize(clock, 0);
    events.push_back(probe.events());
  }
  bool is(std::uint64_t clock, std::size_t counter) const {
    return (events.at(clock) >> counter & 1) != 0;
  }

  std::vector<Events> events;
};

inline std::size_t counter_of(const std::string& engine, const std::string& cause) {
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    if (kCounters[i].engine == engine && kCounters[i].cause == cause) return i;
  }
  ADD_FAILURE() << "no counter " << engine << "." << cause;
  return 0;
}

/// Every cycle of every wait has that cause, every tile begins and ends with a transfer.
inline void expect_places(const TimelineFile& file, const EventRecorder& recorder) {
  for (const auto& [engine, track] : file.tracks) {
    if (engine == "layers") continue;
    const std::size_t transfer =
        engine == "commands" ? 0 : counter_of(engine, engine == "compute" ? "compute" : "transfer");
    for (const TimelineSlice& slice : track) {
      SCOPED_TRACE(engine + ": " + slice.name + " at " + std::to_string(slice.begin));
      if (slice.category == "wait" || slice.category == "idle" || slice.category == "dispatch") {
        const std::size_t cause =
            counter_of(engine, slice.category == "dispatch" ? "dispatch" : slice.name);
        ASSERT_NE(cause, transfer) << "a transfer without a command";
        for (std::uint64_t c = slice.begin; c < slice.end; ++c) ASSERT_TRUE(recorder.is(c, cause));
      } else if (slice.category == "tile") {
        ASSERT_TRUE(recorder.is(slice.begin, transfer));
        ASSERT_TRUE(recorder.is(slice.end - 1, transfer));
      } else {
        ASSERT_TRUE(recorder.is(slice.end - 1, transfer));
      }
    }
  }
}

/// The tiles of a layer on each engine's track, in the order of the plan, each with all its
/// transfers: "M K N: transfers", -1 for what the tile has not.
using Tiles = std::map<std::string, std::vector<std::string>>;

inline Tiles planned_tiles(const Plan& plan) {
  Tiles tiles;
  const auto text = [](std::int64_t m, std::int64_t k, std::int64_t n, std::uint64_t transfers) {
    return fmt::format("{} {} {}: {}", m, k, n, transfers);
  };
  std::int64_t m = plan.row_blocks() == 1 ? -1 : 0;
  const bool own_weights = plan.weight_loads() == plan.row_blocks();  // are they loaded per block?
  for (const RowGroup& group : plan.groups) {
    for (std::uint32_t block = 0; block < group.blocks; ++block, ++m) {
      for (std::int64_t n = 0; n < plan.n_tiles; ++n) {
        for (std::int64_t k = 0; k < plan.k_tiles; ++k) {
          if (own_weights || block == 0) {
            tiles["weights"].push_back(text(own_weights ? m : -1, k, n, plan.array));
          }
          tiles["compute"].push_back(text(m, k, n, group.rows));
          if (!group.retain || n == 0) {
            tiles["activations"].push_back(text(m, k, group.retain ? -1 : n, group.rows));
          }
          if (plan.accumulate == Accumulate::kHost) {
            tiles["results"].push_back(text(m, k, n, group.rows * 4));
          }
        }
        if (plan.accumulate == Accumulate::kDevice) {
          tiles["results"].push_back(text(m, -1, n, group.rows * plan.results().beats_per_row()));
        }
        if (plan.results().takes_parameters()) {
          tiles["parameters"].push_back(text(m, -1, n, kParameterSetWords));
        }
      }
    }
  }
  return tiles;
}

inline Tiles found_tiles(const TimelineFile& file, const TimelineSlice& layer) {
  Tiles tiles;
  for (const auto& [engine, track] : file.tracks) {
    for (const TimelineSlice& slice : track) {
      if (slice.category != "tile" || slice.begin < layer.begin || slice.end > layer.end) continue;
      const auto arg = [&slice = slice](const char* name) { return slice.args.value(name, -1); };
      tiles[engine].push_back(fmt::format("{} {} {}: {}", arg("M"), arg("K"), arg("N"),
                                          arg(engine == "compute" ? "compute" : "transfer")));
    }
  }
  return tiles;
}

/// Runs the products one after the other with one timeline, and checks all of it. Returns its
/// bytes.
inline std::uintmax_t expect_timeline(Rig& rig, const std::vector<Workload>& products,
                                      std::mt19937& random) {
  const TestFolder folder;
  const std::filesystem::path path = folder / "timeline.json";
  Timeline timeline(path);
  EventRecorder recorder;
  rig.device->observe(timeline);
  rig.device->observe(recorder);
  std::vector<Counters> counters;
  std::vector<Tiles> tiles;
  std::uint64_t commands = 0;
  for (const Workload& work : products) {
    SCOPED_TRACE(describe(work));
    rig.device->set_latency(work.latency);
    const Operands operands = random_operands(random, work.shape);
    const Job job = make_job(rig, work);
    const Packed packed(job, operands);
    rig.device->reset();
    timeline.begin(job, rig.device->cycles());
    const GemmResult result =
        rig.driver.run(job, JobOperands{packed.weights, operands.a, &packed.parameters});
    timeline.end(rig.device->cycles());
    EXPECT_EQ(result.sums, expected_results(work.output, operands));
    counters.push_back(result.counters);
    tiles.push_back(planned_tiles(job.plan));
    commands += job.program.size();
  }
  timeline.finish();

  const TimelineFile file(path);
  expect_places(file, recorder);
  EXPECT_EQ(file.count("commands", "dispatch"), commands);
  EXPECT_EQ(file.count("layers", "layer"), products.size());
  for (std::size_t i = 0; i < std::min(products.size(), file.count("layers", "layer")); ++i) {
    SCOPED_TRACE(describe(products[i]));
    const TimelineSlice& layer = file.tracks.at("layers")[i];
    EXPECT_TRUE(found_tiles(file, layer) == tiles[i]) << "other tiles than the plan's";
    Counters expected = counters[i];
    for (std::size_t c = counter::kBytesWeights; c < expected.size(); ++c) expected[c] = 0;
    for (const bool inner : {false, true}) {
      const Counters found = file.counters(inner, layer.begin, layer.end);
      EXPECT_TRUE(found == expected)
          << (inner ? "tiles" : "commands") << " (model: device, device: timeline)"
          << difference(expected, found);
    }
  }
  return file.bytes;
}

}  // namespace gemm64::system_test
