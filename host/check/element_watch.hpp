// SPDX-License-Identifier: Apache-2.0
// Follows one element of a product through the accelerator and finds where it first goes wrong.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "host/check/element_operands.hpp"
#include "host/check/finding.hpp"
#include "host/device/debug_device.hpp"
#include "host/device/geometry.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/job_program.hpp"
#include "host/tiling/program_walk.hpp"

namespace gemm64 {

/// Observes one product from reset. Of each row of activations that belongs to the element it
/// compares, in the cycle in which the row passes: the operands of every multiplier of the
/// element's column, the partial sum after every stage, and from then on in every cycle the sum in
/// the accumulator, until that has been stored. With t the cycle in which the row is read, R the
/// rows of a stage, S the stages and c the column: stage s multiplies in cycle t + 2 + s + c, its
/// sum is there a cycle later, and the new sum is in the accumulator in cycle t + 3 + S + c.
class ElementWatch : public Observer {
 public:
  /// Watches C[row, column] of C = a * w^T, or of a convolution of a by w; job and operands outlive
  /// it. `list`: the program that it runs in as job `place`; nullptr: it runs by itself.
  ElementWatch(const Job& job, const Geometry& geometry, const MatrixI8& a, const MatrixI8& w,
               std::uint64_t row, std::uint64_t column, const JobProgram* list = nullptr,
               std::size_t place = 0);

  void clock(std::uint64_t clock, const Probe& probe) override;

  /// The first wrong value. Where every sum was right: the place kMemory, of 8-bit results
  /// kRequantized, and the last tile.
  Finding finding() const;

 private:
  /// A row of the element's in flight.
  struct Pass {
    TileStep tile;
    std::uint64_t block;         // of the program's results
    std::uint64_t row;           // in its block
    std::uint64_t clock;         // in which it was read
    std::uint64_t tile_begin;    // clock in which its tile began
    std::uint64_t before_begin;  // clock in which the tile before began
  };
  /// A sum of the element's in the accumulator, not yet read to be stored.
  struct Sum {
    Pass last;  // that added to it
    std::uint32_t value;
    std::uint64_t until;  // clock in which another one takes its place, or may do so
  };

  /// Of a STORE or a snapshot, over the results port.
  struct Beats {
    bool own = false;  // of the job
    std::uint64_t left = 0;
  };

  static std::deque<Beats> beats_of(const JobProgram& list, std::size_t place);
  void enter(std::uint64_t clock);
  void end_sums(std::uint64_t block, std::optional<std::uint64_t> row, std::uint64_t until);
  void check_operands(const Pass& pass, unsigned stage, std::uint64_t clock, const Probe& probe);
  void check_partial_sum(const Pass& pass, unsigned stage, std::uint64_t clock, const Probe& probe);
  void check_sums(std::uint64_t clock, const Probe& probe);
  void found(Finding::Place place, const Pass& pass, std::uint64_t clock, unsigned row,
             std::int64_t expected, std::int64_t found);
  Finding at(const Pass& pass) const;
  /// What the rows of stages 0 to `stage` give in a pass.
  std::uint32_t expected_sum(const Pass& pass, unsigned stage) const;

  const ElementOperands operands_;
  const std::uint64_t row_;  // of C
  const unsigned n_;
  const unsigned stage_rows_;
  const unsigned stages_;
  const std::uint64_t bank_rows_;
  const std::uint64_t tile_;  // of N
  const unsigned array_column_;
  const ResultFormat results_;
  const std::size_t place_;
  ProgramWalk walk_;
  std::deque<Beats> beats_;  // of the program, still to come
  std::uint64_t tile_begin_ = 0;
  std::uint64_t before_begin_ = 0;
  std::uint64_t stored_beats_ = 0;
  std::deque<Pass> passes_;
  std::deque<Sum> sums_;
  std::optional<Pass> last_;
  std::optional<Finding> finding_;
};

}  // namespace gemm64
