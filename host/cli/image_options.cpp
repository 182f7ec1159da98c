// SPDX-License-Identifier: Apache-2.0
#include "host/cli/image_options.hpp"

#include <algorithm>

#include "host/cli/failure_file.hpp"
#include "host/cli/values.hpp"

namespace gemm64 {
namespace {

constexpr double kMost = 1e9;
const std::vector<std::string> kResizes{"middle", "whole"};
constexpr double kLeast = 1e-9;  // of what is divided by

std::vector<float> floats(const std::vector<double>& values, float otherwise) {
  if (values.empty()) return {otherwise};
  return {values.begin(), values.end()};
}

}  // namespace

PixelChoice ImageOptions::choice() const {
  PixelChoice choice;
  if (!preset.empty()) {
    choice.values = preprocessing_named(preset);
  } else if (scale || !mean.empty() || !deviation.empty()) {
    choice.values = Preprocessing{static_cast<float>(scale.value_or(255)), floats(mean, 0),
                                  floats(deviation, 1)};
  }
  if (!resize.empty()) choice.whole = resize == "whole";
  return choice;
}

void add_image_options(CLI::App& command, ImageOptions& options) {
  CLI::Option* const preset =
      command
          .add_option(
              "--preprocess", options.preset,
              "pixel normalization\n"
              "imagenet: torchvision's mean and deviation, the default for colour; mnist: "
              "0.1307 and 0.3081; unit: 0 to 1, the default for grey; raw: 0 to 255, unchanged.")
          ->transform(one_of(preprocessing_names()));
  const auto add = [&](const char* name, auto& value, const char* text, double low) {
    return command.add_option(name, value, text)
        ->transform(real_number(low, kMost))
        ->delimiter(',')
        ->allow_extra_args(false)
        ->excludes(preset);
  };
  add("--mean", options.mean,
      "instead: the mean in (pixel / scale - mean) / std (default 0)\n"
      "A number, or one for each channel: 0.485,0.456,0.406.",
      -kMost);
  add("--std", options.deviation, "the divisor std (default 1)", kLeast);
  add("--scale", options.scale, "input scale, by which pixels are divided first (default 255)",
      kLeast);
  command
      .add_option("--resize", options.resize,
                  "resize mode: center crop, or stretch (default middle)\n"
                  "middle: resized, its middle cut out; whole: its sides stretched.")
      ->transform(one_of(kResizes));
}

nlohmann::ordered_json to_json(const ImageOptions& options) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!options.preset.empty()) json["preprocess"] = options.preset;
  if (options.scale) json["scale"] = *options.scale;
  if (!options.mean.empty()) json["mean"] = options.mean;
  if (!options.deviation.empty()) json["std"] = options.deviation;
  if (!options.resize.empty()) json["resize"] = options.resize;
  return json;
}

ImageOptions image_options(const nlohmann::json& json) {
  ImageOptions options;
  const std::string name = "options.pixels";
  if (json.contains("preprocess")) {
    options.preset = json_field<std::string>(json, name, "preprocess");
  }
  if (json.contains("scale")) options.scale = json_field<double>(json, name, "scale");
  if (json.contains("mean")) options.mean = json_field<std::vector<double>>(json, name, "mean");
  if (json.contains("std")) options.deviation = json_field<std::vector<double>>(json, name, "std");
  if (json.contains("resize")) options.resize = json_field<std::string>(json, name, "resize");
  const auto divides = [](double value) { return value >= kLeast && value <= kMost; };
  const std::vector<std::string> names = preprocessing_names();
  if ((!options.preset.empty() &&
       std::find(names.begin(), names.end(), options.preset) == names.end()) ||
      (options.scale && !divides(*options.scale)) ||
      !std::all_of(options.deviation.begin(), options.deviation.end(), divides)) {
    throw UsageError("the replay file: options.pixels names what no run could have had");
  }
  return options;
}

}  // namespace gemm64
