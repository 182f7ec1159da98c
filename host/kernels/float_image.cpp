// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/float_image.hpp"

#include <functional>
#include <numeric>
#include <vector>

#include "host/kernels/float_product.hpp"

namespace gemm64 {
namespace {

/// The values under each window of one image, a row a window: [OH * OW][C * kh * kw].
std::vector<float> windows_of(const float* image, const Dims& dims, const SpatialWindow& window) {
  const std::int64_t channels = dims[1], height = dims[2], width = dims[3];
  std::vector<float> rows;
  rows.reserve(static_cast<std::size_t>(window.output[0] * window.output[1] * channels *
                                        window.kernel[0] * window.kernel[1]));
  for (std::int64_t top = 0; top < window.output[0]; ++top) {
    for (std::int64_t left = 0; left < window.output[1]; ++left) {
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        for (std::int64_t i = 0; i < window.kernel[0]; ++i) {
          const std::int64_t y =
              top * window.strides[0] - window.begin[0] + i * window.dilations[0];
          for (std::int64_t j = 0; j < window.kernel[1]; ++j) {
            const std::int64_t x =
                left * window.strides[1] - window.begin[1] + j * window.dilations[1];
            const bool inside = y >= 0 && y < height && x >= 0 && x < width;
            rows.push_back(inside ? image[(channel * height + y) * width + x] : 0.0F);
          }
        }
      }
    }
  }
  return rows;
}

std::int64_t product_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

/// Counts through `dims`, the last fastest; false after the end.
bool next(const Dims& dims, Dims& at) {
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    if (++at[axis] < dims[axis]) return true;
    at[axis] = 0;
  }
  return false;
}

/// The value that tap `tap` of each window reads of a channel [spatial...], 0 in the padding.
void append_tap(const float* channel, const Dims& spatial, const SpatialWindow& window,
                const Dims& tap, std::vector<float>& values) {
  Dims at(spatial.size(), 0);
  do {
    std::int64_t place = 0;
    bool inside = true;
    for (std::size_t i = 0; i < spatial.size(); ++i) {
      const std::int64_t x =
          at[i] * window.strides[i] - window.begin[i] + tap[i] * window.dilations[i];
      inside = inside && x >= 0 && x < spatial[i];
      place = place * spatial[i] + x;
    }
    values.push_back(inside ? channel[place] : 0.0F);
  } while (next(window.output, at));
}

}  // namespace

Tensor convolve_expanded(const Tensor& x, const Tensor& weights, const Tensor& bias,
                         const SpatialWindow& window, std::int64_t groups) {
  const Dims spatial(x.dims().begin() + 2, x.dims().end());
  Dims dims{x.dim(0), weights.dim(0)};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  Tensor result(onnx::TensorProto::FLOAT, dims);
  if (result.elements() == 0) return result;
  const std::int64_t m = weights.dim(0) / groups, n = product_of(window.output);
  const std::int64_t channels = weights.dim(1), k = channels * product_of(window.kernel);
  for (std::int64_t part = 0; part < x.dim(0) * groups; ++part) {
    const std::int64_t group = part % groups;
    const float* const values = x.values<float>() + part * channels * product_of(spatial);
    std::vector<float> columns;
    columns.reserve(static_cast<std::size_t>(k * n));
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      Dims tap(window.kernel.size(), 0);
      do {
        append_tap(values + channel * product_of(spatial), spatial, window, tap, columns);
      } while (next(window.kernel, tap));
    }
    float* const to = result.mutable_values<float>() + part * m * n;
    multiply({m, n, k, {weights.values<float>() + group * m * k, k}, {columns.data(), n}}, to);
    for (std::int64_t i = 0; bias.present() && i < m * n; ++i) {
      to[i] += bias.values<float>()[group * m + i / n];
    }
  }
  return result;
}

Tensor convolve_image(const Tensor& x, const Tensor& weights, const Tensor& bias,
                      const SpatialWindow& window) {
  const std::int64_t m = window.output[0] * window.output[1], n = weights.dim(0);
  const std::int64_t taps = window.kernel[0] * window.kernel[1], k = x.dim(1) * taps;
  Tensor result(onnx::TensorProto::FLOAT, {x.dim(0), n, window.output[0], window.output[1]});
  if (result.elements() == 0) return result;
  std::vector<float> sums(static_cast<std::size_t>(m * n));
  for (std::int64_t image = 0; image < x.dim(0); ++image) {
    const std::vector<float> rows =
        windows_of(x.values<float>() + image * x.elements() / x.dim(0), x.dims(), window);
    FloatProduct product{m, n, k, {rows.data(), k}, {weights.values<float>(), k, true}, true};
    product.chain = taps;
    multiply(product, sums.data());
    float* const to = result.mutable_values<float>() + image * m * n;
    for (std::int64_t channel = 0; channel < n; ++channel) {
      const float more = bias.present() ? bias.values<float>()[channel] : 0.0F;
      for (std::int64_t i = 0; i < m; ++i) to[channel * m + i] = sums[i * n + channel] + more;
    }
  }
  return result;
}

}  // namespace gemm64
