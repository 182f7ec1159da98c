// SPDX-License-Identifier: Apache-2.0
// Properties of a program that do not depend on cycles: its errors, the memory it accesses, and
// whether its loads and writes race.
#pragma once

#include <cstdint>
#include <vector>

#include "host/device/commands.hpp"
#include "host/device/geometry.hpp"
#include "host/device/snapshot.hpp"

namespace gemm64 {

/// Bytes begin <= address < end.
struct ByteRange {
  std::uint64_t begin, end;
};

/// The memory that a command reads or writes. With more runs than the memory has beats: all from
/// the first to the last.
std::vector<ByteRange> reached(const Command& command, const Geometry& geometry);

/// A program whose ring, of `memory` bytes, is at address `ring`. It outlives this.
class ProgramTruth {
 public:
  ProgramTruth(const std::vector<Command>& program, const Geometry& geometry, std::uint64_t ring,
               std::uint64_t memory)
      : program_(program), geometry_(geometry), ring_(ring), memory_(memory) {}

  /// Where a program has several errors, the cycles decide which is found. Is this one of them: the
  /// first command that is refused, or a command of that engine that reaches beyond the memory?
  bool has_error(ErrorCode code, Engine engine, std::uint32_t command) const;

  /// Does a load overlap a write without a FENCE between, or a snapshot, or a write the ring? The
  /// loaded values then depend on cycles.
  bool is_raced() const;

  /// Does a window read slots in which no pixel is that was claimed for it and is not freed? They
  /// hold earlier or later pixels. Requires a program that ended on both sides.
  bool reads_unkept_pixels() const;

  /// Does a STORE have more rows than the block that it stores? The others are earlier sums of
  /// the bank. Requires a program that ended on both sides.
  bool stores_stale_sums() const;

  /// The reference has unbounded queues and accepts single words. May an accelerator wait with
  /// `command` as the next to be dispatched, which the reference did not: since the queue is full,
  /// and what is before does not end by itself; or, where the reference was `done`, since the
  /// prediction says that the program never ends?
  bool may_wait_at(std::uint32_t command, bool done) const;

 private:
  const std::vector<Command>& program_;
  const Geometry& geometry_;
  const std::uint64_t ring_, memory_;
};

}  // namespace gemm64
