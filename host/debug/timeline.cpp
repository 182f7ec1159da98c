// SPDX-License-Identifier: Apache-2.0
#include "host/debug/timeline.hpp"

#include <fmt/format.h>

#include "host/device/snapshot.hpp"

namespace gemm64 {
namespace {

enum Track { kLayers = 1, kCommands, kFirstEngine };

// Counters from here on count bytes: each is another one's, in bytes.
constexpr Events kClockEvents = event_bit(counter::kBytesWeights) - 1;

/// The engine's index in kEngineCauses; -1 where none gets the command.
int engine_of(const Command& command) {
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      return 0;
    case Opcode::kLoadActivations:
      return 1;
    case Opcode::kMatmul:
      return 2;
    case Opcode::kStore:
      return 3;
    case Opcode::kFence:
      return is_snapshot(command) ? 3 : -1;
    case Opcode::kFinish:
      break;
  }
  return -1;
}

}  // namespace

Timeline::Timeline(std::filesystem::path path)
    : events_(std::move(path)), commands_(events_, kCommands) {
  events_.name_process("gemm64, clocks as microseconds");
  events_.name_track(kLayers, "layers");
  events_.name_track(kCommands, "commands");
  int track = kFirstEngine;
  for (const EngineCauses& causes : kEngineCauses) engines_.emplace_back(events_, track++, causes);
}

void Timeline::begin(const Job& job, std::uint64_t clock) {
  array_ = job.plan.array;
  job_ = &job;
  next_ = 0;
  clocks_ = 0;
  now_ = 0;
  since_ = clock;
}

void Timeline::clock(std::uint64_t clock, const Probe& probe) {
  const Events events = probe.events() & kClockEvents;
  // Every clock is seen, so most must cost nothing. Dispatches are told one by one.
  if (events == now_ && (events & event_bit(counter::kCommandsDispatch)) == 0) return;
  flush(clock);
  now_ = events;
  since_ = clock;
}

void Timeline::flush(std::uint64_t clock) {
  if (job_ == nullptr || (now_ & event_bit(counter::kTotalClocks)) == 0 || clock == since_) return;
  if (clocks_ == 0) {
    const Plan& plan = job_->plan;
    events_.begin(kLayers, since_, "layer", job_->name,
                  {{"M", plan.shape.m},
                   {"K", plan.shape.k},
                   {"N", plan.shape.n},
                   {"tiles", plan.tiles() * plan.row_blocks()}});
  }
  clocks_ += clock - since_;
  last_busy_ = clock;
  for (EngineTrack& engine : engines_) engine.spend(now_, since_, clock);
  for (std::size_t cause = counter::kCommandsWaitMemory; cause <= counter::kCommandsIdle; ++cause) {
    if ((now_ & event_bit(cause)) != 0) commands_.add({cause, since_, clock});
  }
  // Last, since the engine can begin with the command in the clock after this one.
  if ((now_ & event_bit(counter::kCommandsDispatch)) != 0) dispatch(clock);
}

void Timeline::dispatch(std::uint64_t clock) {
  commands_.flush();
  if (next_ == job_->program.size()) return;  // a broken device; the run's checks will tell
  const Command& command = job_->program[next_];
  CommandTiles tiles = command_tiles(*job_, next_++);
  events_.slice(kCommands, since_, clock, "dispatch", tiles.title, tiles.fields);
  const int engine = engine_of(command);
  if (engine >= 0) engines_[static_cast<std::size_t>(engine)].dispatched(std::move(tiles));
}

void Timeline::end(std::uint64_t clock) {
  flush(clock);
  for (EngineTrack& engine : engines_) engine.finish(last_busy_);
  commands_.flush();
  if (clocks_ != 0) events_.end(kLayers, last_busy_, {{"clocks", clocks_}});
  job_ = nullptr;
  now_ = 0;
}

void Timeline::finish() {
  events_.finish({{"generator", "gemm64"},
                  {"array", fmt::format("{0}x{0}", array_)},
                  {"time axis",
                   "1 microsecond is 1 clock of the device, counted from its start; in a waveform "
                   "clock c is at 2c ns"}});
}

}  // namespace gemm64
