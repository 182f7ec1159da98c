// SPDX-License-Identifier: Apache-2.0
#include "host/job/job_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "host/device/snapshot.hpp"

namespace gemm64 {
namespace {

Geometry small() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

JobProgram list_of(const std::vector<GemmShape>& shapes, const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const GemmShape& shape : shapes) {
    jobs.push_back(make_job("product", shape, Accumulate::kDevice, geometry));
  }
  return make_job_program(jobs, geometry);
}

std::vector<Opcode> opcodes(const JobProgram& list) {
  std::vector<Opcode> opcodes;
  for (const Command& command : list.program) opcodes.push_back(command.opcode);
  return opcodes;
}

TEST(JobProgram, LoadsTheNextWeightsBeforeTheFenceThatEndsAJob) {
  constexpr auto kWeights = Opcode::kLoadWeights, kLoad = Opcode::kLoadActivations,
                 kMatmul = Opcode::kMatmul, kStore = Opcode::kStore;
  // The second has two groups of blocks: 131 rows are 66 and 65.
  const JobProgram list = list_of({{4, 8, 8}, {131, 20, 9}, {1, 1, 1}}, small());
  EXPECT_EQ(opcodes(list), (std::vector<Opcode>{kWeights, kLoad, kMatmul, kStore,  // 0
                                                kWeights, Opcode::kFence,          // of 1; of 0
                                                kLoad, kMatmul, kStore,            // 1
                                                kWeights, kLoad, kMatmul, kStore,  // 1
                                                kWeights, Opcode::kFence,          // of 2; of 1
                                                kLoad, kMatmul, kStore, Opcode::kFinish}));  // 2
}

TEST(JobProgram, OfOneJobIsThatJobsOwn) {
  const JobProgram list = list_of({{131, 20, 9}}, small());
  EXPECT_EQ(list.program, list.jobs[0].program);
}

TEST(JobProgram, KnowsWhereEachCommandComesFrom) {
  const JobProgram list = list_of({{4, 8, 8}, {131, 20, 9}, {1, 1, 1}}, small());
  ASSERT_EQ(list.origins.size(), list.program.size());
  std::size_t ends = 0;
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const CommandOrigin& origin = list.origins[i];
    const Opcode opcode = list.program[i].opcode;
    EXPECT_EQ(origin.ends_job, opcode == Opcode::kFence || opcode == Opcode::kFinish);
    if (origin.ends_job) {
      EXPECT_EQ(origin.job, ends++);
    } else {
      EXPECT_EQ(list.program[i], list.jobs[origin.job].program[origin.command]);
    }
  }
  EXPECT_EQ(ends, 3u);
}

TEST(JobProgram, FencesWaitForAllAndWriteASnapshotEach) {
  const Geometry geometry = small();
  const JobProgram list = list_of({{4, 8, 8}, {4, 8, 8}, {4, 8, 8}}, geometry);
  std::uint64_t address = list.snapshots;
  for (const Command& command : list.program) {
    if (command.opcode != Opcode::kFence) continue;
    EXPECT_TRUE(is_snapshot(command));
    EXPECT_EQ(command.count, 0u);
    EXPECT_EQ(command.address(), address);
    address += list.snapshot_bytes;
  }
  EXPECT_EQ(address, list.snapshots + 2 * list.snapshot_bytes);
  EXPECT_EQ(list.snapshot_bytes, 224u);
}

TEST(JobProgram, LaysNothingOverAnythingElse) {
  for (const std::uint32_t n : {2u, 8u, 64u}) {
    Geometry geometry;
    geometry.n = n;
    std::vector<GemmShape> shapes;
    for (std::uint64_t i = 1; i < 100; ++i) shapes.push_back({i, 1 + 7 * i % 90, 1 + 3 * i % 50});
    const JobProgram list = list_of(shapes, geometry);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;  // address, bytes
    std::uint64_t places = 64;
    while (places <= list.program.size()) places *= 2;
    pieces.push_back({list.ring, places * kCommandBytes});
    pieces.push_back({list.snapshots, (shapes.size() - 1) * list.snapshot_bytes});
    for (const Job& job : list.jobs) {
      pieces.push_back({job.layout.weights, job.plan.weight_bytes()});
      pieces.push_back({job.layout.activations, job.plan.activation_bytes()});
      pieces.push_back({job.layout.results, job.plan.result_bytes()});
    }
    std::sort(pieces.begin(), pieces.end());
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      EXPECT_LE(pieces[i - 1].first + pieces[i - 1].second, pieces[i].first);
    }
    EXPECT_LE(pieces.back().first + pieces.back().second, list.end);
  }
}

TEST(JobProgram, RefusesAnEmptyList) {
  EXPECT_THROW(make_job_program({}, small()), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64
