// SPDX-License-Identifier: Apache-2.0
// How images become a network's input: options of `run` and `quantize`.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/numerics/preprocessing.hpp"

namespace gemm64 {

struct ImageOptions {
  std::string preset;
  std::optional<double> scale;
  std::vector<double> mean, deviation;
  std::string resize;

  /// What they ask for together. What --mean, --std and --scale leave open is 0, 1 and 255.
  PixelChoice choice() const;
};

/// A preset, or single figures, never both.
void add_image_options(CLI::App& command, ImageOptions& options);

/// The options for a replay file, and from one.
nlohmann::ordered_json to_json(const ImageOptions& options);
ImageOptions image_options(const nlohmann::json& json);

}  // namespace gemm64
