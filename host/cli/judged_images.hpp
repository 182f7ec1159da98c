// SPDX-License-Identifier: Apache-2.0
// Labels and names of classes, with a network's scores.
#pragma once

#include <optional>

#include "host/cli/network_source.hpp"
#include "host/runtime/classification.hpp"
#include "host/runtime/network_run.hpp"

namespace gemm64 {

class JudgedImages {
 public:
  /// Reads the files that the options name. Throws UsageError where they cannot be used, hold more
  /// or fewer labels than the network is given images, or, as far as the model shows before it
  /// runs, labels or names that do not fit its first output.
  JudgedImages(const NetworkOptions& options, const NetworkSource& source);

  /// What the network says; nothing where its first output has no row for each image, or is of no
  /// number, and neither labels nor names were given. Throws UsageError where they were, or where
  /// they do not fit.
  std::optional<Classification> classify(const NetworkRun& run) const;

 private:
  void check_classes(std::int64_t classes) const;
  bool asked() const { return !labels_.empty() || !names_.empty(); }

  std::string labels_file_, names_file_, model_;
  std::int64_t images_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> names_, files_;
};

}  // namespace gemm64
