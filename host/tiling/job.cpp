// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/job.hpp"

#include <tuple>

namespace gemm64 {

namespace {

Job job_of(std::string name, Plan plan) {
  Job job;
  job.name = std::move(name);
  job.plan = std::move(plan);
  job.layout = make_layout(job.plan);
  job.program = make_program(job.plan, job.layout);
  return job;
}

}  // namespace

Job make_job(std::string name, const GemmShape& shape, Accumulate accumulate,
             const Geometry& geometry, const Output& output, std::uint32_t products) {
  return job_of(std::move(name), make_plan(shape, accumulate, geometry, output, products));
}

Job make_job(std::string name, const Convolution& convolution, const Geometry& geometry,
             const Output& output, const MemoryRate& rate) {
  return job_of(std::move(name), make_plan(convolution, geometry, output, rate));
}

std::optional<Job> make_lanes_job(std::string name, const Convolution& convolution,
                                  const Geometry& geometry, const Output& output, LaneSum sum,
                                  std::pair<std::uint32_t, std::uint32_t> repeats) {
  std::optional<Plan> plan = make_lanes_plan(convolution, geometry, output, sum);
  if (!plan) return std::nullopt;
  // Strips are not loaded pixel by pixel.
  if (plan->lanes->in_strips() && repeats.first * repeats.second != 1) return std::nullopt;
  // An image of one column is taken as a row.
  if (plan->lanes->convolution.width != convolution.width) std::swap(repeats.first, repeats.second);
  std::tie(plan->lanes->repeat_height, plan->lanes->repeat_width) = repeats;
  return job_of(std::move(name), std::move(*plan));
}

}  // namespace gemm64
