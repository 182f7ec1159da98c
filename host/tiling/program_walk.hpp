// SPDX-License-Identifier: Apache-2.0
// The order in which the rows of all jobs of a program enter the array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "host/tiling/job_program.hpp"
#include "host/tiling/tile_walk.hpp"

namespace gemm64 {

/// Goes through the rows of a program in the order of its commands; jobs of a chain in stripes take
/// turns. Job and list outlive the walk.
class ProgramWalk {
 public:
  explicit ProgramWalk(const Job& job)
      : all_(job.program, job.plan.bank_rows()), own_{RowWalk(job)} {}
  explicit ProgramWalk(const JobProgram& list) : list_(&list), all_(list.program, bank_rows(list)) {
    for (const Job& job : list.jobs) own_.emplace_back(job);
  }

  bool done() const { return all_.done(); }
  /// The job of the next row, as an index of the list; not where done(), as all below.
  std::size_t job() const { return list_ == nullptr ? 0 : list_->origins[all_.command()].job; }
  /// The next row's tile, as its job counts tiles.
  const TileStep& tile() const { return own_[job()].tile(); }
  /// The block of results that its sums belong to, of all that the program has, in order.
  std::uint64_t block() const { return all_.tile().result; }
  std::uint64_t row() const { return all_.row(); }
  bool first_row() const { return all_.first_row(); }
  bool last_row() const { return all_.last_row(); }
  void next() {
    own_[job()].next();
    all_.next();
  }
  void skip_tile() {
    own_[job()].skip_tile();
    all_.skip_tile();
  }

 private:
  static std::uint64_t bank_rows(const JobProgram& list) {
    std::uint64_t rows = std::numeric_limits<std::uint64_t>::max();
    for (const Job& job : list.jobs) rows = std::min(rows, job.plan.bank_rows());
    return rows;
  }

  const JobProgram* list_ = nullptr;
  RowWalk all_;
  std::vector<RowWalk> own_;  // of each job
};

}  // namespace gemm64
