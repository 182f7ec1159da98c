// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gemm64 {
namespace {

Eigen::Index index(std::uint64_t value) { return static_cast<Eigen::Index>(value); }

/// First rows of the job's blocks of M, and M.
std::vector<std::uint64_t> row_borders(const Plan& plan) {
  std::vector<std::uint64_t> borders;
  for (const RowGroup& group : plan.groups) {
    for (std::uint64_t i = 0; i < group.blocks; ++i) {
      borders.push_back(group.first_row + i * group.rows);
    }
  }
  borders.push_back(plan.shape.m);
  return borders;
}

/// First columns of the job's tiles of N, and N.
std::vector<std::uint64_t> column_borders(const Plan& plan) {
  std::vector<std::uint64_t> borders;
  for (std::uint64_t i = 0; i < plan.n_tiles; ++i) borders.push_back(i * plan.array);
  borders.push_back(plan.shape.n);
  return borders;
}

}  // namespace

std::vector<JobPart> split(const Job& job, SplitAxis axis, std::uint32_t parts,
                           const Geometry& geometry) {
  if (parts == 0) throw std::invalid_argument("a job cannot be split into 0 parts");
  if (job.plan.products != 1) throw std::invalid_argument("a stack cannot be split");
  const bool rows = axis == SplitAxis::kRows;
  const std::vector<std::uint64_t> borders =
      rows ? row_borders(job.plan) : column_borders(job.plan);
  const std::uint64_t pieces = borders.size() - 1;
  const std::uint64_t count = std::min<std::uint64_t>(parts, pieces);
  std::vector<JobPart> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = borders[pieces * i / count];
    const std::uint64_t size = borders[pieces * (i + 1) / count] - first;
    GemmShape shape = job.plan.shape;
    (rows ? shape.m : shape.n) = size;
    JobPart part;
    (rows ? part.first_row : part.first_column) = first;
    part.job = make_job(fmt::format("{}[{}]", job.name, i), shape, job.plan.accumulate, geometry,
                        job.plan.output);
    result.push_back(std::move(part));
  }
  return result;
}

MatrixI8 part_of_activations(const JobPart& part, const MatrixI8& a) {
  return a.middleRows(index(part.first_row), index(part.job.plan.shape.m));
}

MatrixI8 part_of_weights(const JobPart& part, const MatrixI8& w) {
  return w.middleRows(index(part.first_column), index(part.job.plan.shape.n));
}

MatrixI32 join(const Job& job, const std::vector<JobPart>& parts,
               const std::vector<MatrixI32>& sums) {
  MatrixI32 whole(index(job.plan.shape.m), index(job.plan.shape.n));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    whole.block(index(parts[i].first_row), index(parts[i].first_column), sums.at(i).rows(),
                sums[i].cols()) = sums[i];
  }
  return whole;
}

}  // namespace gemm64
