// SPDX-License-Identifier: Apache-2.0
#include "host/job/job_program.hpp"

#include <stdexcept>

#include "host/device/snapshot.hpp"

namespace gemm64 {
namespace {

/// Puts the commands of jobs that lie where they should one after the other.
void append_commands(JobProgram& list) {
  const auto append = [&list](const Command& command, const CommandOrigin& origin) {
    list.program.push_back(command);
    list.origins.push_back(origin);
  };
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    const std::vector<Command>& commands = list.jobs[j].program;
    const std::size_t last = commands.size() - 1;
    // The first loads weights; behind another job it stands there already.
    for (std::size_t i = j == 0 ? 0 : 1; i < last; ++i) append(commands[i], {j, i, false});
    if (j + 1 == list.jobs.size()) {
      append(commands[last], {j, last, true});
      break;
    }
    append(list.jobs[j + 1].program.front(), {j + 1, 0, false});
    Command fence;
    fence.opcode = Opcode::kFence;
    fence.flags = flag::kSnapshot;
    fence.set_address(list.snapshots + j * list.snapshot_bytes);
    append(fence, {j, last, true});
  }
}

}  // namespace

JobStart start_of(const JobProgram& list, std::size_t job) {
  JobStart start;
  for (std::size_t i = 0; i < job; ++i) {
    const Plan& plan = list.jobs[i].plan;
    start.rows += plan.shape.m * plan.tiles();
    start.blocks += plan.row_blocks() * plan.result_blocks();
    start.beats += plan.shape.m * plan.result_blocks() * plan.results.beats_per_row() +
                   list.snapshot_bytes / plan.array;
  }
  return start;
}

JobProgram make_job_program(const std::vector<Job>& jobs, const Geometry& geometry) {
  if (jobs.empty()) throw std::invalid_argument("a program of no jobs");
  JobProgram list;
  list.jobs = jobs;
  std::uint64_t commands = 0;  // a FENCE stands where a job alone would have FINISH
  for (const Job& job : jobs) commands += job.program.size();
  list.snapshots = page_up(std::uint64_t{ring_places(commands)} * kCommandBytes);
  list.snapshot_bytes = snapshot_beats(geometry.n) * geometry.n;
  list.end = list.snapshots + (jobs.size() - 1) * list.snapshot_bytes;
  for (Job& job : list.jobs) {
    job.layout = make_layout(job.plan, list.end);
    job.program = make_program(job.plan, job.layout);
    list.end = job.layout.end;
  }
  append_commands(list);
  return list;
}

}  // namespace gemm64
