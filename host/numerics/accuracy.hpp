// SPDX-License-Identifier: Apache-2.0
// How well scores of classes tell what images show.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "host/numerics/matrix.hpp"

namespace gemm64 {

struct Accuracy {
  std::uint64_t images = 0;
  std::uint64_t top1 = 0, top5 = 0;  // images whose label has the best score, one of the five best
  std::int64_t classes = 0;
  /// Images by label and best class, where there are any.
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> found;
};

/// `scores` has a row for each image and a column for each class, `labels` at least as many.
/// Throws std::invalid_argument if there are fewer labels, or one of them is no class.
Accuracy measure_accuracy(const MatrixF& scores, const std::vector<std::int64_t>& labels);

/// The `count` (or fewer) classes with the highest scores in a row, the highest first; of equal
/// ones the lower class, and NaN below everything.
std::vector<std::int64_t> best_classes(const MatrixF& scores, Eigen::Index row, std::size_t count);

struct Confusion {
  std::int64_t label = 0, found = 0;
  std::uint64_t images = 0;
};

/// Labels that were taken for another class, the most frequent first.
std::vector<Confusion> confusions(const Accuracy& accuracy);

}  // namespace gemm64
