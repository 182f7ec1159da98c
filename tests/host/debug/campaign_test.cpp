// SPDX-License-Identifier: Apache-2.0
#include "host/debug/campaign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "host/cycles/cycle_model.hpp"
#include "host/job/job.hpp"
#include "tests/says.hpp"

namespace gemm64 {
namespace {

Geometry small() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

TEST(Campaign, CallsUnnoticedWhatTheCheckTookForRight) {
  Evidence evidence;
  evidence.verified = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kUnnoticed);
  evidence.right = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kMasked);
}

TEST(Campaign, TellsSumsThatTheCheckFoundFromCounters) {
  Evidence evidence;
  EXPECT_EQ(classify(evidence), FaultOutcome::kWrongSums);
  evidence.right = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kWrongCounters);
}

TEST(Campaign, TellsWhatEndedFromWhatDidNot) {
  Evidence evidence;
  evidence.error = "WATCHDOG";
  EXPECT_EQ(classify(evidence), FaultOutcome::kStopped);
  evidence.hung = true;
  EXPECT_EQ(classify(evidence), FaultOutcome::kHung);
}

TEST(Campaign, HoldsUnlessSomethingHungOrWentUnnoticed) {
  for (const auto outcome :
       {FaultOutcome::kMasked, FaultOutcome::kWrongSums, FaultOutcome::kWrongCounters,
        FaultOutcome::kStopped, FaultOutcome::kHung, FaultOutcome::kUnnoticed}) {
    CampaignReport report;
    report.tries.resize(2);
    report.tries[1].outcome = outcome;
    EXPECT_EQ(report.holds(), outcome != FaultOutcome::kHung && outcome != FaultOutcome::kUnnoticed)
        << name(outcome);
  }
}

TEST(Campaign, CountsByKindAndOutcome) {
  CampaignReport report;
  report.tries.resize(3);
  report.tries[0].fault_try.fault.kind = kFaultKinds[2].kind;
  report.tries[1].fault_try.fault.kind = kFaultKinds[2].kind;
  report.tries[1].outcome = FaultOutcome::kStopped;
  EXPECT_EQ(report.count(2, FaultOutcome::kStopped), 1u);
  EXPECT_EQ(report.count(2, FaultOutcome::kMasked), 1u);
  EXPECT_EQ(report.count(0, FaultOutcome::kMasked), 1u);
  EXPECT_EQ(report.count(FaultOutcome::kMasked), 2u);
}

TEST(Campaign, DrawsTheSameTryForTheSameSeedAndIndex) {
  EXPECT_EQ(command_of(draw_try(3, 77, small())), command_of(draw_try(3, 77, small())));
  EXPECT_NE(command_of(draw_try(3, 77, small())), command_of(draw_try(4, 77, small())));
  EXPECT_NE(command_of(draw_try(3, 77, small())), command_of(draw_try(3, 77 + 12, small())));
}

TEST(Campaign, DrawsFaultsOfEveryKindAndPlaceThatExist) {
  std::set<std::string> registers, channels;
  for (std::uint64_t index = 0; index < 12 * 300; ++index) {
    const FaultTry drawn = draw_try(1, index, small());
    EXPECT_EQ(drawn.fault.kind, kFaultKinds[index % 12].kind);
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

TEST(Campaign, DrawsClocksOfTheRunThatIsPredicted) {
  for (std::uint64_t index = 0; index < 600; ++index) {
    const FaultTry drawn = draw_try(1, index, small());
    const Job job = make_job("gemm", drawn.shape, drawn.accumulate, small());
    const Counters predicted = predict_counters(job.program, small(), drawn.memory);
    EXPECT_GE(drawn.fault.clock, 8u);
    EXPECT_LT(drawn.fault.clock, 8 + 30 + predicted[counter::kTotalClocks]);
    // What is no fault must not look like a standstill.
    EXPECT_GT(drawn.watchdog, 16 * drawn.memory.latency);
  }
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
}

}  // namespace
}  // namespace gemm64
