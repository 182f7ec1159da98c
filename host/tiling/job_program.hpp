// SPDX-License-Identifier: Apache-2.0
// A list of jobs as one program for one device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/tiling/job.hpp"
#include "host/tiling/tensor_placement.hpp"

namespace gemm64 {

/// What a command of such a program does.
struct CommandOrigin {
  std::size_t job = 0;      // index in the list
  std::size_t command = 0;  // of the job's own program
  bool ends_job = false;    // the FENCE or FINISH after its last STORE
  bool parts_job = false;   // the FENCE that waits for all of its results but the last tile
};

/// Jobs one after the other. A job's first LOAD_WEIGHTS stands before the FENCE that ends the job
/// before it, so that its weights come while that one still runs; the FENCE waits for all
/// results of that one and writes a snapshot of the counters. FINISH ends the last. Parameters are
/// loaded ahead as weights are, and so are the first second operands, unless the job before gives
/// them.
///
/// The activations of a job with a source are that one's int8 results, where they lie; any number
/// of jobs may read one. Where the source is the job before and both can have an overlap there, a
/// FENCE of its own waits for all results but the last tile: these are loaded and multiplied while
/// the last tile is still computed, stored and loaded.
///
/// If its jobs were cut for an accelerator whose tensor memory is enabled, results that only jobs
/// of the program read stay there, as far as it has space.
struct JobProgram {
  std::vector<Job> jobs;  // the layout of each, and its commands as a single job
  std::vector<Command> program;
  std::vector<CommandOrigin> origins;  // of each command
  std::vector<TensorPlace> places;     // of each job's results
  std::vector<JobStripes> stripes;
  bool tensor_memory = false;  // it runs with the tensor memory enabled
  std::uint64_t ring = 0;
  std::uint64_t snapshots = 0;       // address of the first; one for each job but the last
  std::uint64_t snapshot_bytes = 0;  // from one to the next
  std::uint64_t end = 0;             // bytes of memory in all

  /// Do a job's results stay in the tensor memory?
  bool is_on_chip(std::size_t job) const { return job < places.size() && places[job].word; }
  /// Does a job run in turns with others, so that no figure of cycles is its own?
  bool is_in_stripes(std::size_t job) const {
    return std::any_of(stripes.begin(), stripes.end(), [job](const JobStripes& group) {
      return group.first <= job && job <= group.last;
    });
  }
  /// The accelerator as the program needs it.
  Geometry geometry_on(const Geometry& device) const {
    return tensor_memory ? device.with_tensor_memory() : device;
  }
};

/// Beats over the results port of a command: of a STORE or a snapshot, else 0.
std::uint64_t result_beats(const JobProgram& list, std::size_t command);

/// Beats over the results port, snapshots included, before row `row` of what a job's STOREs write
/// one after the other. Early STOREs of a job leave before the snapshot of the job ahead of it.
std::uint64_t beats_before(const JobProgram& list, std::size_t job, std::uint64_t row);

/// The first MATMUL, or DEPTHWISE, of each job but the first, as an index of the program. All of a
/// job stand before those of the next one.
std::vector<std::size_t> first_matmuls(const JobProgram& list);

/// Lays jobs out one after the other from address 0, ring and snapshots first, and makes their
/// program. Throws std::invalid_argument if the list is empty, or a job's source is not before it
/// or does not give int8 results of the very shape that the job takes.
JobProgram make_job_program(const std::vector<Job>& jobs, const Geometry& geometry);

}  // namespace gemm64
