// SPDX-License-Identifier: Apache-2.0
#include "host/debug/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "host/cycles/cycle_model.hpp"
#include "host/job/job.hpp"

namespace gemm64 {
namespace {

// The hard reset before a product, then what the driver does before the commands start: at least so
// many clocks.
constexpr std::uint64_t kResetClocks = 8;
constexpr std::uint64_t kSetupClocks = 30;

constexpr std::uint64_t kMaxRows = 24;
constexpr std::uint32_t kMaxLatency = 100;
constexpr std::uint32_t kMaxStalls = 30;  // percent
// Longer than anything that is no fault: stalls, and requests behind those of other ports.
constexpr std::uint32_t kWatchdog = 1000;
constexpr std::uint32_t kWatchdogLatencies = 32;

constexpr unsigned kCommandWords = 6;  // that have fields; the accelerator reads no others

std::uint64_t draw(std::mt19937& random, std::uint64_t low, std::uint64_t high) {
  return low + random() % (high - low + 1);
}

unsigned below(std::mt19937& random, unsigned count) {
  return static_cast<unsigned>(random() % count);
}

/// One of all bits of all registers, each as likely as the others.
void draw_register(std::mt19937& random, Fault& fault) {
  unsigned bits = 0;
  for (const FaultRegister& known : kFaultRegisters) bits += known.bits;
  fault.bit = below(random, bits);
  for (fault.place = 0; fault.bit >= kFaultRegisters[fault.place].bits; ++fault.place) {
    fault.bit -= kFaultRegisters[fault.place].bits;
  }
}

void draw_place(std::mt19937& random, const Geometry& geometry, std::uint64_t rows, Fault& fault) {
  using Kind = Fault::Kind;
  switch (fault.kind) {
    case Kind::kWeight:
    case Kind::kActivation:
      fault.row = below(random, geometry.n);
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 8);
      break;
    case Kind::kPartialSum:
      fault.row = below(random, geometry.n / geometry.stage_rows);
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 32);
      break;
    case Kind::kAccumulator:
      fault.bank = below(random, 2);
      fault.row = below(
          random, static_cast<unsigned>(std::min<std::uint64_t>(rows, geometry.accumulator_rows)));
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 32);
      break;
    case Kind::kResult:
      fault.place = below(random, geometry.n);
      fault.bit = below(random, 8);
      break;
    case Kind::kCommand:
      fault.place = below(random, kCommandWords);
      fault.bit = below(random, 32);
      break;
    case Kind::kRegister:
      draw_register(random, fault);
      break;
    case Kind::kLost:
    case Kind::kRepeated:
      fault.channel = static_cast<Fault::Channel>(below(random, kFaultChannels));
      break;
    case Kind::kBias:
    case Kind::kScale:
    case Kind::kOperand:
    case Kind::kTable:
    case Kind::kVector:
    case Kind::kLaneWeight:
    case Kind::kLaneValue:
    case Kind::kLaneSum:
      break;  // not drawn
    case Kind::kSlaveError:
    case Kind::kDecodeError:
    case Kind::kHang:
      fault.port = static_cast<Fault::Port>(below(random, kFaultPorts));
      break;
  }
}

}  // namespace

FaultTry draw_try(std::uint32_t seed, std::uint64_t index, const Geometry& geometry) {
  std::seed_seq seeds{seed, static_cast<std::uint32_t>(index),
                      static_cast<std::uint32_t>(index >> 32)};
  std::mt19937 random(seeds);
  FaultTry drawn;
  drawn.index = index;
  drawn.array = geometry.n;
  const std::uint64_t most = std::max(std::uint64_t{2} * geometry.n, std::uint64_t{20});
  drawn.shape.m = draw(random, 1, kMaxRows);
  drawn.shape.k = draw(random, 1, most);
  drawn.shape.n = draw(random, 1, most);
  drawn.accumulate = below(random, 3) == 0 ? Accumulate::kHost : Accumulate::kDevice;
  drawn.memory.latency = static_cast<std::uint32_t>(draw(random, 1, kMaxLatency));
  if (below(random, 3) == 0) {
    drawn.memory.stall_probability = static_cast<double>(draw(random, 1, kMaxStalls)) / 100;
  }
  drawn.seed = static_cast<std::uint32_t>(random());
  drawn.watchdog = kWatchdog + kWatchdogLatencies * drawn.memory.latency;

  drawn.fault.kind = kFaultKinds[index % kCampaignFaultKinds].kind;
  draw_place(random, geometry, drawn.shape.m, drawn.fault);
  const Job job = make_job("gemm", drawn.shape, drawn.accumulate, geometry);
  const Counters predicted = predict_counters(job.program, geometry, drawn.memory);
  // Commands are all fetched in the beginning.
  const std::uint64_t clocks =
      drawn.fault.kind == Fault::Kind::kCommand
          ? drawn.memory.latency + predicted[counter::kBytesCommands] / geometry.n
          : predicted[counter::kTotalClocks];
  drawn.fault.clock = draw(random, kResetClocks, kResetClocks + kSetupClocks + clocks - 1);
  return drawn;
}

std::string command_of(const FaultTry& t) {
  std::string text =
      fmt::format("gemm64 gemm {} {} {} --array {} --seed {} --memory-latency {}", t.shape.m,
                  t.shape.k, t.shape.n, t.array, t.seed, t.memory.latency);
  if (t.memory.stall_probability != 0) {
    text += fmt::format(" --memory-stalls {}", t.memory.stall_probability);
  }
  if (t.accumulate == Accumulate::kHost) text += " --accumulate host";
  return text + fmt::format(" --watchdog {} --inject {}", t.watchdog, to_string(t.fault));
}

const char* name(FaultOutcome outcome) {
  switch (outcome) {
    case FaultOutcome::kMasked:
      return "masked";
    case FaultOutcome::kWrongSums:
      return "wrong_sums";
    case FaultOutcome::kWrongCounters:
      return "wrong_counters";
    case FaultOutcome::kStopped:
      return "stopped";
    case FaultOutcome::kHung:
      return "hung";
    case FaultOutcome::kUnnoticed:
      return "unnoticed";
  }
  throw std::logic_error("an outcome without a name");
}

FaultOutcome classify(const Evidence& evidence) {
  if (evidence.hung) return FaultOutcome::kHung;
  if (!evidence.error.empty()) return FaultOutcome::kStopped;
  if (evidence.verified) {
    return evidence.right ? FaultOutcome::kMasked : FaultOutcome::kUnnoticed;
  }
  return evidence.right ? FaultOutcome::kWrongCounters : FaultOutcome::kWrongSums;
}

std::uint64_t CampaignReport::count(std::size_t kind, FaultOutcome outcome) const {
  return static_cast<std::uint64_t>(
      std::count_if(tries.begin(), tries.end(), [&](const TriedFault& tried) {
        return tried.fault_try.fault.kind == kFaultKinds[kind].kind && tried.outcome == outcome;
      }));
}

std::uint64_t CampaignReport::count(FaultOutcome outcome) const {
  return static_cast<std::uint64_t>(
      std::count_if(tries.begin(), tries.end(),
                    [&](const TriedFault& tried) { return tried.outcome == outcome; }));
}

bool CampaignReport::holds() const {
  return count(FaultOutcome::kHung) == 0 && count(FaultOutcome::kUnnoticed) == 0;
}

}  // namespace gemm64
