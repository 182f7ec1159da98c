// SPDX-License-Identifier: Apache-2.0
#include "host/job/job_program.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "host/device/snapshot.hpp"

namespace gemm64 {
namespace {

/// Does a seam lead from a job to the next?
bool is_seam(const std::vector<Job>& jobs, std::size_t job) {
  return job + 1 < jobs.size() && jobs[job + 1].source == job &&
         can_have_seam_behind(jobs[job].plan) && can_have_seam_before(jobs[job + 1].plan);
}

void check_source(const std::vector<Job>& jobs, std::size_t job) {
  const Job& next = jobs[job];
  if (*next.source >= job) {
    throw std::invalid_argument(fmt::format("'{}' is job {} and cannot read the results of job {}",
                                            next.name, job, *next.source));
  }
  const Job& source = jobs[*next.source];
  const GemmShape& from = source.plan.shape;
  // Of a convolution's activations, a row is a pixel.
  const auto& window = next.plan.window;
  const std::uint64_t rows = window ? window->convolution.pixels() : next.plan.shape.m;
  const std::uint64_t columns = window ? window->convolution.channels : next.plan.shape.k;
  if (source.plan.results().code() == ResultCode::kInt8 && from.m == rows && from.n == columns) {
    return;
  }
  throw std::invalid_argument(fmt::format(
      "'{}' takes {}x{} activations of 8 bits; '{}' gives {}x{} results of {}", next.name, rows,
      columns, source.name, from.m, from.n, source.plan.results().name()));
}

/// The commands of a job by their index, in the order in which they follow the job before.
struct Order {
  std::vector<std::size_t> ahead;  // of every fence: they take nothing from the job before
  std::vector<std::size_t> early;  // of the fence that waits for its last tile of results
  std::vector<std::size_t> rest;
};

Order order_of(const std::vector<Command>& program, bool seam) {
  Order order;
  bool weights = false, parameters = false, activations = false;
  const auto is_first = [](bool& seen) { return !std::exchange(seen, true); };
  for (std::size_t i = 0; i + 1 < program.size(); ++i) {
    std::vector<std::size_t>* to = &order.rest;
    switch (program[i].opcode) {
      case Opcode::kLoadWeights:
        if (is_first(weights)) to = &order.ahead;
        break;
      case Opcode::kLoadParameters:
        if (is_first(parameters)) to = &order.ahead;
        break;
      case Opcode::kLoadActivations:
        if (seam && is_first(activations)) to = &order.early;
        break;
      case Opcode::kMatmul:
        if (seam) to = &order.early;
        break;
      default:
        break;
    }
    to->push_back(i);
  }
  return order;
}

/// Puts the commands of jobs that lie where they should one after the other.
void append_commands(JobProgram& list) {
  const auto append = [&list](const Command& command, const CommandOrigin& origin) {
    list.program.push_back(command);
    list.origins.push_back(origin);
  };
  const auto append_all = [&](std::size_t job, const std::vector<std::size_t>& commands) {
    for (const std::size_t i : commands) append(list.jobs[job].program[i], {job, i});
  };
  const auto end_of = [&list](std::size_t job) {
    return CommandOrigin{job, list.jobs[job].program.size() - 1, true};
  };
  for (std::size_t i = 0; i + 1 < list.jobs[0].program.size(); ++i) {
    append(list.jobs[0].program[i], {0, i});
  }
  for (std::size_t j = 1; j < list.jobs.size(); ++j) {
    const bool seam = is_seam(list.jobs, j - 1);
    const Order order = order_of(list.jobs[j].program, seam);
    Command fence;
    fence.opcode = Opcode::kFence;
    append_all(j, order.ahead);
    if (seam) {
      fence.count = 1;
      CommandOrigin origin = end_of(j - 1);
      origin.ends_job = false;
      origin.parts_job = true;
      append(fence, origin);
      append_all(j, order.early);
    }
    fence.count = 0;
    fence.flags = flag::kSnapshot;
    fence.set_address(list.snapshots + (j - 1) * list.snapshot_bytes);
    append(fence, end_of(j - 1));
    append_all(j, order.rest);
  }
  append(list.jobs.back().program.back(), end_of(list.jobs.size() - 1));
}

}  // namespace

JobStart start_of(const JobProgram& list, std::size_t job) {
  JobStart start;
  for (std::size_t i = 0; i < job; ++i) {
    const Plan& plan = list.jobs[i].plan;
    start.rows += plan.shape.m * plan.tiles();
    start.blocks += plan.row_blocks() * plan.result_blocks();
    start.beats += plan.shape.m * plan.result_blocks() * plan.results().beats_per_row() +
                   list.snapshot_bytes / plan.array;
  }
  return start;
}

JobProgram make_job_program(const std::vector<Job>& jobs, const Geometry& geometry) {
  if (jobs.empty()) throw std::invalid_argument("a program of no jobs");
  JobProgram list;
  list.jobs = jobs;
  std::uint64_t commands = 0;
  for (const Job& job : jobs) {
    // A FENCE stands where a job alone would have FINISH; seams add up to three.
    commands += program_length(job.plan) + (job.source ? 3 : 0);
  }
  list.snapshots = page_up(std::uint64_t{ring_places(commands)} * kCommandBytes);
  list.snapshot_bytes = snapshot_beats(geometry.n) * geometry.n;
  list.end = list.snapshots + (jobs.size() - 1) * list.snapshot_bytes;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    Job& job = list.jobs[j];
    Seams seams;
    std::optional<std::uint64_t> activations;
    if (job.source) {
      check_source(list.jobs, j);
      activations = list.jobs[*job.source].layout.results;
      seams.before = j > 0 && is_seam(list.jobs, j - 1);
    }
    seams.behind = is_seam(list.jobs, j);
    job.layout = make_layout(job.plan, list.end, activations);
    job.program = make_program(job.plan, job.layout, seams);
    list.end = job.layout.end;
  }
  append_commands(list);
  return list;
}

}  // namespace gemm64
