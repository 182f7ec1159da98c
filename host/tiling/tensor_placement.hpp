// SPDX-License-Identifier: Apache-2.0
// Which results of a program's jobs stay in the tensor memory, and at which words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

struct JobProgram;

/// The place of a job's results.
struct TensorPlace {
  std::optional<std::uint64_t> word;  // of the tensor memory, their first; none: they are in memory
  std::string why;                    // they are in memory; empty: they are not

  /// "scratchpad", or "memory: " and the reason.
  std::string text() const { return word ? "scratchpad" : "memory: " + why; }
};

/// Jobs [first, last] of a program that run in turns, stripe by stripe. Of results that only these
/// read no more than the rows of a stripe need space.
struct JobStripes {
  std::size_t first = 0, last = 0;
  std::vector<std::uint64_t> words;  // of each job's results in a stripe; 0: these are whole
  std::vector<bool> in_place;        // do they replace their second operand?

  bool has(std::size_t job) const { return first <= job && job <= last; }
  /// Do a job's results never exist as a whole?
  bool is_inner(std::size_t job) const { return has(job) && words[job - first] != 0; }
};

/// Returns the place of each job's results. A tensor lives from its first STORE to its last read.
/// Of several orders the one that saves the most bytes is taken; each tensor is placed in the
/// smallest gap that lives as long. Results replace their second operand if nothing reads that
/// later. Requires jobs as make_job_program() does. A job's STOREs follow all reads of the jobs
/// before it, since blocks of sums are finished in order, so words are free after their last
/// reader.
std::vector<TensorPlace> place_tensors(const std::vector<Job>& jobs, const Geometry& geometry,
                                       const std::vector<JobStripes>& stripes = {});

/// Throws std::invalid_argument if a command of the program reads a word of the tensor memory that
/// does not hold the tensor that its job reads: it was never written, or another tensor replaced
/// it; or if a STORE or a read passes the memory's end.
void check_tensor_words(const JobProgram& list, const Geometry& geometry);

}  // namespace gemm64
