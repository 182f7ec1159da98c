// SPDX-License-Identifier: Apache-2.0
#include "host/check/timeline.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "host/device/commands.hpp"

namespace gemm64 {
namespace {

// Counters from here on count bytes: each is another one's, in bytes.
constexpr Events kClockEvents = event_bit(counter::kBytesWeights) - 1;

/// The index in kEngineCauses of the engine that spends cycles on the command; -1 where none does.
int track_of(const Command& command) {
  const auto engine = engine_of(command);
  if (!engine || fact_of(command.opcode)->counts == kNoCounter) return -1;
  for (std::size_t i = 0; i < kEngineCauses.size(); ++i) {
    if (std::string_view(kEngineCauses[i].name) == name(*engine)) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

Timeline::Timeline(std::filesystem::path path)
    : own_(std::make_unique<TraceEvents>(std::move(path))),
      events_(*own_),
      layers_(1),
      commands_track_(2),
      commands_(events_, commands_track_) {
  events_.name_process("gemm64, cycles as microseconds");
  name_tracks();
}

Timeline::Timeline(TraceEvents& events, int first)
    : events_(events),
      layers_(first),
      commands_track_(first + 1),
      commands_(events_, commands_track_) {
  name_tracks();
}

void Timeline::name_tracks() {
  events_.name_track(layers_, "layers");
  events_.name_track(commands_track_, "commands");
  int track = commands_track_;
  for (const EngineCauses& causes : kEngineCauses) {
    engines_.emplace_back(events_, ++track, causes);
  }
}

void Timeline::begin(const Job& job, std::uint64_t clock) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < job.program.size(); ++i) {
    steps.push_back({&job, command_tiles(job, i), track_of(job.program[i]), nullptr, nullptr});
  }
  begin(std::move(steps), clock);
}

void Timeline::begin(const JobProgram& list, std::uint64_t clock) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const CommandOrigin& origin = list.origins[i];
    const Job& job = list.jobs[origin.job];
    const bool begins_next = origin.ends_job && origin.job + 1 != list.jobs.size();
    CommandTiles tiles = origin.ends_job || origin.parts_job
                             ? lone_command_tiles(list.program[i], job.plan.array)
                             : command_tiles(job, origin.command);
    tiles.fields["command"] = i;
    const Job* const next = begins_next ? &list.jobs[origin.job + 1] : nullptr;
    const bool finishes = list.program[i].opcode == Opcode::kFinish;
    steps.push_back({&job, std::move(tiles), track_of(list.program[i]), finishes ? nullptr : next,
                     finishes ? next : nullptr});
  }
  begin(std::move(steps), clock);
}

void Timeline::begin_ring(const std::vector<Job>& jobs, std::uint64_t clock) {
  std::vector<Step> steps;
  for (const Job& job : jobs) {
    for (std::size_t i = 0; i < job.program.size(); ++i) {
      steps.push_back({&job, command_tiles(job, i), track_of(job.program[i]), nullptr, nullptr});
    }
    steps.back().after = &job == &jobs.back() ? nullptr : &job + 1;
  }
  begin(std::move(steps), clock);
}

void Timeline::begin(std::vector<Step> steps, std::uint64_t clock) {
  steps_ = std::move(steps);
  job_ = steps_.front().job;
  array_ = job_->plan.array;
  next_ = 0;
  cycles_ = 0;
  now_ = 0;
  since_ = clock;
}

void Timeline::clock(std::uint64_t clock, const Probe& probe) {
  const Events events = probe.events() & kClockEvents;
  // Every cycle is seen, so most must cost nothing. Dispatches are reported one by one.
  if (events == now_ && (events & event_bit(counter::kCommandsDispatch)) == 0) return;
  flush(clock);
  now_ = events;
  since_ = clock;
}

void Timeline::flush(std::uint64_t clock) {
  if (job_ == nullptr || (now_ & event_bit(counter::kTotalClocks)) == 0 || clock == since_) return;
  // As in its snapshot, the clock of a FENCE's dispatch belongs to what follows.
  const bool dispatches = (now_ & event_bit(counter::kCommandsDispatch)) != 0;
  if (dispatches && next_ != steps_.size() && steps_[next_].then != nullptr) {
    end_layer(since_);
    job_ = steps_[next_].then;
  }
  if (cycles_ == 0) {
    const Plan& plan = job_->plan;
    events_.begin(layers_, since_, "layer", job_->name,
                  {{"M", plan.shape.m},
                   {"K", plan.shape.k},
                   {"N", plan.shape.n},
                   {"tiles", plan.tiles() * plan.row_blocks()}});
  }
  cycles_ += clock - since_;
  last_busy_ = clock;
  for (EngineTrack& engine : engines_) engine.spend(now_, since_, clock);
  for (std::size_t cause = counter::kCommandsWaitMemory; cause <= counter::kCommandsIdle; ++cause) {
    if ((now_ & event_bit(cause)) != 0) commands_.add({cause, since_, clock});
  }
  // Last, since the engine can begin with the command in the cycle after this one.
  if (dispatches) dispatch(clock);
}

void Timeline::dispatch(std::uint64_t clock) {
  commands_.flush();
  if (next_ == steps_.size()) return;  // a broken device; the run's checks will tell
  Step& step = steps_[next_++];
  events_.slice(commands_track_, since_, clock, "dispatch", step.tiles.title, step.tiles.fields);
  if (step.engine >= 0) {
    engines_[static_cast<std::size_t>(step.engine)].dispatched(std::move(step.tiles));
  }
  if (step.after != nullptr) {
    end_layer(clock);
    job_ = step.after;
  }
}

void Timeline::end_layer(std::uint64_t clock) {
  if (cycles_ != 0) events_.end(layers_, clock, {{"clocks", cycles_}});
  cycles_ = 0;
}

void Timeline::end(std::uint64_t clock) {
  flush(clock);
  for (EngineTrack& engine : engines_) engine.finish(last_busy_);
  commands_.flush();
  end_layer(last_busy_);
  job_ = nullptr;
  now_ = 0;
}

void Timeline::finish() {
  own_->finish({{"generator", "gemm64"},
                {"array", fmt::format("{0}x{0}", array_)},
                {"time axis",
                 "1 microsecond is 1 cycle of the device, counted from its start; in a waveform "
                 "clock c is at 2c ns"}});
}

}  // namespace gemm64
