// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/job.hpp"

#include "tests/test.hpp"
#include "tests/unit/tiling/plans.hpp"

namespace gemm64 {
namespace {

TEST(Job, HoldsThePlanItsLayoutAndItsProgram) {
  Geometry geometry;
  geometry.n = 8;
  geometry.accumulator_rows = 16;
  const Job job = make_job("fc", {35, 20, 9}, Accumulate::kHost, geometry);
  EXPECT_EQ(job.name, "fc");
  EXPECT_EQ(job.plan.row_blocks(), 3u);
  EXPECT_EQ(job.layout.end, job.layout.results + job.plan.result_bytes());
  EXPECT_EQ(job.program.back().opcode, Opcode::kFinish);
  EXPECT_EQ(job.program.size(), program_length(job.plan));
}

TEST(Job, ThatCannotBeCutIsRefused) {
  EXPECT_THROW(make_job("fc", {0, 1, 1}, Accumulate::kDevice, Geometry()), UsageError);
}

}  // namespace
}  // namespace gemm64
