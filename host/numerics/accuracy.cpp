// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace gemm64 {

Accuracy measure_accuracy(const MatrixF& scores, const std::vector<std::int64_t>& labels) {
  Accuracy accuracy;
  accuracy.images = static_cast<std::uint64_t>(scores.rows());
  accuracy.classes = scores.cols();
  if (labels.size() < accuracy.images) {
    throw std::invalid_argument("measure_accuracy: fewer labels than images");
  }
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    const std::int64_t label = labels[static_cast<std::size_t>(row)];
    if (label < 0 || label >= accuracy.classes) {
      throw std::invalid_argument("measure_accuracy: a label is no class");
    }
    const std::vector<std::int64_t> best = best_classes(scores, row, 5);
    accuracy.top1 += best[0] == label ? 1 : 0;
    accuracy.top5 += std::find(best.begin(), best.end(), label) != best.end() ? 1 : 0;
    ++accuracy.found[{label, best[0]}];
  }
  return accuracy;
}

std::vector<std::int64_t> best_classes(const MatrixF& scores, Eigen::Index row, std::size_t count) {
  std::vector<std::int64_t> classes(static_cast<std::size_t>(scores.cols()));
  std::iota(classes.begin(), classes.end(), std::int64_t{0});
  const auto end = classes.begin() + static_cast<std::ptrdiff_t>(std::min(count, classes.size()));
  std::partial_sort(classes.begin(), end, classes.end(), [&](std::int64_t a, std::int64_t b) {
    const float of_a = scores(row, a);
    const float of_b = scores(row, b);
    if (std::isnan(of_a) || std::isnan(of_b)) {
      return std::isnan(of_a) == std::isnan(of_b) ? a < b : std::isnan(of_b);
    }
    return of_a != of_b ? of_a > of_b : a < b;
  });
  classes.erase(end, classes.end());
  return classes;
}

std::vector<Confusion> confusions(const Accuracy& accuracy) {
  std::vector<Confusion> all;
  for (const auto& [classes, images] : accuracy.found) {
    if (classes.first != classes.second) all.push_back({classes.first, classes.second, images});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Confusion& a, const Confusion& b) { return a.images > b.images; });
  return all;
}

}  // namespace gemm64
