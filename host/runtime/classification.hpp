// SPDX-License-Identifier: Apache-2.0
// What a network says of images: plain data, from which text and JSON are made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/numerics/accuracy.hpp"

namespace gemm64 {

/// An image whose best class is not the float network's.
struct Disagreement {
  std::uint64_t image = 0;
  std::int64_t exact = 0, found = 0;
};

/// A class and its score.
struct ScoredClass {
  std::int64_t index = 0;
  float score = 0;
};

struct Classification {
  std::uint64_t images = 0;
  std::optional<Accuracy> accuracy, exact_accuracy;  // where labels are known; in float32
  std::vector<std::int64_t> labels;                  // empty: unknown
  std::vector<std::string> names;                    // of the classes; empty: unknown
  std::vector<std::string> files;                    // of the images; empty: unknown
  bool has_exact = false;                            // did a float network run, too?
  std::vector<Disagreement> disagreements;
  /// Where names are known, the five best classes of each image; of the float network, too.
  std::vector<std::vector<ScoredClass>> best, exact_best;
};

/// `found` and `exact` (empty: no float network ran) have a row for each image. Throws
/// std::invalid_argument as measure_accuracy() does.
Classification classify(const MatrixF& found, const MatrixF& exact,
                        std::vector<std::int64_t> labels, std::vector<std::string> names);

}  // namespace gemm64
