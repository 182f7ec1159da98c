// SPDX-License-Identifier: Apache-2.0
// The convolutional part of a network, in float32 on the CPU, by oneDNN.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "host/models/image.hpp"

namespace gemm64 {

/// A Conv2d with a square kernel, zero padding on all sides, and max(y, 0) after it where `relu`.
struct Convolution {
  std::string name;
  std::size_t in_channels = 0;
  std::size_t out_channels = 0;
  std::size_t kernel = 1;
  std::size_t stride = 1;
  std::size_t padding = 0;
  bool relu = false;
  std::vector<float> weights;  // [out_channels][in_channels][kernel][kernel]
  std::vector<float> bias;     // [out_channels]
};

/// A MaxPool2d with a square window, without padding; windows that do not fit are left out.
struct MaxPooling {
  std::size_t kernel = 1;
  std::size_t stride = 1;
};

using Stage = std::variant<Convolution, MaxPooling>;

/// Runs `input` through the stages, each with the memory layout that oneDNN likes best. An output
/// side is (side + 2 * padding - kernel) / stride + 1, rounded down. Throws std::invalid_argument
/// where a stage does not fit what comes before it, or the input is empty.
ImageBatch run_stages(const ImageBatch& input, const std::vector<Stage>& stages);

}  // namespace gemm64
