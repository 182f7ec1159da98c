// SPDX-License-Identifier: Apache-2.0
// What one engine did, from the cycles in which it did it, as slices of a timeline.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "host/check/command_tiles.hpp"
#include "host/check/trace_events.hpp"
#include "host/device/debug_device.hpp"
#include "host/device/registers.hpp"

namespace gemm64 {

/// Cycles one after the other that an engine spent on the same cause, an index of kCounters.
struct CauseRun {
  std::size_t cause = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t cycles() const { return end - begin; }
};

/// Joins runs that follow each other to one slice of a track.
class CauseSlices {
 public:
  CauseSlices(TraceEvents& events, int track) : events_(events), track_(track) {}

  void add(const CauseRun& run);
  /// Writes what is in progress; before anything else is written to the track.
  void flush();

 private:
  TraceEvents& events_;
  int track_;
  CauseRun run_;
};

/// An engine's counters: [first, outside) count cycles of a command, the first of them its
/// transfers; [outside, end) count cycles without one.
struct EngineCauses {
  const char* name;
  std::size_t first;
  std::size_t outside;
  std::size_t end;
};

/// The engines that commands are dispatched to.
inline constexpr std::array<EngineCauses, 6> kEngineCauses{{
    {"weights", counter::kWeightsTransfer, counter::kWeightsIdle, counter::kWeightsIdle + 1},
    {"activations", counter::kActivationsTransfer, counter::kActivationsIdle,
     counter::kActivationsIdle + 1},
    {"compute", counter::kComputeCompute, counter::kComputeDrain, counter::kComputeIdle + 1},
    {"results", counter::kResultsTransfer, counter::kResultsWaitResponse,
     counter::kResultsIdle + 1},
    {"parameters", counter::kParametersTransfer, counter::kParametersIdle,
     counter::kParametersIdle + 1},
    {"operands", counter::kOperandsTransfer, counter::kOperandsIdle, counter::kOperandsIdle + 1},
}};

/// The most causes that one of them has.
inline constexpr std::size_t kMaxEngineCauses = [] {
  std::size_t most = 0;
  for (const EngineCauses& causes : kEngineCauses) {
    if (causes.end - causes.first > most) most = causes.end - causes.first;
  }
  return most;
}();

/// Three levels of slices. A command (category "command"): from the first cycle that the engine
/// spends on it to its last transfer. In it the tiles ("tile"), from their first transfer to their
/// last, and between them the waits ("wait"). What the engine does without a command is next to
/// the commands ("wait", or "idle"). The args of commands and tiles count their cycles by cause.
/// Waits in a tile are in its args, and a slice from kLongWait cycles on, since a memory that
/// stalls in every other cycle would fill the disk with slices that no one can see.
class EngineTrack {
 public:
  static constexpr std::uint64_t kLongWait = 16;

  EngineTrack(TraceEvents& events, int track, const EngineCauses& causes);

  /// The next command was dispatched to the engine.
  void dispatched(CommandTiles command) { waiting_.push_back(std::move(command)); }

  /// The engine spent begin <= clock < end on whichever of its causes is set in `events` (Probe).
  void spend(Events events, std::uint64_t begin, std::uint64_t end);

  /// The product ends: writes what is in progress, forgets all commands.
  void finish(std::uint64_t clock);

 private:
  using Cycles = std::array<std::uint64_t, kMaxEngineCauses>;  // by cause, from causes_.first on

  void begin_command(std::uint64_t clock);
  void end_command(std::uint64_t clock);
  /// Takes transfers up to the end of the tile in progress at most; returns the cycle after them.
  std::uint64_t transfer(std::uint64_t begin, std::uint64_t end);
  void wait(const CauseRun& run);
  void end_tile(std::uint64_t clock);
  void add_cycles(const Cycles& cycles, TraceEvents::Json& args) const;

  TraceEvents& events_;
  int track_;
  EngineCauses causes_;
  CauseSlices between_;  // causes outside of tiles
  std::deque<CommandTiles> waiting_;

  bool in_command_ = false;
  CommandTiles command_;
  Cycles command_cycles_{};
  std::uint64_t tile_ = 0;  // tiles done

  std::uint64_t done_ = 0;  // transfers of the tile in progress; 0: between tiles
  std::uint64_t tile_begin_ = 0;
  Cycles tile_cycles_{};
  std::vector<CauseRun> tile_waits_;
};

}  // namespace gemm64
