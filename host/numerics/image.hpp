// SPDX-License-Identifier: Apache-2.0
// Images, and the way from a small grey one to what an ImageNet network takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/numerics/matrix.hpp"
#include "host/numerics/preprocessing.hpp"

namespace gemm64 {

/// Grey images of one size, one after the other, row by row, a byte a pixel.
struct GreyImages {
  std::size_t count = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<std::uint8_t> pixels;
};

/// One image of 1 (grey) or 3 (red, green, blue) channels, row by row, a pixel's channels side by
/// side, a byte each.
struct Image {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t channels = 0;
  std::vector<std::uint8_t> pixels;
};

/// Float32 images in NCHW order: values[((n * channels + c) * height + y) * width + x].
struct ImageBatch {
  std::size_t count = 0;
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::vector<float> values;
};

inline constexpr std::size_t kImageNetSize = 224;
inline constexpr std::size_t kImageNetChannels = 3;

/// `image` at `rows` x `columns`, bilinear with half-pixel centres: what PyTorch's interpolate does
/// with mode="bilinear", align_corners=False. Throws std::invalid_argument if a size is zero.
MatrixF resize_bilinear(const MatrixF& image, Eigen::Index rows, Eigen::Index columns);

/// An image as a network of `channels` x `rows` x `columns` takes it. Colour: resized (bilinear,
/// averaging where it becomes smaller) until it covers 256/224 of the size, its middle cut out, as
/// torchvision evaluates its models. Grey: resized until it covers the size, its middle cut out. An
/// image of exactly the size is not resized. Where `how` wants the whole image, its sides are
/// stretched instead and nothing is cut off. Then normalised as `how` says. Throws
/// std::invalid_argument if the image has other channels, or a size is zero, or `how` is for
/// another number of channels.
ImageBatch network_input(const Image& image, std::size_t channels, std::size_t rows,
                         std::size_t columns, const Preprocessing& how);

/// Images first .. first + count - 1 as 3x224x224: resized, divided by 255, repeated for each
/// channel and normalised with ImageNet's mean and deviation, as torchvision's models expect.
/// Throws std::invalid_argument if there are fewer images.
ImageBatch imagenet_batch(const GreyImages& images, std::size_t first, std::size_t count);

}  // namespace gemm64
