// SPDX-License-Identifier: Apache-2.0
// The one description of work for a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/tiling/plan.hpp"
#include "host/tiling/program.hpp"

namespace gemm64 {

/// The rows of its results that a job of a chain in stripes computes at once.
struct JobStripe {
  std::size_t first_command = 0;  // of the job's program
  std::uint64_t first_row = 0;    // of the job's results
  Plan plan;
};

/// One product or convolution for one device: what is computed and how it is cut (plan), where it
/// is (layout), and the commands that carry it out (program). Made once; driver, prediction,
/// packing, timeline and the diagnosis of a failure all read it.
struct Job {
  std::string name;  // of the layer
  Plan plan;
  Layout layout;
  std::vector<Command> program;    // FINISH last
  std::vector<JobStripe> stripes;  // empty: it runs as a whole, as `plan` has it
  /// In a program of several: the index of the job whose int8 results are its activations.
  std::optional<std::size_t> source;
  /// In a program of several: are its activations there when that begins? Of products, one that is
  /// ready begins before the one ahead of it has ended.
  bool ready = false;
  std::uint32_t source_tile = 0;  // of that one's results; the job's activations begin with it
  /// Of those, the row with which its activations begin, where they are not all.
  std::optional<std::uint64_t> source_row;
  /// The same of the second operand of its results.
  std::optional<std::size_t> operand;
  /// In a program of several: nothing but jobs of it reads its results, so that they may stay in
  /// the tensor memory.
  bool internal = false;
  /// In a program of several: a number that it shares with all jobs whose results are parts of one
  /// matrix or map (Output::part).
  std::optional<int> map;
};

/// Cuts a product, or a stack of them, and lays it out from address 0. Throws UsageError as
/// make_plan() does.
Job make_job(std::string name, const GemmShape& shape, Accumulate accumulate,
             const Geometry& geometry, const Output& output = {}, std::uint32_t products = 1);

/// The same for a convolution: activations are [images, rows, columns x channels], weights [output
/// channels x (channels of a group, tap rows, tap columns)], results [output pixels x output
/// channels].
Job make_job(std::string name, const Convolution& convolution, const Geometry& geometry,
             const Output& output = {}, const MemoryRate& rate = {});

/// The same on the lanes; nothing where make_lanes_plan() has none. A pool of an enlarged map reads
/// each pixel `repeats` times, [vertically, horizontally].
std::optional<Job> make_lanes_job(std::string name, const Convolution& convolution,
                                  const Geometry& geometry, const Output& output = {},
                                  LaneSum sum = LaneSum::kProducts,
                                  std::pair<std::uint32_t, std::uint32_t> repeats = {1, 1});

}  // namespace gemm64
