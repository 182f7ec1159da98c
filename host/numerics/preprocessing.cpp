// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/preprocessing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <stdexcept>

namespace gemm64 {
namespace {

const std::map<std::string, Preprocessing>& presets() {
  static const std::map<std::string, Preprocessing> presets{
      // Red, green, blue; from the documentation of torchvision's models.
      {"imagenet", {255, {0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}},
      // The mean and deviation of MNIST's training set, as PyTorch's example takes them.
      {"mnist", {255, {0.1307F}, {0.3081F}}},
      {"unit", {255, {0}, {1}}},
      {"raw", {1, {0}, {1}}}};
  return presets;
}

std::string list_text(const std::vector<float>& values) {
  return values.size() == 1 ? fmt::format("{:g}", values[0])
                            : fmt::format("({:g})", fmt::join(values, ", "));
}

}  // namespace

bool Preprocessing::fits(std::size_t channels) const {
  const auto fit = [channels](std::size_t size) { return size == 1 || size == channels; };
  return fit(mean.size()) && fit(deviation.size());
}

std::string Preprocessing::text() const {
  const bool scaled = scale != 1;
  const bool moved = mean != std::vector<float>{0};
  std::string text = scaled ? fmt::format("pixel / {:g}", scale) : "pixel";
  if (moved) text += " - " + list_text(mean);
  if (deviation == std::vector<float>{1}) return text;
  return (scaled || moved ? "(" + text + ")" : text) + " / " + list_text(deviation);
}

std::vector<std::string> preprocessing_names() { return {"imagenet", "mnist", "unit", "raw"}; }

Preprocessing preprocessing_named(const std::string& name) {
  const auto found = presets().find(name);
  if (found == presets().end()) {
    throw std::invalid_argument("preprocessing_named: no preset is called " + name);
  }
  return found->second;
}

Preprocessing default_preprocessing(std::size_t channels) {
  return preprocessing_named(channels == 3 ? "imagenet" : "unit");
}

Preprocessing PixelChoice::of(std::size_t channels) const {
  Preprocessing chosen = values ? *values : default_preprocessing(channels);
  chosen.whole = whole.value_or(false);
  return chosen;
}

}  // namespace gemm64
