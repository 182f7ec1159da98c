// SPDX-License-Identifier: Apache-2.0
#include "host/check/cosim_work.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kRound = 0x10000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;  // of a platform's memory

/// The end of a work's memory; what is before `end` is used.
void resize(CosimWork& work, std::uint64_t end) {
  if (end > kMostBytes) {
    throw UsageError(
        fmt::format("the work needs {} bytes of memory; there are {}", end, kMostBytes));
  }
  work.memory.resize((end + kRound - 1) / kRound * kRound);
}

/// Sets of parameters: biases, and scales that bring most sums into 8 bits.
void draw_parameters(CosimWork& work, const Job& job, std::mt19937& random) {
  const std::uint64_t set_words = 2 * std::uint64_t{job.plan.array};
  for (std::uint64_t word = 0; 4 * word < job.plan.parameter_bytes(); ++word) {
    const auto bits = static_cast<std::uint32_t>(random());
    auto value = static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 14);
    if (word % set_words >= job.plan.array) {
      const float scale = std::ldexp(1 + static_cast<float>(bits % 1000) / 1000,
                                     -static_cast<int>(bits / 1000 % 14) - 3);
      std::memcpy(&value, &scale, sizeof value);
    }
    std::memcpy(work.memory.data() + job.layout.parameters + 4 * word, &value, sizeof value);
  }
}

void draw_operands(CosimWork& work, const Job& job, std::mt19937& random) {
  for (std::uint64_t at = job.layout.weights; at < job.layout.results; at += 4) {
    const auto word = static_cast<std::uint32_t>(random());
    std::memcpy(work.memory.data() + at, &word, sizeof word);
  }
  draw_parameters(work, job, random);
}

std::vector<Job> product_jobs(const std::vector<GemmShape>& shapes, Accumulate accumulate,
                              const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const GemmShape& shape : shapes) {
    jobs.push_back(make_job("product", shape, accumulate, geometry));
  }
  return jobs;
}

}  // namespace

CosimWork make_fenced_work(const JobProgram& list) {
  CosimWork work;
  work.ring = list.ring;
  work.places = ring_places(list.program.size());
  resize(work, list.end);
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const Job& job = list.jobs[i];
    work.programs.push_back({i == 0 ? list.program : std::vector<Command>(), job.layout.results,
                             job.plan.result_bytes()});
    if (i != 0) work.snapshots.push_back(list.snapshots + (i - 1) * list.snapshot_bytes);
  }
  work.jobs = list.jobs;
  return work;
}

CosimWork make_fenced_work(const std::vector<Job>& jobs, const Geometry& geometry,
                           std::uint32_t seed) {
  CosimWork work = make_fenced_work(make_job_program(jobs, geometry));
  std::mt19937 random(seed);
  for (const Job& job : work.jobs) draw_operands(work, job, random);
  return work;
}

CosimWork make_cosim_work(std::vector<Job> jobs, std::uint32_t seed) {
  CosimWork work;
  std::uint64_t commands = 0;
  for (const Job& job : jobs) commands += job.program.size();
  work.places = ring_places(commands);
  std::mt19937 random(seed);
  std::uint64_t base = std::uint64_t{work.places} * kCommandBytes;
  for (Job& job : jobs) {
    job.layout = make_layout(job.plan, base);
    job.program = make_program(job.plan, job.layout);
    work.programs.push_back({job.program, job.layout.results, job.plan.result_bytes()});
    resize(work, job.layout.end);
    draw_operands(work, job, random);
    base = page_up(job.layout.end);
  }
  work.jobs = std::move(jobs);
  return work;
}

CosimWork make_cosim_work(const std::vector<GemmShape>& shapes, Accumulate accumulate,
                          const Geometry& geometry, std::uint32_t seed) {
  return make_cosim_work(product_jobs(shapes, accumulate, geometry), seed);
}

CosimWork make_fenced_work(const std::vector<GemmShape>& shapes, Accumulate accumulate,
                           const Geometry& geometry, std::uint32_t seed) {
  return make_fenced_work(product_jobs(shapes, accumulate, geometry), geometry, seed);
}

}  // namespace gemm64
