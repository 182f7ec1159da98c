// SPDX-License-Identifier: Apache-2.0
// What each engine did, command by command, in a file for Perfetto or chrome://tracing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host/check/engine_track.hpp"
#include "host/check/job_observer.hpp"
#include "host/check/trace_events.hpp"

namespace gemm64 {

/// Made from what the device's probe shows, never from a prediction: the cycles by cause in the
/// file are those of the device's counters. Tracks, from the top: layers; commands, with each
/// dispatch; and the four engines (see EngineTrack). A cycle of the device is a microsecond of the
/// viewer.
class Timeline final : public JobObserver {
 public:
  /// Throws UsageError if `path` cannot be written. Without finish() no file appears.
  explicit Timeline(std::filesystem::path path);
  /// The same as tracks of a file that others write to as well: kTracks of them, from `first` on.
  Timeline(TraceEvents& events, int first);
  static constexpr int kTracks = 2 + static_cast<int>(kEngineCauses.size());

  void begin(const Job& job, std::uint64_t clock) override;
  /// A layer then is what is between two FENCEs.
  void begin(const JobProgram& list, std::uint64_t clock) override;
  /// Jobs that follow each other, each up to its FINISH. They live until end().
  void begin_ring(const std::vector<Job>& jobs, std::uint64_t clock);
  void clock(std::uint64_t clock, const Probe& probe) override;
  void end(std::uint64_t clock) override;

  /// Closes its own file and lets it appear. Throws UsageError if the disk had no room.
  void finish();

 private:
  /// Adds to the tracks the cycles since since_, all alike.
  void flush(std::uint64_t clock);
  void dispatch(std::uint64_t clock);

  const std::unique_ptr<TraceEvents> own_;
  TraceEvents& events_;
  const int layers_, commands_track_;
  CauseSlices commands_;
  std::vector<EngineTrack> engines_;
  std::uint32_t array_ = 0;

  /// A command, and the job that it belongs to.
  struct Step {
    const Job* job;
    CommandTiles tiles;
    int engine;        // -1: none gets the command
    const Job* then;   // the job that begins when it is dispatched; mostly none
    const Job* after;  // the job that begins in the cycle after that
  };
  void begin(std::vector<Step> steps, std::uint64_t clock);
  void end_layer(std::uint64_t clock);
  void name_tracks();

  std::vector<Step> steps_;      // of the program in progress
  std::size_t next_ = 0;         // to be dispatched
  const Job* job_ = nullptr;     // in progress
  std::uint64_t cycles_ = 0;     // busy ones of the layer
  std::uint64_t last_busy_ = 0;  // the cycle after the last one
  Events now_ = 0;               // events since since_
  std::uint64_t since_ = 0;
};

}  // namespace gemm64
