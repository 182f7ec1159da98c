// SPDX-License-Identifier: Apache-2.0
#include "host/job/job.hpp"

#include <utility>

namespace gemm64 {

Job make_job(std::string name, const GemmShape& shape, Accumulate accumulate,
             const Geometry& geometry, const Output& output) {
  Job job;
  job.name = std::move(name);
  job.plan = make_plan(shape, accumulate, geometry, output);
  job.layout = make_layout(job.plan);
  job.program = make_program(job.plan, job.layout);
  return job;
}

}  // namespace gemm64
