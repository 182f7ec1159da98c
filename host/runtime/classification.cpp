// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/classification.hpp"

#include <utility>

namespace gemm64 {
namespace {

constexpr std::size_t kBest = 5;

std::vector<std::vector<ScoredClass>> best_of(const MatrixF& scores) {
  std::vector<std::vector<ScoredClass>> best(static_cast<std::size_t>(scores.rows()));
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    for (const std::int64_t index : best_classes(scores, row, kBest)) {
      best[static_cast<std::size_t>(row)].push_back({index, scores(row, index)});
    }
  }
  return best;
}

}  // namespace

Classification classify(const MatrixF& found, const MatrixF& exact,
                        std::vector<std::int64_t> labels, std::vector<std::string> names) {
  Classification result;
  result.images = static_cast<std::uint64_t>(found.rows());
  result.has_exact = exact.size() != 0;
  result.names = std::move(names);
  result.labels = std::move(labels);
  if (!result.labels.empty()) {
    result.accuracy = measure_accuracy(found, result.labels);
    if (result.has_exact) result.exact_accuracy = measure_accuracy(exact, result.labels);
  }
  if (!result.names.empty()) {
    result.best = best_of(found);
    if (result.has_exact) result.exact_best = best_of(exact);
  }
  for (Eigen::Index row = 0; result.has_exact && row < found.rows(); ++row) {
    const std::int64_t a = best_classes(exact, row, 1).at(0);
    const std::int64_t b = best_classes(found, row, 1).at(0);
    if (a != b) result.disagreements.push_back({static_cast<std::uint64_t>(row), a, b});
  }
  return result;
}

}  // namespace gemm64
