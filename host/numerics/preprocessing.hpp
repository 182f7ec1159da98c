// SPDX-License-Identifier: Apache-2.0
// From the bytes of an image to the numbers that a network was trained on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gemm64 {

/// A pixel of 0 to 255 becomes (pixel / scale - mean) / deviation. One mean and deviation stand for
/// all channels.
struct Preprocessing {
  float scale = 255;
  std::vector<float> mean{0};
  std::vector<float> deviation{1};
  bool whole = false;  // is the whole image stretched to the size, rather than its middle cut out?

  float mean_of(std::size_t channel) const { return mean[mean.size() == 1 ? 0 : channel]; }
  float deviation_of(std::size_t channel) const {
    return deviation[deviation.size() == 1 ? 0 : channel];
  }
  /// Are there as many means and deviations as that, or one?
  bool fits(std::size_t channels) const;
  /// "(pixel / 255 - 0.1307) / 0.3081".
  std::string text() const;
};

/// The names that preprocessing_named() knows: imagenet (torchvision's), mnist, unit (0 to 1), raw
/// (0 to 255).
std::vector<std::string> preprocessing_names();
/// Throws std::invalid_argument if there is none of that name.
Preprocessing preprocessing_named(const std::string& name);

/// What is done where nothing else is asked for: imagenet for 3 channels, else unit.
Preprocessing default_preprocessing(std::size_t channels);

/// What a person asks for; nothing where it is left to the default.
struct PixelChoice {
  std::optional<Preprocessing> values;
  std::optional<bool> whole;

  bool given() const { return values || whole; }
  Preprocessing of(std::size_t channels) const;
};

}  // namespace gemm64
