// SPDX-License-Identifier: Apache-2.0
// Faults in accelerators that find those of their array: what they find, and what becomes of it.

#include "host/device/depthwise.hpp"
#include "host/device/fault.hpp"
#include "host/faults/fault_campaign.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/tiling/tile_walk.hpp"
#include "sim/models/devices.hpp"
#include "tests/system/draw_fault.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

/// A product on a device with faults, run as the program runs it.
struct Trial {
  LayerReport layer;
  std::string error;
  std::uint64_t end = 0;  // clock
};

Trial conduct(int n, const GemmShape& shape, const std::vector<Fault>& faults) {
  RtlOptions options = Rig::options(n);
  options.debug = true;
  options.self_check = true;
  const std::unique_ptr<RtlDevice> device = make_rtl_device(options);
  for (const Fault& fault : faults) device->inject(fault);
  Driver driver(*device);
  std::mt19937 random(5);
  const Operands operands = random_operands(random, shape);
  JobRunner runner(*device, driver, RunOptions());
  Trial trial;
  MatrixI32 sums;
  trial.error = message_of<DeviceError>([&] {
    trial.layer =
        runner.run(runner.job("product", shape), operands.a, operands.w, sums, ProgressShare());
  });
  trial.end = device->cycles();
  return trial;
}

bool is_in_memory(Fault::Kind kind) {
  return kind == Fault::Kind::kAccumulator || kind == Fault::Kind::kScratchpad ||
         kind == Fault::Kind::kStoredWeight;
}

/// Where a device of N = 4 reports that it found the fault: the memory, and the word of it.
std::pair<std::string, std::uint64_t> told_place(const Fault& fault) {
  constexpr unsigned kLine = 128;  // words of a row of the lanes
  switch (fault.kind) {
    case Fault::Kind::kAccumulator:
      return {fault.bank == 0 ? "accumulator bank 0" : "accumulator bank 1", fault.row};
    case Fault::Kind::kScratchpad:
      return {"scratchpad", fault.row};
    case Fault::Kind::kStoredWeight:
      return {"weight buffer", fault.row};
    case Fault::Kind::kStoredBias:
      return {"biases", 4 * fault.row + fault.column};
    case Fault::Kind::kStoredScale:
      return {"scales", 4 * fault.row + fault.column};
    case Fault::Kind::kStoredOperand:
      return {"second operands", fault.row};
    case Fault::Kind::kTable:
      return {"table of the element-wise unit", fault.place};
    case Fault::Kind::kVector:
      return {"element-wise unit", 0};
    case Fault::Kind::kLaneWeight:
      return {"weights of the depthwise unit",
              16 * (fault.row % kLaneTaps) + 8 * fault.bank + fault.row / kLaneTaps};
    case Fault::Kind::kLaneLine:
      return {"line buffers of the depthwise unit", kLine * (fault.bank + 1) + fault.row};
    case Fault::Kind::kLaneValue:
    case Fault::Kind::kLaneSum:
      return {"window and sums of the depthwise unit", 0};
    case Fault::Kind::kCommand:
      return {"commands fetched", 0};
    default:
      return {};
  }
}

class FoundFaults : public testing::TestWithParam<std::tuple<int, Fault::Kind>> {};

// A flip that changed a sum and was not found would leave a wrong result.
TEST_P(FoundFaults, NoFlipLeavesAWrongSum) {
  constexpr GemmShape kShape{21, 19, 18};
  const auto [n, kind] = GetParam();
  const std::uint64_t cycles = conduct(n, kShape, {}).end;
  std::size_t found = 0;
  for (std::uint32_t seed = 1; seed <= seeds_to_run(200); ++seed) {
    std::mt19937 random(seed);
    const Fault fault = draw_fault(random, kind, static_cast<unsigned>(n), cycles, 0, 0);
    SCOPED_TRACE(to_string(fault));
    const Trial trial = conduct(n, kShape, {fault});
    ASSERT_EQ(trial.error, "");
    EXPECT_EQ(trial.layer.mismatches.count, 0u);
    EXPECT_EQ(trial.layer.counters, trial.layer.predicted);
    ASSERT_LE(trial.layer.faults.size(), 1u);
    found += trial.layer.faults.size();
    for (const LayerFault& one : trial.layer.faults) {
      EXPECT_EQ(one.error, is_in_memory(kind) ? "PARITY" : "CHECKSUM");
      EXPECT_EQ(one.memory, told_place(fault).first);
      if (is_in_memory(kind)) {
        EXPECT_EQ(one.place, told_place(fault).second);
      }
      EXPECT_GT(one.clock, fault.clock);
    }
  }
  EXPECT_GE(found, seeds_to_run(6)) << "faults hardly change anything";
}

// Two wrong rows of a block: the place is that of the one that was stored first, where both were
// there by then.
TEST(FoundFault, OfTwoWrongRowsFirstIsReported) {
  constexpr GemmShape kShape{4, 4, 4};
  const std::uint64_t cycles = conduct(4, kShape, {}).end;
  const auto cycle_of = [&](const std::vector<Fault>& faults) -> std::optional<std::uint64_t> {
    const Trial trial = conduct(4, kShape, faults);
    EXPECT_EQ(trial.error, "");
    if (trial.layer.faults.empty()) return std::nullopt;
    return trial.layer.faults.front().place;
  };
  std::size_t pairs = 0;
  for (std::uint64_t clock = 1; clock < cycles; ++clock) {
    const auto flip = [&](unsigned row) {
      return parse_fault(fmt::format("accumulator:0,{},1:5@{}", row, clock));
    };
    const auto first = cycle_of({flip(1)}), second = cycle_of({flip(2)});
    if (!first || !second) continue;
    ++pairs;
    EXPECT_EQ(cycle_of({flip(1), flip(2)}), 1u) << "in cycle " << clock;
  }
  EXPECT_GT(pairs, 3u) << "they hardly ever lie there together";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FoundFaults,
    testing::Combine(testing::Values(4, 8),
                     testing::Values(Fault::Kind::kWeight, Fault::Kind::kActivation,
                                     Fault::Kind::kPartialSum, Fault::Kind::kAccumulator,
                                     Fault::Kind::kScratchpad, Fault::Kind::kStoredWeight)),
    [](const auto& test) {
      std::string word =
          "N" + std::to_string(std::get<0>(test.param)) + name(std::get<1>(test.param));
      word.erase(std::remove(word.begin(), word.end(), '-'), word.end());
      return word;
    });

std::unique_ptr<DebugDevice> make_checked(const DeviceOptions& options) {
  return devices().find("rtl").make_inspectable(options, TraceOptions());
}

/// Of the array of 4 x 4 that checks itself.
Geometry small_geometry() {
  DeviceOptions options;
  options.array = 4;
  options.self_check = true;
  return read_geometry(*make_checked(options));
}

struct InMemory {
  FaultProgram program;
  Fault::Kind kind;
};

class FoundFaultsInMemory : public testing::TestWithParam<InMemory> {};

// What a memory or a command holds never leaves as a wrong result; a fault that is found passes.
TEST_P(FoundFaultsInMemory, LeaveNoWrongResult) {
  const auto [program, kind] = GetParam();
  const std::vector<Fault::Kind>& kinds = kinds_of(program);
  const auto place =
      static_cast<std::uint64_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
  ASSERT_LT(place, kinds.size());
  const Geometry geometry = small_geometry();
  std::size_t found = 0;
  for (std::uint64_t round = 0; round < 60; ++round) {
    FaultTry drawn = draw_try(4, program, place + round * kinds.size(), geometry);
    drawn.self_check = true;
    ASSERT_EQ(drawn.fault.kind, kind);
    const TriedFault tried = carry_out(drawn, make_checked);
    ASSERT_TRUE(tried.outcome == FaultOutcome::kMasked || tried.outcome == FaultOutcome::kRunAgain)
        << name(tried.outcome) << ": " << command_of(drawn) << "\n"
        << tried.error;
    if (tried.outcome == FaultOutcome::kMasked) continue;
    ++found;
    EXPECT_EQ(tried.found_in, told_place(drawn.fault).first) << command_of(drawn);
    EXPECT_EQ(tried.found_word, told_place(drawn.fault).second) << command_of(drawn);
  }
  EXPECT_GT(found, 0u) << "no fault was met";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, FoundFaultsInMemory,
    testing::Values(InMemory{FaultProgram::kProducts, Fault::Kind::kCommand},
                    InMemory{FaultProgram::kConvolutions, Fault::Kind::kCommand},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kCommand},
                    InMemory{FaultProgram::kVector, Fault::Kind::kCommand},
                    InMemory{FaultProgram::kConvolutions, Fault::Kind::kScratchpad},
                    InMemory{FaultProgram::kConvolutions, Fault::Kind::kStoredWeight},
                    InMemory{FaultProgram::kConvolutions, Fault::Kind::kAccumulator},
                    InMemory{FaultProgram::kConvolutions, Fault::Kind::kStoredBias},
                    InMemory{FaultProgram::kConvolutions, Fault::Kind::kStoredScale},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kScratchpad},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kStoredWeight},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kAccumulator},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kLaneWeight},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kLaneLine},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kLaneValue},
                    InMemory{FaultProgram::kLanes, Fault::Kind::kLaneSum},
                    InMemory{FaultProgram::kVector, Fault::Kind::kStoredOperand},
                    InMemory{FaultProgram::kVector, Fault::Kind::kStoredScale},
                    InMemory{FaultProgram::kVector, Fault::Kind::kTable},
                    InMemory{FaultProgram::kVector, Fault::Kind::kVector}),
    [](const auto& test) {
      std::string word = std::string(name(test.param.program)) + name(test.param.kind);
      word.erase(std::remove(word.begin(), word.end(), '-'), word.end());
      return word;
    });

// Registers are read back: no flip leaves a wrong result or another error. Counters that are
// cleared before the first command has come are all that go unnoticed.
TEST(FoundFault, OfARegisterIsFoundByTheDriver) {
  const Geometry geometry = small_geometry();
  std::size_t found = 0;
  for (const FaultProgram program : {FaultProgram::kProducts, FaultProgram::kLanes}) {
    const std::vector<Fault::Kind>& kinds = kinds_of(program);
    const auto place = static_cast<std::uint64_t>(
        std::find(kinds.begin(), kinds.end(), Fault::Kind::kRegister) - kinds.begin());
    for (std::uint64_t round = 0; round < seeds_to_run(150); ++round) {
      FaultTry drawn = draw_try(6, program, place + round * kinds.size(), geometry);
      ASSERT_EQ(drawn.fault.kind, Fault::Kind::kRegister);
      drawn.self_check = true;
      const TriedFault tried = carry_out(drawn, make_checked);
      const bool cleared =
          kFaultRegisters[drawn.fault.place].name == std::string("CONTROL") && drawn.fault.bit == 1;
      // Between the writes of the base's halves a high one above the bus lets the device refuse the
      // low one, which ends the run.
      if (kFaultRegisters[drawn.fault.place].name == std::string("RING_BASE_HIGH") &&
          tried.outcome == FaultOutcome::kStopped) {
        EXPECT_THAT(tried.error, Says("write of the register at 0x034: answered with SLVERR"));
        continue;
      }
      ASSERT_TRUE(tried.outcome == FaultOutcome::kMasked ||
                  tried.outcome == FaultOutcome::kRunAgain ||
                  (cleared && tried.outcome == FaultOutcome::kWrongCounters))
          << name(tried.outcome) << ": " << command_of(drawn) << "\n"
          << tried.error;
      if (tried.outcome != FaultOutcome::kRunAgain) continue;
      ++found;
      // An unrequested soft reset empties the ring.
      const std::string fault = kFaultRegisters[drawn.fault.place].name;
      EXPECT_EQ(tried.found_in, fault == "CONTROL" && !cleared ? "RING_TAIL" : fault)
          << command_of(drawn);
    }
  }
  EXPECT_GT(found, seeds_to_run(100));
}

/// The tile whose weights are in the array in some cycle, by the rows that enter.
TEST(FoundFault, NamesTheTileAndTheRow) {
  // 4 x 4: tiles of four rows, three of K and two of N. A sum is flipped a cycle after another, so
  // that every row of every tile is met.
  constexpr GemmShape kShape{4, 12, 8};
  std::vector<std::string> places;
  const std::uint64_t end = conduct(4, kShape, {}).end;
  for (std::uint64_t clock = 100; clock < end; ++clock) {
    Fault fault;
    fault.kind = Fault::Kind::kPartialSum;
    fault.column = 0;
    fault.bit = 3;
    fault.clock = clock;
    const Trial trial = conduct(4, kShape, {fault});
    if (trial.layer.faults.empty()) continue;
    const LayerFault& found = trial.layer.faults.front();
    places.push_back(to_string(found.tile) + " row " + std::to_string(found.place));
  }
  std::vector<std::string> rows;
  for (const char* tile : {"0,0,0", "0,1,0", "0,2,0", "0,0,1", "0,1,1", "0,2,1"}) {
    for (int row = 0; row < 4; ++row)
      rows.push_back(std::string(tile) + " row " + std::to_string(row));
  }
  EXPECT_EQ(places, rows);
}

TEST(FoundFault, OfAProgramOfLayersNamesTheLayer) {
  constexpr GemmShape kShape{9, 8, 8};
  const auto run_both = [&](const std::vector<Fault>& faults, std::uint64_t& end) {
    RtlOptions rtl = Rig::options(4);
    rtl.debug = true;
    rtl.self_check = true;
    const std::unique_ptr<RtlDevice> device = make_rtl_device(rtl);
    for (const Fault& fault : faults) device->inject(fault);
    Driver driver(*device);
    RunOptions options;
    options.one_program = true;
    JobRunner runner(*device, driver, options);
    std::mt19937 random(3);
    std::vector<LayerReport> layers;
    for (const char* name : {"first", "second"}) {
      const Operands operands = random_operands(random, kShape);
      MatrixI32 sums;
      layers.push_back(
          runner.run(runner.job(name, kShape), operands.a, operands.w, sums, ProgressShare()));
    }
    runner.finish(layers, ProgressShare());
    end = device->cycles();
    return layers;
  };
  std::uint64_t end = 0;
  run_both({}, end);
  std::vector<std::string> found;
  for (std::uint64_t clock = 100; clock < end; clock += 3) {
    Fault fault;
    fault.kind = Fault::Kind::kPartialSum;
    fault.bit = 7;
    fault.clock = clock;
    std::uint64_t ignored = 0;
    for (const LayerReport& layer : run_both({fault}, ignored)) {
      EXPECT_EQ(layer.mismatches.count, 0u) << to_string(fault);
      EXPECT_EQ(layer.counters, layer.predicted) << to_string(fault);
      if (layer.faults.empty()) continue;
      if (found.empty() || found.back() != layer.name) found.push_back(layer.name);
    }
  }
  EXPECT_THAT(found, testing::ElementsAre("first", "second"));
}

// In whatever clock, until the last of a row's sums has left: the command that the error names is
// the one that made it.
TEST(FoundFault, OfALanesSumIsThatOfItsCommand) {
  const Geometry geometry = small_geometry();
  std::size_t found = 0;
  for (std::uint64_t index = 0, tries = 0; tries < 2; ++index) {
    FaultTry drawn = draw_try(9, FaultProgram::kLanes, index, geometry);
    if (drawn.fault.kind != Fault::Kind::kLaneSum || drawn.layers.size() != 1) continue;
    ++tries;
    drawn.self_check = true;
    drawn.memory = {};
    drawn.fault.place = 0;
    drawn.fault.bit = 0;
    for (drawn.fault.clock = 60; drawn.fault.clock < 400; ++drawn.fault.clock) {
      const TriedFault tried = carry_out(drawn, make_checked);
      ASSERT_TRUE(tried.outcome == FaultOutcome::kMasked ||
                  tried.outcome == FaultOutcome::kRunAgain)
          << command_of(drawn) << "\n"
          << tried.error;
      found += tried.outcome == FaultOutcome::kRunAgain;
    }
  }
  EXPECT_GT(found, 10u);
}

/// Of the flips of each bit of each register of the array in each cycle of a run of one tile, each
/// `step`th.
void flip_every_bit(std::uint64_t step) {
  constexpr GemmShape kTile{4, 4, 4};
  constexpr unsigned kSumBits = 18;
  const std::uint64_t end = conduct(4, kTile, {}).end;
  std::size_t flips = 0, tried = 0, found = 0;
  const auto flip = [&](const Fault& fault) {
    if (flips++ % step != 0) return;
    const Trial trial = conduct(4, kTile, {fault});
    ++tried;
    ASSERT_EQ(trial.error, "") << to_string(fault);
    ASSERT_EQ(trial.layer.mismatches.count, 0u) << to_string(fault);
    for (const LayerFault& one : trial.layer.faults) EXPECT_EQ(one.error, "CHECKSUM");
    found += trial.layer.faults.size();
  };
  Fault fault;
  for (fault.clock = 1; fault.clock < end; ++fault.clock) {
    for (fault.column = 0; fault.column < 4; ++fault.column) {
      fault.kind = Fault::Kind::kPartialSum;
      fault.row = 0;
      for (fault.bit = 0; fault.bit < kSumBits; ++fault.bit) flip(fault);
      for (fault.row = 0; fault.row < 4; ++fault.row) {
        for (fault.bit = 0; fault.bit < 8; ++fault.bit) {
          for (const auto kind : {Fault::Kind::kWeight, Fault::Kind::kActivation}) {
            fault.kind = kind;
            flip(fault);
          }
        }
      }
    }
    if (testing::Test::HasFatalFailure()) return;
  }
  testing::Test::RecordProperty("tried", std::to_string(tried));
  testing::Test::RecordProperty("found", std::to_string(found));
  // Each bit of the four rows' sums in the cycle in which it matters, if no other
  if (step == 1) EXPECT_GE(found, 4 * 4 * kSumBits);
  EXPECT_GT(found, 0u);
}

TEST(FoundFault, OfFewFlipsNoneLeavesAWrongSum) { flip_every_bit(997); }

TEST(FoundFault, OfSomeFlipsNoneLeavesAWrongSum) { flip_every_bit(97); }

// All of them, minutes: --gtest_also_run_disabled_tests
TEST(FoundFault, DISABLED_OfEveryFlipNoneIsLeft) { flip_every_bit(1); }

TEST(FoundFault, ASecondOneEndsTheRunByName) {
  constexpr GemmShape kShape{40, 12, 8};
  Fault fault;
  fault.kind = Fault::Kind::kPartialSum;
  fault.bit = 3;
  std::vector<Fault> faults;
  // One in many cycles: whatever the second run's cycles are, it meets one.
  for (fault.clock = 150; fault.clock < 3000; fault.clock += 3) faults.push_back(fault);
  const Trial trial = conduct(4, kShape, faults);
  EXPECT_THAT(trial.error,
              Says("CHECKSUM at command", "(MATMUL", "engine 'compute'", "ran the first time"));
}

}  // namespace
}  // namespace gemm64::system_test
