// SPDX-License-Identifier: Apache-2.0
#include "host/faults/campaign.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/device/depthwise.hpp"
#include "host/tiling/job.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

Geometry small() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

TEST(Campaign, CallsUnnoticedWhatPassesTheCheck) {
  Evidence evidence;
  evidence.verified = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kUnnoticed);
  evidence.right = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kMasked);
}

TEST(Campaign, SeparatesSumsFromCounters) {
  Evidence evidence;
  EXPECT_EQ(classify(evidence), FaultOutcome::kWrongSums);
  evidence.right = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kWrongCounters);
}

TEST(Campaign, SeparatesEndedFromEndless) {
  Evidence evidence;
  evidence.error = "an assertion";
  EXPECT_EQ(classify(evidence), FaultOutcome::kStopped);
  evidence.reported = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kDeviceError);
  evidence.hung = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kHung);
}

TEST(Campaign, HoldsUnlessHungOrUnnoticed) {
  for (const auto outcome :
       {FaultOutcome::kMasked, FaultOutcome::kWrongSums, FaultOutcome::kWrongCounters,
        FaultOutcome::kDeviceError, FaultOutcome::kStopped, FaultOutcome::kHung,
        FaultOutcome::kUnnoticed}) {
    CampaignReport report;
    report.tries.resize(2);
    report.tries[1].outcome = outcome;
    EXPECT_EQ(report.holds(), outcome != FaultOutcome::kHung && outcome != FaultOutcome::kUnnoticed)
        << name(outcome);
  }
}

TEST(Campaign, DoesNotHoldWhereADiagnosisIsWrong) {
  CampaignReport report;
  report.tries.resize(2);
  report.tries[1].misdiagnosed = true;
  EXPECT_FALSE(report.holds());
}

TEST(Campaign, CountsByProgramKindAndOutcome) {
  CampaignReport report;
  report.tries.resize(3);
  report.tries[0].fault_try.fault.kind = Fault::Kind::kScale;
  report.tries[1].fault_try.fault.kind = Fault::Kind::kScale;
  report.tries[1].fault_try.program = FaultProgram::kLanes;
  report.tries[1].outcome = FaultOutcome::kStopped;
  report.tries[1].misdiagnosed = true;
  EXPECT_EQ(report.count({}, Fault::Kind::kScale, FaultOutcome::kStopped), 1u);
  EXPECT_EQ(report.count({}, Fault::Kind::kScale, FaultOutcome::kMasked), 1u);
  EXPECT_EQ(report.count(FaultProgram::kLanes, Fault::Kind::kScale, FaultOutcome::kMasked), 0u);
  EXPECT_EQ(report.count({}, Fault::Kind::kWeight, FaultOutcome::kMasked), 1u);
  EXPECT_EQ(report.count(FaultOutcome::kMasked), 2u);
  EXPECT_EQ(report.misdiagnosed(), 1u);
  EXPECT_EQ(report.misdiagnosed(FaultProgram::kProducts), 0u);
}

TEST(Campaign, DrawsSameTryForSameSeed) {
  const auto command = [](std::uint32_t seed, std::uint64_t index) {
    return command_of(draw_try(seed, FaultProgram::kProducts, index, small()));
  };
  EXPECT_EQ(command(3, 77), command(3, 77));
  EXPECT_NE(command(3, 77), command(4, 77));
  EXPECT_NE(command(3, 77), command(3, 77 + 13));
}

/// All fault kinds of all programs, in the order of a campaign of all.
std::vector<std::pair<FaultProgram, Fault::Kind>> all_turns() {
  std::vector<std::pair<FaultProgram, Fault::Kind>> turns;
  for (std::size_t i = 0; i < kFaultPrograms; ++i) {
    for (const Fault::Kind kind : kinds_of(static_cast<FaultProgram>(i))) {
      turns.emplace_back(static_cast<FaultProgram>(i), kind);
    }
  }
  return turns;
}

TEST(Campaign, DrawsFaultsOfEveryKindAndPlace) {
  std::set<std::string> registers, channels;
  const auto turns = all_turns();
  std::set<Fault::Kind> kinds;
  for (const auto& [program, kind] : turns) kinds.insert(kind);
  EXPECT_EQ(kinds.size(), kFaultKinds.size());
  for (std::uint64_t index = 0; index < turns.size() * 60; ++index) {
    const FaultTry drawn = draw_try(1, {}, index, small());
    EXPECT_EQ(drawn.program, turns[index % turns.size()].first);
    EXPECT_EQ(drawn.fault.kind, turns[index % turns.size()].second);
    check_fault(drawn.fault, small());
    EXPECT_EQ(to_string(parse_fault(to_string(drawn.fault))), to_string(drawn.fault));
    if (drawn.fault.kind == Fault::Kind::kRegister) {
      registers.insert(kFaultRegisters[drawn.fault.place].name);
    }
    if (drawn.fault.kind == Fault::Kind::kLost) {
      channels.insert(std::to_string(static_cast<int>(drawn.fault.channel)));
    }
  }
  EXPECT_EQ(registers.size(), kFaultRegisters.size());
  EXPECT_EQ(channels.size(), kFaultChannels);
}

TEST(Campaign, DrawsSecondFlipInTheSameWord) {
  std::set<Fault::Kind> kinds;
  for (std::uint64_t index = 0; index < 2'000; ++index) {
    const FaultTry drawn = draw_try(1, {}, index, small(), 2);
    ASSERT_TRUE(drawn.second);
    const Fault& first = drawn.fault;
    const Fault& second = *drawn.second;
    check_fault(second, small());
    EXPECT_EQ(std::tie(second.kind, second.clock, second.bank, second.row),
              std::tie(first.kind, first.clock, first.bank, first.row));
    EXPECT_NE(to_string(second), to_string(first));
    kinds.insert(first.kind);
    if (drawn.program != FaultProgram::kProducts) continue;
    EXPECT_THAT(command_of(drawn),
                Says("--inject " + to_string(first) + " --inject " + to_string(second)));
  }
  EXPECT_EQ(kinds.size(), kFaultKinds.size() - 5);  // no handshake is lost, and no port fails
  EXPECT_EQ(kinds.count(Fault::Kind::kLost), 0u);
  EXPECT_FALSE(draw_try(1, {}, 0, small()).second);
}

/// What of the hardware the programs of a kind use.
struct Seen {
  bool groups = false, stride = false, dilation = false, chain = false;
  bool whole_maps = false, long_rows = false, behind_array = false;
  bool add = false, multiply = false, swap = false, table = false, broadcast = false;
  bool by_image = false, lanes = false, of_layer = false, sums = false, uint8 = false;
  std::set<LaneSum> lane_sums;
  std::set<std::uint32_t> kernels;

  Seen(FaultProgram program, std::uint64_t count) {
    for (std::uint64_t index = 0; index < count; ++index) {
      const FaultTry drawn = draw_try(5, program, index, small());
      chain = chain || drawn.layers.size() > 1;
      for (const FaultLayer& layer : drawn.layers) see(layer);
    }
  }
  void see(const FaultLayer& layer) {
    const Output& output = layer.output;
    sums = sums || !output.format.takes_parameters();
    uint8 = uint8 || output.format.code() == ResultCode::kUint8;
    if (const auto& c = layer.convolution) {
      groups = groups || (c->groups > 1 && c->groups < c->channels);
      stride = stride || c->stride_height > 1 || c->stride_width > 1;
      dilation = dilation || c->dilation_height > 1 || c->dilation_width > 1;
    }
    if (layer.on_lanes) {
      const DepthwiseCommand command = job_of(layer, small()).plan.lanes->command();
      kernels.insert(command.kernel_height);
      lane_sums.insert(layer.sum);
      whole_maps = whole_maps || (command.flags & flag::kAccumulate) != 0;
      long_rows = long_rows || layer.convolution->width > 12;
      behind_array = behind_array || layer.source.has_value();
    }
    if (!output.vector) return;
    add = add || output.vector->add != 0;
    swap = swap || output.vector->swap != 0;
    multiply = multiply || output.vector->multiply != 0;
    table = table || output.vector->table != 0;
    broadcast = broadcast || output.broadcasts();
    by_image = by_image || output.operand_images > 1;
    of_layer = of_layer || layer.operand.has_value();
    lanes = lanes || (output.part && output.part->has_shared_tiles(layer.columns(), small().n));
  }
};

TEST(Campaign, DrawsConvolutionsOfAllSorts) {
  const Seen seen(FaultProgram::kConvolutions, 150);
  EXPECT_TRUE(seen.groups && seen.stride && seen.dilation && seen.chain);
  EXPECT_TRUE(seen.sums && seen.uint8);
  EXPECT_TRUE(seen.kernels.empty());
}

TEST(Campaign, DrawsDepthwiseLayersAndPools) {
  const Seen seen(FaultProgram::kLanes, 300);
  EXPECT_EQ(seen.kernels, (std::set<std::uint32_t>{3, 5, 7}));
  EXPECT_EQ(seen.lane_sums.size(), 3u);
  EXPECT_TRUE(seen.whole_maps);
  EXPECT_TRUE(seen.long_rows);
  EXPECT_TRUE(seen.behind_array);
  EXPECT_TRUE(seen.stride && seen.dilation && seen.sums && seen.uint8);
}

TEST(Campaign, DrawsVectorProgramsOfAllSorts) {
  const Seen seen(FaultProgram::kVector, 400);
  EXPECT_TRUE(seen.add && seen.swap && seen.multiply && seen.table && seen.uint8);
  EXPECT_TRUE(seen.broadcast && seen.by_image && seen.of_layer && seen.lanes);
  EXPECT_FALSE(seen.kernels.empty());
}

TEST(Campaign, DrawsCyclesOfTheRunThatIsPredicted) {
  for (std::uint64_t index = 0; index < 600; ++index) {
    const FaultTry drawn = draw_try(1, FaultProgram::kProducts, index, small());
    const Job job = make_job("gemm", drawn.shape, drawn.accumulate, small());
    const Counters predicted = predict_counters(job.program, small(), drawn.memory);
    EXPECT_GE(drawn.fault.clock, 8u);
    EXPECT_LT(drawn.fault.clock, 8 + 30 + predicted[counter::kTotalClocks]);
    // What is no fault must not look like a hang.
    EXPECT_GT(drawn.watchdog, 16 * drawn.memory.latency);
  }
}

Finding finding(Finding::Place place, unsigned bank, std::uint64_t row, std::uint64_t column,
                std::uint64_t wrong_clock) {
  Finding found;
  found.place = place;
  found.bank = bank;
  found.row = row;
  found.column = column;
  found.wrong_clock = wrong_clock;
  return found;
}

TEST(Campaign, KnowsThePlaceOfAFault) {
  using Place = Finding::Place;
  Plan plan = make_plan(GemmShape{4, 4, 4}, Accumulate::kDevice, small());
  const auto is_place = [&plan](const char* fault, const Finding& found) {
    return is_place_of(parse_fault(fault), found, plan);
  };
  // Two sums a beat of eight bytes.
  EXPECT_TRUE(is_place("result:5:3@50", finding(Place::kMemory, 0, 0, 3, 90)));
  EXPECT_FALSE(is_place("result:5:3@50", finding(Place::kMemory, 0, 0, 2, 90)));
  plan.output.format = ResultFormat(ResultCode::kInt8);
  EXPECT_TRUE(is_place("result:5:3@50", finding(Place::kRequantized, 0, 0, 5, 90)));
  EXPECT_FALSE(is_place("result:5:3@50", finding(Place::kRequantized, 0, 0, 4, 90)));
  EXPECT_TRUE(is_place("weight:1,2:3@50", finding(Place::kWeight, 0, 1, 2, 50)));
  EXPECT_FALSE(is_place("weight:1,2:3@50", finding(Place::kWeight, 0, 2, 2, 50)));
  EXPECT_FALSE(is_place("weight:1,2:3@50", finding(Place::kActivation, 0, 1, 2, 50)));
  EXPECT_TRUE(is_place("activation:1,2:3@50", finding(Place::kActivation, 0, 1, 4, 52)));
  EXPECT_FALSE(is_place("activation:1,2:3@50", finding(Place::kActivation, 0, 1, 4, 53)));
  EXPECT_TRUE(is_place("partial-sum:0,2:3@50", finding(Place::kPartialSum, 0, 0, 2, 50)));
  EXPECT_FALSE(is_place("partial-sum:0,2:3@50", finding(Place::kPartialSum, 0, 0, 2, 51)));
  EXPECT_TRUE(is_place("accumulator:1,0,2:3@50", finding(Place::kAccumulator, 1, 0, 2, 50)));
  EXPECT_FALSE(is_place("accumulator:1,0,2:3@50", finding(Place::kAccumulator, 0, 0, 2, 50)));
  EXPECT_TRUE(is_place("accumulator:1,0,2:3@50", finding(Place::kLanes, 0, 0, 2, 90)));
  EXPECT_TRUE(is_place("scratchpad:70,2:3@50", finding(Place::kActivation, 0, 2, 5, 90)));
  EXPECT_FALSE(is_place("scratchpad:70,2:3@50", finding(Place::kActivation, 0, 1, 5, 90)));
  EXPECT_TRUE(is_place("bias:2:3@50", finding(Place::kRequantized, 0, 0, 2, 90)));
  EXPECT_FALSE(is_place("scale:2:3@50", finding(Place::kRequantized, 0, 0, 3, 90)));
  EXPECT_FALSE(is_place("vector:2:3@50", finding(Place::kAccumulator, 0, 0, 2, 90)));
  EXPECT_TRUE(is_place("lane-sum:2:3@50", finding(Place::kLanes, 0, 0, 2, 90)));
  EXPECT_FALSE(is_place("lane-weight:0,1,2:3@50", finding(Place::kLanes, 0, 0, 1, 90)));
  EXPECT_TRUE(is_place("lane-line:4,9,2:3@50", finding(Place::kLaneLine, 4, 9, 2, 50)));
  EXPECT_FALSE(is_place("lane-line:4,9,2:3@50", finding(Place::kLaneLine, 4, 9, 2, 51)));
  EXPECT_FALSE(is_place("lane-value:4,6,2:3@50", finding(Place::kLaneLine, 4, 6, 2, 50)));
  EXPECT_TRUE(is_place("command:2:3@50", finding(Place::kWeight, 0, 1, 2, 90)));
  EXPECT_FALSE(is_place("command:2:3@50", Finding()));
}

TEST(Campaign, GivesTheCommandOfATry) {
  FaultTry t;
  t.array = 8;
  t.shape = {3, 9, 17};
  t.memory.latency = 21;
  t.seed = 5;
  t.watchdog = 1672;
  t.fault = parse_fault("lost:data.r@512");
  EXPECT_EQ(command_of(t),
            "gemm64 gemm 3 9 17 --array 8 --seed 5 --memory-latency 21 --watchdog 1672 "
            "--inject lost:data.r@512");
  t.accumulate = Accumulate::kHost;
  t.memory.stall_probability = 0.07;
  EXPECT_THAT(command_of(t), Says(" --memory-stalls 0.07 --accumulate host "));
  t.program = FaultProgram::kVector;
  t.campaign_seed = 3;
  t.index = 70;
  EXPECT_EQ(command_of(t), "gemm64 faults --program all --array 8 --seed 3 --first 70 --count 1");
  t.programs = FaultProgram::kVector;
  EXPECT_THAT(command_of(t), Says("--program vector"));
}

}  // namespace
}  // namespace gemm64
