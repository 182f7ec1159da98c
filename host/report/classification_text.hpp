// SPDX-License-Identifier: Apache-2.0
// What a network says of images, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/runtime/classification.hpp"

namespace gemm64 {

/// Accuracy, the largest confusions, images on which int8 and float32 differ, the best classes of
/// the first images. `quantized`: were results computed on integers?
std::string classification_text(const Classification& classification, bool quantized);

/// All of it; the matrix of confusions (a row for each label) for up to 100 classes.
nlohmann::ordered_json to_json(const Classification& classification);

}  // namespace gemm64
