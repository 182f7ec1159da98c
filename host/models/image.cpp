// SPDX-License-Identifier: Apache-2.0
#include "host/models/image.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gemm64 {
namespace {

// Red, green, blue; from the documentation of torchvision's models.
constexpr float kMean[kImageNetChannels] = {0.485f, 0.456f, 0.406f};
constexpr float kDeviation[kImageNetChannels] = {0.229f, 0.224f, 0.225f};

// The two source positions that a destination position mixes, and how much of the second.
struct Tap {
  Eigen::Index low;
  Eigen::Index high;
  float fraction;
};

std::vector<Tap> taps(Eigen::Index from, Eigen::Index to) {
  std::vector<Tap> result;
  result.reserve(static_cast<std::size_t>(to));
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  for (Eigen::Index i = 0; i < to; ++i) {
    const double centre = std::max((static_cast<double>(i) + 0.5) * scale - 0.5, 0.0);
    const auto low = std::min(static_cast<Eigen::Index>(centre), from - 1);
    result.push_back(
        {low, std::min(low + 1, from - 1), static_cast<float>(centre - static_cast<double>(low))});
  }
  return result;
}

}  // namespace

MatrixF resize_bilinear(const MatrixF& image, Eigen::Index rows, Eigen::Index columns) {
  if (image.size() == 0 || rows <= 0 || columns <= 0) {
    throw std::invalid_argument("resize_bilinear: every size must be at least 1");
  }
  const std::vector<Tap> down = taps(image.rows(), rows);
  const std::vector<Tap> across = taps(image.cols(), columns);

  MatrixF wide(image.rows(), columns);
  for (Eigen::Index c = 0; c < columns; ++c) {
    const Tap& tap = across[static_cast<std::size_t>(c)];
    wide.col(c) = (1.0f - tap.fraction) * image.col(tap.low) + tap.fraction * image.col(tap.high);
  }
  MatrixF result(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Tap& tap = down[static_cast<std::size_t>(r)];
    result.row(r) = (1.0f - tap.fraction) * wide.row(tap.low) + tap.fraction * wide.row(tap.high);
  }
  return result;
}

ImageBatch imagenet_batch(const GreyImages& images, std::size_t first, std::size_t count) {
  if (first > images.count || count > images.count - first) {
    throw std::invalid_argument("imagenet_batch: images " + std::to_string(first) + " to " +
                                std::to_string(first + count) + " of " +
                                std::to_string(images.count));
  }
  constexpr std::size_t kPlane = kImageNetSize * kImageNetSize;
  ImageBatch batch{count, kImageNetChannels, kImageNetSize, kImageNetSize, {}};
  batch.values.reserve(count * kImageNetChannels * kPlane);

  using Grey = Eigen::Map<const Matrix<std::uint8_t>>;
  const auto rows = static_cast<Eigen::Index>(images.rows);
  const auto columns = static_cast<Eigen::Index>(images.columns);
  for (std::size_t i = first; i < first + count; ++i) {
    const Grey grey(images.pixels.data() + i * images.rows * images.columns, rows, columns);
    const MatrixF plane =
        resize_bilinear(grey.cast<float>() / 255.0f, kImageNetSize, kImageNetSize);
    for (std::size_t channel = 0; channel < kImageNetChannels; ++channel) {
      const MatrixF normalised = (plane.array() - kMean[channel]) / kDeviation[channel];
      batch.values.insert(batch.values.end(), normalised.data(), normalised.data() + kPlane);
    }
  }
  return batch;
}

}  // namespace gemm64
