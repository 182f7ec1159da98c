// SPDX-License-Identifier: Apache-2.0
#include "host/faults/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "host/cycles/cycle_model.hpp"
#include "host/device/depthwise.hpp"
#include "host/device/vector_path.hpp"
#include "host/faults/watchdog.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/job_program.hpp"

namespace gemm64 {
namespace {

// The hard reset before a product, then what the driver does before the commands start: at least so
// many cycles.
constexpr std::uint64_t kResetCycles = 8;
constexpr std::uint64_t kSetupCycles = 30;

constexpr std::uint64_t kMaxRows = 24;
constexpr std::uint32_t kMaxLatency = 100;
constexpr std::uint32_t kMaxStalls = 30;  // percent

// From the last row of the lanes to the end of the program: requests and answers of a burst.
constexpr std::uint64_t kLanesLatencies = 2;

constexpr unsigned kCommandWords = kCommandBytes / 4;

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

/// What of the lanes may be hit.
struct LanesUsed {
  unsigned kernel = kLaneWindow;
  unsigned line_words = kLaneLineWords;
};

void draw_lanes_place(std::mt19937& random, const LanesUsed& used, unsigned n, Fault& fault) {
  const unsigned kernel = used.kernel;
  fault.column = below(random, n);
  fault.bit = below(random, 8);
  if (fault.kind == Fault::Kind::kLaneWeight) {
    fault.bank = below(random, 2);
    fault.row = below(random, kernel * kernel);
  } else if (fault.kind == Fault::Kind::kLaneValue) {
    fault.bank = below(random, kernel);
    fault.row = below(random, kernel);
  } else {
    fault.bank = below(random, kernel - 1);
    fault.row = below(random, used.line_words);
  }
}

/// What of an accelerator the jobs use.
struct Used {
  std::uint64_t rows = 0;          // of the accumulator
  std::uint64_t words = 0;         // of the scratchpad
  std::uint64_t weights = 0;       // words of the weight buffer
  std::uint64_t operands = 0;      // words of the operand buffer
  std::uint64_t sets = 0;          // of parameters
  std::optional<LanesUsed> lanes;  // of the first job on the lanes

  /// All of it.
  explicit Used(const Geometry& geometry)
      : rows(geometry.accumulator_rows),
        words(scratchpad_places(geometry)),
        weights(std::uint64_t{geometry.weight_tiles} * geometry.n),
        operands(geometry.operand_words()),
        sets(geometry.parameter_sets),
        lanes(LanesUsed()) {}

  Used(const std::vector<Job>& jobs, const Geometry& geometry) {
    for (const Job& job : jobs) {
      for (const RowGroup& group : job.plan.groups)
        rows = std::max<std::uint64_t>(rows, group.rows);
      words = std::max(words, job.plan.activation_bytes() / geometry.n);
      weights += job.plan.weight_bytes() / geometry.n;
      operands += job.plan.operand_bytes() / geometry.n;
      sets += job.plan.n_tiles;
      if (!lanes && job.plan.lanes) {
        const auto command = job.plan.lanes->command();
        lanes = LanesUsed{command.kernel_height, command.dilation_height * command.width};
      }
    }
    rows = std::min<std::uint64_t>(rows, geometry.accumulator_rows);
    words = std::min<std::uint64_t>(words, geometry.scratchpad_words);
    weights = std::min(weights, std::uint64_t{geometry.weight_tiles} * geometry.n);
    operands = std::clamp<std::uint64_t>(operands, 1, geometry.operand_words());
    sets = std::min<std::uint64_t>(sets, geometry.parameter_sets);
  }
};

void draw_place(std::mt19937& random, const Geometry& geometry, const Used& used, Fault& fault) {
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
      fault.row = below(random, static_cast<unsigned>(used.rows));
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 32);
      break;
    case Kind::kScratchpad:
      fault.row = below(random, static_cast<unsigned>(used.words));
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 8);
      break;
    case Kind::kStoredWeight:
      fault.row = below(random, static_cast<unsigned>(used.weights));
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 8);
      break;
    case Kind::kStoredOperand:
      fault.row = below(random, static_cast<unsigned>(used.operands));
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 8);
      break;
    case Kind::kStoredBias:
    case Kind::kStoredScale:
      fault.row = below(random, static_cast<unsigned>(used.sets));
      fault.column = below(random, geometry.n);
      fault.bit = below(random, 32);
      break;
    case Kind::kResult:
    case Kind::kOperand:
      fault.place = below(random, geometry.n);
      fault.bit = below(random, 8);
      break;
    case Kind::kBias:
    case Kind::kScale:
      fault.place = below(random, geometry.n);
      fault.bit = below(random, 32);
      break;
    case Kind::kTable:
      fault.place = below(random, kTableBytes);
      fault.bit = below(random, 8);
      break;
    case Kind::kVector:
      fault.place = below(random, geometry.n);
      fault.bit = below(random, 11);
      break;
    case Kind::kLaneWeight:
    case Kind::kLaneValue:
    case Kind::kLaneLine:
      draw_lanes_place(random, *used.lanes, geometry.n, fault);
      break;
    case Kind::kLaneSum:
      fault.place = below(random, geometry.n);
      fault.bit = below(random, kLaneSumBits);
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
    case Kind::kSlaveError:
    case Kind::kDecodeError:
    case Kind::kHang:
      fault.port = static_cast<Fault::Port>(below(random, kFaultPorts));
      break;
  }
}

/// Another bit near `first`, at the same cycle.
Fault draw_second(std::mt19937& random, const Geometry& geometry, const std::vector<Job>& jobs,
                  const Fault& first) {
  const auto bit_of = [](const Fault& fault) {
    return std::tie(fault.column, fault.place, fault.bit);
  };
  Fault second = first;
  do {
    draw_place(random, geometry, Used(jobs, geometry), second);
  } while (bit_of(second) == bit_of(first));
  second.bank = first.bank;
  second.row = first.row;
  return second;
}

constexpr FaultProgram kAllPrograms[kFaultPrograms] = {FaultProgram::kProducts,
                                                       FaultProgram::kConvolutions,
                                                       FaultProgram::kLanes, FaultProgram::kVector};

/// Each kind of program with each of its kinds of faults, in the order of their turns.
std::vector<std::pair<FaultProgram, Fault::Kind>> turns_of(FaultPrograms programs, unsigned flips) {
  std::vector<std::pair<FaultProgram, Fault::Kind>> turns;
  for (const FaultProgram program : kAllPrograms) {
    if (programs && *programs != program) continue;
    for (const Fault::Kind kind : kinds_of(program, flips)) turns.emplace_back(program, kind);
  }
  return turns;
}

void draw_product(std::mt19937& random, const Geometry& geometry, FaultTry& drawn) {
  const std::uint64_t most = std::max(std::uint64_t{2} * geometry.n, std::uint64_t{20});
  drawn.shape.m = draw(random, 1, kMaxRows);
  drawn.shape.k = draw(random, 1, most);
  drawn.shape.n = draw(random, 1, most);
  drawn.accumulate = below(random, 3) == 0 ? Accumulate::kHost : Accumulate::kDevice;
}

LayerNeeds needs_of(Fault::Kind kind) {
  LayerNeeds needs;
  using Kind = Fault::Kind;
  needs.parameters = kind == Kind::kBias || kind == Kind::kScale || kind == Kind::kStoredBias ||
                     kind == Kind::kStoredScale;
  needs.operands = kind == Kind::kOperand || kind == Kind::kStoredOperand || kind == Kind::kVector;
  needs.table = kind == Fault::Kind::kTable;
  return needs;
}

/// The jobs of a try, as a program.
JobProgram program_of(const FaultTry& drawn, const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const FaultLayer& layer : drawn.layers) jobs.push_back(job_of(layer, geometry));
  if (jobs.empty()) jobs.push_back(make_job("gemm", drawn.shape, drawn.accumulate, geometry));
  return make_job_program(jobs, geometry);
}

/// A cycle before which a fault on the lanes meets nothing: they work at the end of a program.
std::uint64_t first_clock(const FaultTry& drawn, const std::vector<Job>& jobs, std::uint64_t last) {
  using Kind = Fault::Kind;
  const Kind kind = drawn.fault.kind;
  if (kind != Kind::kLaneWeight && kind != Kind::kLaneLine && kind != Kind::kLaneValue &&
      kind != Kind::kLaneSum) {
    return 0;
  }
  const Plan& plan = jobs.back().plan;
  const std::uint64_t beats = plan.shape.m * plan.n_tiles * plan.results().beats_per_row();
  const std::uint64_t busy = std::max(plan.lanes->cycles(), beats);
  return last - std::min(last, busy + kLanesLatencies * drawn.memory.latency);
}

}  // namespace

std::vector<Fault::Kind> kinds_of(FaultProgram program, unsigned flips) {
  using Kind = Fault::Kind;
  static const std::vector<Kind> outside{Kind::kResult, Kind::kCommand, Kind::kRegister};
  static const std::vector<Kind> no_flips{Kind::kLost, Kind::kRepeated, Kind::kSlaveError,
                                          Kind::kDecodeError, Kind::kHang};
  const auto array = [](std::vector<Kind> more) {
    more.insert(more.begin(), {Kind::kWeight, Kind::kActivation, Kind::kPartialSum,
                               Kind::kAccumulator, Kind::kScratchpad, Kind::kStoredWeight});
    return more;
  };
  static const std::array<std::vector<Kind>, kFaultPrograms> inside{
      array({}), array({Kind::kStoredBias, Kind::kStoredScale, Kind::kBias, Kind::kScale}),
      std::vector<Kind>{Kind::kLaneWeight, Kind::kLaneLine, Kind::kLaneValue, Kind::kLaneSum,
                        Kind::kAccumulator, Kind::kScratchpad, Kind::kStoredWeight,
                        Kind::kStoredBias, Kind::kStoredScale, Kind::kBias, Kind::kScale},
      array({Kind::kStoredBias, Kind::kStoredScale, Kind::kBias, Kind::kScale, Kind::kStoredOperand,
             Kind::kOperand, Kind::kTable, Kind::kVector})};
  std::vector<Kind> kinds = inside.at(static_cast<std::size_t>(program));
  kinds.insert(kinds.end(), outside.begin(), outside.end());
  if (flips == 1) kinds.insert(kinds.end(), no_flips.begin(), no_flips.end());
  return kinds;
}

void draw_any_place(std::mt19937& random, const Geometry& geometry, Fault& fault) {
  draw_place(random, geometry, Used(geometry), fault);
}

std::vector<Fault> FaultTry::faults() const {
  std::vector<Fault> all{fault};
  if (second) all.push_back(*second);
  return all;
}

FaultTry draw_try(std::uint32_t seed, FaultPrograms programs, std::uint64_t index,
                  const Geometry& geometry, unsigned flips) {
  std::seed_seq seeds{seed, static_cast<std::uint32_t>(index),
                      static_cast<std::uint32_t>(index >> 32)};
  std::mt19937 random(seeds);
  FaultTry drawn;
  drawn.campaign_seed = seed;
  drawn.programs = programs;
  drawn.index = index;
  drawn.array = geometry.n;
  const auto turns = turns_of(programs, flips);
  std::tie(drawn.program, drawn.fault.kind) = turns[index % turns.size()];
  if (drawn.program == FaultProgram::kProducts) {
    draw_product(random, geometry, drawn);
  } else {
    drawn.layers = draw_layers(drawn.program, needs_of(drawn.fault.kind), geometry, random);
  }
  drawn.memory.latency = static_cast<std::uint32_t>(draw(random, 1, kMaxLatency));
  if (below(random, 3) == 0) {
    drawn.memory.stall_probability = static_cast<double>(draw(random, 1, kMaxStalls)) / 100;
  }
  drawn.seed = static_cast<std::uint32_t>(random());
  drawn.watchdog = campaign_watchdog(drawn.memory.latency);

  const JobProgram list = program_of(drawn, geometry);
  draw_place(random, geometry, Used(list.jobs, geometry), drawn.fault);
  const Counters predicted = predict_counters(list.program, geometry, drawn.memory);
  // Commands are all fetched in the beginning.
  const std::uint64_t cycles =
      drawn.fault.kind == Fault::Kind::kCommand
          ? drawn.memory.latency + predicted[counter::kBytesCommands] / geometry.n
          : predicted[counter::kTotalClocks];
  const std::uint64_t last = kResetCycles + kSetupCycles + cycles - 1;
  drawn.fault.clock =
      draw(random, std::max(kResetCycles, first_clock(drawn, list.jobs, last)), last);
  if (flips == 2) drawn.second = draw_second(random, geometry, list.jobs, drawn.fault);
  return drawn;
}

std::string command_of(const FaultTry& t) {
  if (t.program != FaultProgram::kProducts) {
    return fmt::format("gemm64 faults --program {} --array {} --seed {} --first {} --count 1{}{}",
                       t.programs ? name(*t.programs) : "all", t.array, t.campaign_seed, t.index,
                       t.second ? " --flips 2" : "", t.self_check ? " --self-check" : "");
  }
  std::string text =
      fmt::format("gemm64 gemm {} {} {} --array {} --seed {} --memory-latency {}", t.shape.m,
                  t.shape.k, t.shape.n, t.array, t.seed, t.memory.latency);
  if (t.memory.stall_probability != 0) {
    text += fmt::format(" --memory-stalls {}", t.memory.stall_probability);
  }
  if (t.accumulate == Accumulate::kHost) text += " --accumulate host";
  if (t.self_check) text += " --self-check";
  text += fmt::format(" --watchdog {}", t.watchdog);
  for (const Fault& fault : t.faults()) text += " --inject " + to_string(fault);
  return text;
}

const char* name(FaultOutcome outcome) {
  constexpr std::array kNames{"masked",    "wrong_sums", "wrong_counters", "device_error",
                              "run_again", "stopped",    "hung",           "unnoticed"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

FaultOutcome classify(const Evidence& evidence) {
  if (evidence.hung) return FaultOutcome::kHung;
  if (!evidence.error.empty()) {
    return evidence.reported ? FaultOutcome::kDeviceError : FaultOutcome::kStopped;
  }
  if (evidence.verified) {
    if (!evidence.right) return FaultOutcome::kUnnoticed;
    return evidence.again ? FaultOutcome::kRunAgain : FaultOutcome::kMasked;
  }
  return evidence.right ? FaultOutcome::kWrongCounters : FaultOutcome::kWrongSums;
}

bool is_place_of(const Fault& fault, const Finding& finding, const Plan& plan) {
  using Kind = Fault::Kind;
  using Place = Finding::Place;
  const Place place = finding.place;
  const auto in_lane = [&](unsigned lane) {
    return place == Place::kLanes && finding.column == lane;
  };
  const auto behind_sums = [&](unsigned column) {
    return (place == Place::kRequantized && finding.column == column) || in_lane(column);
  };
  const auto at = [&](Place own) {
    return place == own && finding.row == fault.row && finding.column == fault.column &&
           finding.wrong_clock == fault.clock;
  };
  // A value that comes into the lanes may be wrong in its first cycle there, like its word.
  const bool comes_in = fault.bank == 0;
  switch (fault.kind) {
    case Kind::kWeight:
      return place == Place::kWeight && finding.row == fault.row &&
             finding.column == fault.column && finding.wrong_clock >= fault.clock;
    case Kind::kActivation:  // moves on, a column per cycle
      return place == Place::kActivation && finding.row == fault.row &&
             finding.column >= fault.column &&
             finding.wrong_clock - fault.clock == finding.column - fault.column;
    case Kind::kPartialSum:
      return at(Place::kPartialSum);
    case Kind::kAccumulator:
      return (at(Place::kAccumulator) && finding.bank == fault.bank) || in_lane(fault.column);
    case Kind::kScratchpad:
      return (place == Place::kActivation && finding.row == fault.column) || in_lane(fault.column);
    case Kind::kStoredWeight:
      return (place == Place::kWeight && finding.row == fault.column) || in_lane(fault.column);
    case Kind::kStoredBias:
    case Kind::kStoredScale:
      return behind_sums(fault.column);
    case Kind::kBias:
    case Kind::kScale:
    case Kind::kVector:
      return behind_sums(fault.place);
    case Kind::kOperand:  // of a table it is any lane's
    case Kind::kStoredOperand:
    case Kind::kTable:
      return place == Place::kRequantized || place == Place::kLanes;
    case Kind::kResult: {  // sums take some beats a row
      const unsigned bytes = plan.results().bytes();
      const std::uint64_t first = finding.column % (plan.array / bytes) * bytes;
      const bool own = fault.place >= first && fault.place < first + bytes;
      return own &&
             (place == Place::kMemory || place == Place::kRequantized || place == Place::kLanes);
    }
    case Kind::kLaneWeight:
      return in_lane(fault.column);
    case Kind::kLaneSum:
      return in_lane(fault.place);
    case Kind::kLaneLine:
      return (at(Place::kLaneLine) && finding.bank == fault.bank) ||
             (comes_in && in_lane(fault.column));
    case Kind::kLaneValue:
      return (at(Place::kLaneValue) && finding.bank == fault.bank) ||
             (comes_in && fault.row == 0 && in_lane(fault.column));
    default:
      return place != Place::kNone;
  }
}

std::uint64_t CampaignReport::count(FaultPrograms program, std::optional<Fault::Kind> kind,
                                    FaultOutcome outcome) const {
  return static_cast<std::uint64_t>(
      std::count_if(tries.begin(), tries.end(), [&](const TriedFault& tried) {
        return (!program || tried.fault_try.program == *program) &&
               (!kind || tried.fault_try.fault.kind == *kind) && tried.outcome == outcome;
      }));
}

std::uint64_t CampaignReport::misdiagnosed(FaultPrograms program,
                                           std::optional<Fault::Kind> kind) const {
  return static_cast<std::uint64_t>(
      std::count_if(tries.begin(), tries.end(), [&](const TriedFault& tried) {
        return (!program || tried.fault_try.program == *program) &&
               (!kind || tried.fault_try.fault.kind == *kind) && tried.misdiagnosed;
      }));
}

SelfFound CampaignReport::self_found(FaultPrograms program, std::optional<Fault::Kind> kind) const {
  SelfFound found;
  std::vector<std::uint64_t> cycles;
  for (const TriedFault& tried : tries) {
    if (program && tried.fault_try.program != *program) continue;
    if ((kind && tried.fault_try.fault.kind != *kind) || !tried.matters) continue;
    ++found.matter;
    found.error += tried.outcome == FaultOutcome::kDeviceError;
    if (tried.outcome == FaultOutcome::kRunAgain) cycles.push_back(tried.found_after);
  }
  found.again = cycles.size();
  if (cycles.empty()) return found;
  std::sort(cycles.begin(), cycles.end());
  found.median = cycles[cycles.size() / 2];
  found.most = cycles.back();
  return found;
}

bool CampaignReport::holds() const {
  return count(FaultOutcome::kHung) == 0 && count(FaultOutcome::kUnnoticed) == 0 &&
         misdiagnosed() == 0;
}

}  // namespace gemm64
