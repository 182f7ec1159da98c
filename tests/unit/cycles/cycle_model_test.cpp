// SPDX-License-Identifier: Apache-2.0
// What must hold for any prediction. That predictions equal the RTL's counters is for tests/system.
#include "host/cycles/cycle_model.hpp"

#include "host/tiling/job_program.hpp"
#include "host/tiling/program.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/plans.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kFewProducts = 2'000'000;

Counters predict(const Plan& plan, const Geometry& geometry, std::uint32_t latency) {
  return predict_counters(make_program(plan, make_layout(plan)), geometry, MemoryTiming{latency});
}

std::uint64_t cycles(const GemmShape& shape, Accumulate accumulate, const Geometry& geometry,
                     std::uint32_t latency) {
  return predict(make_plan(shape, accumulate, geometry), geometry, latency)[counter::kTotalClocks];
}

/// Each latency in its turn, the same sequence in every run.
std::uint32_t next_latency() {
  static std::uint32_t turn = 0;
  constexpr std::uint32_t kLatencies[] = {1, 2, 7, 30, 100, 300};
  return kLatencies[turn++ % 6];
}

TEST(CycleModel, CountersAgreeWithThePlan) {
  for_plans(30, 15, kFewProducts,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              const Plan plan = make_plan(shape, accumulate, geometry);
              const std::uint32_t latency = next_latency();
              const Counters counters = predict(plan, geometry, latency);
              const std::uint64_t total = counters[counter::kTotalClocks];
              // Causes of each engine add up to the total.
              for (const EngineEntry& engine : kEngines) {
                std::uint64_t sum = 0;
                for (std::size_t i = 0; i < kCounters.size(); ++i) {
                  if (std::string(kCounters[i].engine) != engine.name) continue;
                  EXPECT_LE(counters[i], total) << kCounters[i].cause;
                  sum += counters[i];
                }
                EXPECT_EQ(sum, total) << engine.name;
              }
              const Traffic traffic = predict_traffic(plan);
              EXPECT_EQ(counters[counter::kBytesWeights], traffic.weights);
              EXPECT_EQ(counters[counter::kBytesActivations], traffic.activations);
              EXPECT_EQ(counters[counter::kBytesResults], traffic.results);
              EXPECT_EQ(counters[counter::kBytesCommands], traffic.commands);
              EXPECT_EQ(counters[counter::kWeightsTransfer] * geometry.n, traffic.weights);
              EXPECT_EQ(counters[counter::kActivationsTransfer] * geometry.n, traffic.activations);
              EXPECT_EQ(counters[counter::kResultsTransfer] * geometry.n, traffic.results);
              EXPECT_EQ(counters[counter::kCommandsDispatch], program_length(plan));
              EXPECT_EQ(counters[counter::kComputeCompute], shape.m * plan.tiles());
              // Lower bounds: a word of weights per cycle, max(rows, N) cycles per tile, a beat of
              // results per cycle. Before the first tile a command and a word arrive; after the
              // last a result leaves.
              std::uint64_t array = 0;
              for (const RowGroup& group : plan.groups) {
                array += plan.tiles() * group.blocks * std::max(group.rows, geometry.n);
              }
              EXPECT_GE(total, array - geometry.n + 1 + 3 * latency);
              EXPECT_GE(total, traffic.weights / geometry.n + 3 * latency);
              EXPECT_GE(total, traffic.results / geometry.n + 3 * latency);
            });
}

TEST(CycleModel, ALongerLatencyNeverSavesCycles) {
  for_plans(33, 3, kFewProducts / 10,
            [](const GemmShape& shape, Accumulate accumulate, const Geometry& geometry) {
              SCOPED_TRACE(describe(shape, geometry));
              std::uint64_t before = 0;
              for (const std::uint32_t latency : {1, 2, 3, 10, 64, 100, 101, 300, 1000}) {
                const std::uint64_t total = cycles(shape, accumulate, geometry, latency);
                EXPECT_GT(total, before);
                before = total;
              }
            });
}

// Measured on the RTL, and pinned: any change of these is one of the accelerator.
TEST(CycleModel, AlexNetLinearAtLatency100) {
  const struct {
    GemmShape shape;
    std::uint64_t cycles;
  } layers[] = {
      {{64, 9216, 4096}, 590'534}, {{64, 4096, 4096}, 262'854}, {{64, 4096, 1000}, 66'246},
      {{1, 9216, 4096}, 590'218},  {{1, 4096, 4096}, 262'538},  {{1, 4096, 1000}, 65'930},
  };
  std::uint64_t batch_64 = 0, batch_1 = 0;
  for (const auto& layer : layers) {
    const std::uint64_t found = cycles(layer.shape, Accumulate::kDevice, Geometry{}, 100);
    EXPECT_EQ(found, layer.cycles) << describe(layer.shape, Geometry{});
    (layer.shape.m == 64 ? batch_64 : batch_1) += found;
  }
  EXPECT_LE(batch_64, 922'600u);
  EXPECT_LE(batch_1, 922'600u);
}

// A product with one tile of K is bound by its results: 50,176 beats, as int32.
TEST(CycleModel, ABlockBeginsWhileItsBankIsStored) {
  EXPECT_EQ(cycles({3136, 64, 256}, Accumulate::kDevice, Geometry{}, 100), 50'818u);
  EXPECT_EQ(cycles({128, 64, 4096}, Accumulate::kDevice, Geometry{}, 100), 33'414u);
}

// 64 bytes of weights per cycle, 14,336 tiles of 4096 bytes: beyond that there is start and end
// only.
TEST(CycleModel, AlexNetIsBoundByItsWeights) {
  for (const std::uint64_t batch : {1, 2, 32, 63, 64}) {
    for (const GemmShape& shape : {GemmShape{batch, 9216, 4096}, GemmShape{batch, 4096, 4096},
                                   GemmShape{batch, 4096, 1000}}) {
      const Plan plan = make_plan(shape, Accumulate::kDevice, Geometry{});
      const std::uint64_t bound = plan.tiles() * 64;
      const Counters counters = predict(plan, Geometry{}, 100);
      EXPECT_GE(counters[counter::kTotalClocks], bound);
      EXPECT_LE(counters[counter::kTotalClocks], bound + 750);
    }
  }
}

TEST(CycleModel, HostAdditionCostsItsTraffic) {
  const GemmShape shape{64, 4096, 1000};
  const Plan plan = make_plan(shape, Accumulate::kHost, Geometry{});
  const Counters counters = predict(plan, Geometry{}, 100);
  // 64 rows of 64 sums of 4 bytes leave for each tile: four cycles of stores for one of work.
  EXPECT_GE(counters[counter::kTotalClocks], 4 * 64 * plan.tiles());
  EXPECT_GT(counters[counter::kComputeWaitResults], 0u);
  EXPECT_GT(counters[counter::kTotalClocks],
            3 * cycles(shape, Accumulate::kDevice, Geometry{}, 100));
}

// The example that host/cycles/README.md goes through by hand.
TEST(CycleModel, OfTheReadmesExample) {
  Geometry geometry;
  geometry.n = 2;
  geometry.stage_rows = 2;
  const Counters counters =
      predict(make_plan({2, 4, 2}, Accumulate::kDevice, geometry), geometry, 3);
  const Counters expected{188,                              // total
                          5,   160, 23,  0,                 // commands
                          4,   3,   2,   179,               // weights
                          4,   93,  2,   89,                // activations
                          4,   0,   65,  0,   4, 115,       // compute
                          8,   0,   43,  0,   0, 3,   134,  // results
                          0,   0,   0,   188,               // parameters
                          0,   0,   0,   188,               // operands
                          8,   8,   320, 16,  0, 0};        // bytes
  EXPECT_EQ(counters, expected);
}

// 41 commands, of which 16 are fetched ahead: the others are asked for between the activations.
TEST(CycleModel, FetchesLongProgramsBesideTheirWork) {
  const Plan plan = make_plan({64, 256, 128}, Accumulate::kDevice, Geometry{});
  std::vector<Command> once = make_program(plan, make_layout(plan));
  const Command finish = once.back();
  once.pop_back();
  std::vector<Command> program;
  for (int i = 0; i < 10; ++i) program.insert(program.end(), once.begin(), once.end());
  program.push_back(finish);
  Geometry geometry;
  const auto total = [&] {
    return predict_counters(program, geometry, MemoryTiming{})[counter::kTotalClocks];
  };
  const std::uint64_t cycles = total();
  EXPECT_GT(cycles, 10 * 8 * 64u);
  EXPECT_LT(cycles, 10 * predict(plan, geometry, 100)[counter::kTotalClocks]);
  geometry.commands = 1;  // each is fetched when the one before has been dispatched
  EXPECT_GT(total(), cycles);
}

// A block that the scratchpad cannot keep: the MATMUL waits for its last words, these for room.
TEST(CycleModel, NamesCommandsOfAHangingProgram) {
  Plan plan = make_plan({100, 64 * 200, 128}, Accumulate::kDevice, Geometry{});
  ASSERT_FALSE(plan.groups[0].retain);
  plan.groups[0].retain = true;
  for (Command command : make_program(plan, make_layout(plan))) {
    if (command.opcode == Opcode::kMatmul) EXPECT_NE(command.flags & flag::kRetain, 0u);
  }
  EXPECT_THAT(
      [&] { predict(plan, Geometry{}, 100); },
      Fails("never ends: command 4 (FINISH) waits for all others", "command 1 (LOAD_ACTIVATIONS ",
            ") waits for room for its words on the chip", "command 2 (MATMUL ",
            ") waits for activations", ") waits for a finished block"));
}

// At N = 64 and a latency of 100: three products apart take 919,634 and 918,686 cycles.
TEST(CycleModel, AlexNetLinearAsOneProgram) {
  const Geometry geometry;
  const auto total = [&](std::uint64_t batch) {
    std::vector<Job> jobs;
    for (const GemmShape& shape : {GemmShape{batch, 9216, 4096}, GemmShape{batch, 4096, 4096},
                                   GemmShape{batch, 4096, 1000}}) {
      jobs.push_back(make_job("classifier", shape, Accumulate::kDevice, geometry));
    }
    const Prediction whole =
        gemm64::predict(make_job_program(jobs, geometry).program, geometry, MemoryTiming{});
    EXPECT_EQ(whole.snapshots.size(), 2u);
    return whole.counters[counter::kTotalClocks];
  };
  EXPECT_EQ(total(64), 919'428u);
  EXPECT_EQ(total(1), 918'356u);
}

// Four beats a row keep the array waiting; a beat a row does not.
TEST(CycleModel, SingleTilesOfKDoNotWaitForBytes) {
  const GemmShape shape{3136, 64, 256};
  const Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  const Counters bytes =
      predict(make_plan(shape, Accumulate::kDevice, Geometry{}, output), Geometry{}, 100);
  EXPECT_EQ(bytes[counter::kComputeWaitResults], 0u);
  EXPECT_EQ(bytes[counter::kTotalClocks], 13'195u);
  const Counters sums = predict(make_plan(shape, Accumulate::kDevice, Geometry{}), Geometry{}, 100);
  EXPECT_EQ(sums[counter::kTotalClocks], 50'818u);
}

// Each takes the one before's results as they lie; all but the last tile of them are fenced apart.
TEST(CycleModel, AlexNetLinearFusedHidesRoundTrip) {
  const Geometry geometry;
  const Output output{ResultFormat(ResultCode::kInt8), -128, -128, 127};
  const auto total = [&](std::uint64_t batch) {
    std::vector<Job> jobs;
    for (const GemmShape& shape : {GemmShape{batch, 9216, 4096}, GemmShape{batch, 4096, 4096},
                                   GemmShape{batch, 4096, 1000}}) {
      jobs.push_back(make_job("classifier", shape, Accumulate::kDevice, geometry, output));
      if (jobs.size() > 1) jobs.back().source = jobs.size() - 2;
    }
    const Prediction whole =
        gemm64::predict(make_job_program(jobs, geometry).program, geometry, MemoryTiming{});
    EXPECT_EQ(whole.snapshots.size(), 2u);
    EXPECT_EQ(whole.counters[counter::kBytesParameters], (64 + 64 + 16) * 512u);
    return whole.counters[counter::kTotalClocks];
  };
  EXPECT_EQ(total(64), 918'165u);
  EXPECT_EQ(total(1), 917'976u);
}

}  // namespace
}  // namespace gemm64
