// SPDX-License-Identifier: Apache-2.0
#include "host/numerics/image.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace gemm64 {
namespace {

// Their shorter side is resized to 256 for a crop of 224.
constexpr double kCropMargin = 256.0 / 224.0;

void normalise(MatrixF& plane, const Preprocessing& how, std::size_t channel) {
  plane = (plane.array() - how.mean_of(channel)) / how.deviation_of(channel);
}

// The source positions that a destination position mixes: first, first + 1, ...
struct Tap {
  Eigen::Index first;
  Eigen::VectorXf weights;
};

// Destination positions 0 .. to - 1 cover `extent` source positions from `begin` on, of `size`.
// Each mixes what is within a triangle around its centre, with half-pixel centres: 1 wide to both
// sides, or, where `smooth` and the image becomes smaller, as wide as the positions are apart.
std::vector<Tap> taps(Eigen::Index size, double begin, double extent, Eigen::Index to,
                      bool smooth) {
  std::vector<Tap> result;
  result.reserve(static_cast<std::size_t>(to));
  const double scale = extent / static_cast<double>(to);
  const double reach = smooth ? std::max(scale, 1.0) : 1.0;
  const auto last = static_cast<double>(size - 1);
  for (Eigen::Index i = 0; i < to; ++i) {
    const double centre = begin + (static_cast<double>(i) + 0.5) * scale - 0.5;
    const double low = std::clamp(std::floor(centre - reach) + 1.0, 0.0, last);
    const double high = std::clamp(std::ceil(centre + reach) - 1.0, low, last);
    Tap tap{static_cast<Eigen::Index>(low),
            Eigen::VectorXf::Zero(static_cast<Eigen::Index>(high - low) + 1)};
    double sum = 0.0;
    for (Eigen::Index k = 0; k < tap.weights.size(); ++k) {
      const double distance = std::abs(low + static_cast<double>(k) - centre) / reach;
      tap.weights(k) = static_cast<float>(std::max(1.0 - distance, 0.0));
      sum += static_cast<double>(tap.weights(k));
    }
    // At the border part of the triangle is outside.
    tap.weights /= static_cast<float>(sum);
    result.push_back(std::move(tap));
  }
  return result;
}

// Where a resized image comes from: a rectangle of the source, in its pixels.
struct Region {
  double row, column, rows, columns;
};

MatrixF resample(const MatrixF& image, const Region& region, Eigen::Index rows,
                 Eigen::Index columns, bool smooth) {
  const std::vector<Tap> down = taps(image.rows(), region.row, region.rows, rows, smooth);
  const std::vector<Tap> across =
      taps(image.cols(), region.column, region.columns, columns, smooth);

  MatrixF wide(image.rows(), columns);
  for (Eigen::Index r = 0; r < image.rows(); ++r) {
    for (Eigen::Index c = 0; c < columns; ++c) {
      const Tap& tap = across[static_cast<std::size_t>(c)];
      wide(r, c) = image.row(r).segment(tap.first, tap.weights.size()).dot(tap.weights);
    }
  }
  MatrixF result(rows, columns);
  for (Eigen::Index r = 0; r < rows; ++r) {
    const Tap& tap = down[static_cast<std::size_t>(r)];
    result.row(r).noalias() =
        tap.weights.transpose() * wide.middleRows(tap.first, tap.weights.size());
  }
  return result;
}

// What of an image networks look at: it is resized until it covers `margin` times the network's
// size, and the middle is cut out. One of the right size is taken as it is.
Region visible_region(const Image& image, Eigen::Index rows, Eigen::Index columns, double margin) {
  const auto height = static_cast<double>(image.rows);
  const auto width = static_cast<double>(image.columns);
  const auto to_rows = static_cast<double>(rows);
  const auto to_columns = static_cast<double>(columns);
  if (height == to_rows && width == to_columns) return {0, 0, height, width};
  const double scale = margin * std::max(to_rows / height, to_columns / width);
  const Region region{0, 0, to_rows / scale, to_columns / scale};
  return {(height - region.rows) / 2, (width - region.columns) / 2, region.rows, region.columns};
}

}  // namespace

MatrixF resize_bilinear(const MatrixF& image, Eigen::Index rows, Eigen::Index columns) {
  if (image.size() == 0 || rows <= 0 || columns <= 0) {
    throw std::invalid_argument("resize_bilinear: every size must be at least 1");
  }
  const Region whole{0, 0, static_cast<double>(image.rows()), static_cast<double>(image.cols())};
  return resample(image, whole, rows, columns, false);
}

ImageBatch network_input(const Image& image, std::size_t channels, std::size_t rows,
                         std::size_t columns, const Preprocessing& how) {
  if (!how.fits(channels) || image.channels != channels ||
      (channels != 1 && channels != kImageNetChannels) ||
      image.rows * image.columns * channels == 0 || rows * columns == 0 ||
      image.pixels.size() != image.rows * image.columns * channels) {
    throw std::invalid_argument(
        "network_input: takes images of 1 or 3 channels that are not empty");
  }
  const bool colour = channels == kImageNetChannels;
  const auto to_rows = static_cast<Eigen::Index>(rows);
  const auto to_columns = static_cast<Eigen::Index>(columns);
  const Region region =
      how.whole ? Region{0, 0, static_cast<double>(image.rows), static_cast<double>(image.columns)}
                : visible_region(image, to_rows, to_columns, colour ? kCropMargin : 1.0);
  ImageBatch batch{1, channels, rows, columns, {}};
  batch.values.reserve(channels * rows * columns);
  using Channel =
      Eigen::Map<const Matrix<std::uint8_t>, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  const auto step = static_cast<Eigen::Index>(channels);
  const auto width = static_cast<Eigen::Index>(image.columns);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const Channel bytes(image.pixels.data() + channel, static_cast<Eigen::Index>(image.rows), width,
                        {width * step, step});
    MatrixF plane = resample(bytes.cast<float>() / how.scale, region, to_rows, to_columns, true);
    normalise(plane, how, channel);
    batch.values.insert(batch.values.end(), plane.data(), plane.data() + plane.size());
  }
  return batch;
}

ImageBatch imagenet_batch(const GreyImages& images, std::size_t first, std::size_t count) {
  if (first > images.count || count > images.count - first) {
    throw std::invalid_argument("imagenet_batch: images " + std::to_string(first) + " to " +
                                std::to_string(first + count) + " of " +
                                std::to_string(images.count));
  }
  constexpr std::size_t kPlane = kImageNetSize * kImageNetSize;
  const Preprocessing how = default_preprocessing(kImageNetChannels);
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
      MatrixF normalised = plane;
      normalise(normalised, how, channel);
      batch.values.insert(batch.values.end(), normalised.data(), normalised.data() + kPlane);
    }
  }
  return batch;
}

}  // namespace gemm64
