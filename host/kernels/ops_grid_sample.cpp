// SPDX-License-Identifier: Apache-2.0
// Values of a map at places between its points: GridSample, the grids that AffineGrid makes for it,
// and RoiAlign.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "host/kernels/attention_heads.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

enum class Method { kNearest, kLinear, kCubic };
enum class Beyond { kZeros, kBorder, kReflection };

/// What a node says of its samples.
struct Sampling {
  Method method = Method::kLinear;
  Beyond beyond = Beyond::kZeros;
  bool corners = false;
};

Sampling sampling_of(const NodeContext& node) {
  const std::string mode = attribute(*node.node, "mode", "linear");
  const std::string padding = attribute(*node.node, "padding_mode", "zeros");
  Sampling result;
  if (mode == "nearest") {
    result.method = Method::kNearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    result.method = Method::kCubic;
  } else if (mode != "linear" && mode != "bilinear") {
    throw failure(node, fmt::format("mode '{}' is not supported", printable(mode)));
  }
  if (padding == "border") {
    result.beyond = Beyond::kBorder;
  } else if (padding == "reflection") {
    result.beyond = Beyond::kReflection;
  } else if (padding != "zeros") {
    throw failure(node, fmt::format("padding_mode '{}' is not supported", printable(padding)));
  }
  result.corners = attribute(*node.node, "align_corners", std::int64_t{0}) != 0;
  return result;
}

/// Back into [low, high], as between two mirrors.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  if (x >= low && x <= high) return x;
  const double beyond = x < low ? low - x : x - high;
  const double times = std::trunc(beyond / range);
  const double rest = beyond - times * range;
  const bool from_low = (std::fmod(times, 2) == 0) == (x < low);
  return from_low ? low + rest : high - rest;
}

/// Which points of an axis a place takes, with their weights; -1 is a zero.
struct Taps {
  int count = 0;
  std::array<std::int64_t, 4> at{};
  std::array<double, 4> weight{};
};

Taps taps_of(const Sampling& sampling, double normalized, std::int64_t size) {
  const auto length = static_cast<double>(size);
  const double low = sampling.corners ? 0 : -0.5;
  const double high = sampling.corners ? length - 1 : length - 0.5;
  double x =
      sampling.corners ? (normalized + 1) / 2 * (length - 1) : ((normalized + 1) * length - 1) / 2;
  x = static_cast<float>(x);
  if (sampling.method == Method::kNearest) x = std::nearbyint(x);
  if (!std::isfinite(x)) x = low - 1;
  if (x < low || x > high) {
    if (sampling.beyond == Beyond::kBorder) x = std::clamp(x, 0.0, length - 1);
    if (sampling.beyond == Beyond::kReflection) x = reflected(x, low, high);
    x = std::clamp(x, -4.0, length + 4);  // zeros, however far
  }
  const auto index = [&](double place) -> std::int64_t {
    if (sampling.beyond == Beyond::kReflection) place = std::trunc(reflected(place, low, high));
    if (sampling.beyond == Beyond::kBorder) place = std::clamp(place, 0.0, length - 1);
    return place < 0 || place >= length ? -1 : static_cast<std::int64_t>(place);
  };
  Taps taps;
  const auto take = [&](double place, double weight) {
    taps.at[static_cast<std::size_t>(taps.count)] = index(place);
    taps.weight[static_cast<std::size_t>(taps.count++)] = weight;
  };
  const double first = std::floor(x);
  const double part = x - first;
  if (sampling.method == Method::kNearest) {
    take(std::trunc(x), 1);
  } else if (sampling.method == Method::kLinear) {
    take(first, 1 - part);
    take(first + 1, part);
  } else {
    constexpr double kA = -0.75;  // Keys' cubic convolution
    const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
    const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
    take(first - 1, far(part + 1));
    take(first, near(part));
    take(first + 1, near(1 - part));
    take(first + 2, far(2 - part));
  }
  return taps;
}

/// The sum over all axes from `axis` on, of the map that begins at `values`.
template <class T>
double sample(const T* values, const std::vector<Taps>& taps, const Dims& steps,
              std::size_t axis = 0) {
  if (axis == taps.size()) return static_cast<double>(*values);
  double sum = 0;
  for (int i = 0; i < taps[axis].count; ++i) {
    const auto tap = static_cast<std::size_t>(i);
    if (taps[axis].at[tap] < 0) continue;
    sum += taps[axis].weight[tap] *
           sample(values + taps[axis].at[tap] * steps[axis], taps, steps, axis + 1);
  }
  return sum;
}

}  // namespace

Tensors grid_sample(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& grid = input(node, inputs, 1);
  const std::size_t axes = x.rank() < 3 ? 0 : x.rank() - 2;
  if (axes == 0 || grid.rank() != x.rank() || grid.dim(0) != x.dim(0) ||
      grid.dims().back() != static_cast<std::int64_t>(axes) || x.elements() == 0) {
    throw failure(node, fmt::format("its grid is {} for {}", describe(grid), describe(x)));
  }
  const Sampling sampling = sampling_of(node);
  Dims dims{x.dim(0), x.dim(1)};
  dims.insert(dims.end(), grid.dims().begin() + 1, grid.dims().end() - 1);
  const Dims map(x.dims().begin() + 2, x.dims().end());
  const Dims steps = row_major_strides(map);
  const std::int64_t channels = x.dim(1), plane = map[0] * steps[0];
  const std::int64_t points =
      grid.elements() / std::max<std::int64_t>(grid.dim(0), 1) / static_cast<std::int64_t>(axes);
  const Doubles places = doubles_of(node, grid);
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y(x.type(), dims);
    T* const to = y.template mutable_values<T>();
    std::vector<Taps> taps(axes);
    for (std::int64_t image = 0; image < x.dim(0); ++image) {
      for (std::int64_t point = 0; point < points; ++point) {
        const std::size_t place = static_cast<std::size_t>(image * points + point) * axes;
        // A place names the last axis first.
        for (std::size_t axis = 0; axis < axes; ++axis) {
          taps[axis] = taps_of(sampling, places[place + axes - 1 - axis], map[axis]);
        }
        for (std::int64_t channel = 0; channel < channels; ++channel) {
          const std::int64_t at = image * channels + channel;
          to[at * points + point] =
              static_cast<T>(sample(x.template values<T>() + at * plane, taps, steps));
        }
      }
    }
    return y;
  })};
}

Tensors affine_grid(const NodeContext& node, const Tensors& inputs) {
  const Tensor& theta = input(node, inputs, 0);
  const Dims size = integers(node, input(node, inputs, 1));
  const std::size_t axes = size.size() < 2 ? 0 : size.size() - 2;
  if ((axes != 2 && axes != 3) ||
      theta.dims() !=
          Dims{size[0], static_cast<std::int64_t>(axes), static_cast<std::int64_t>(axes) + 1} ||
      std::any_of(size.begin(), size.end(), [](std::int64_t n) { return n < 1; })) {
    throw failure(node,
                  fmt::format("{} transforms no map of {}", describe(theta), dims_text(size)));
  }
  const bool corners = attribute(*node.node, "align_corners", std::int64_t{0}) != 0;
  const Dims map(size.begin() + 2, size.end());
  const Dims steps = row_major_strides(map);
  const Doubles factors = doubles_of(node, theta);
  Dims dims = map;
  dims.insert(dims.begin(), size[0]);
  dims.push_back(static_cast<std::int64_t>(axes));
  const Tensor shape(onnx::TensorProto::BOOL, dims);  // refuses sizes beyond all memory
  Doubles grid;
  grid.reserve(static_cast<std::size_t>(shape.elements()));
  for (std::int64_t image = 0; image < size[0]; ++image) {
    for (std::int64_t point = 0; point < map[0] * steps[0]; ++point) {
      Doubles place;  // the last axis first, then 1
      for (std::size_t axis = axes; axis-- > 0;) {
        const auto at = static_cast<double>(point / steps[axis] % map[axis]);
        const auto length = static_cast<double>(map[axis]);
        place.push_back(corners ? (length == 1 ? -1 : 2 * at / (length - 1) - 1)
                                : (2 * at + 1) / length - 1);
      }
      place.push_back(1);
      for (std::size_t row = 0; row < axes; ++row) {
        const std::size_t first = (static_cast<std::size_t>(image) * axes + row) * (axes + 1);
        double sum = 0;
        for (std::size_t i = 0; i <= axes; ++i) sum += factors[first + i] * place[i];
        grid.push_back(sum);
      }
    }
  }
  return {tensor_of(node, theta.type(), dims, grid)};
}

namespace {

/// A region of a map, cut into bins of which several places are sampled.
struct Region {
  double top = 0, left = 0, bin_height = 0, bin_width = 0;
  std::int64_t rows = 0, columns = 0;  // places in a bin
};

/// The four points around a place; weights of 0 where it is outside.
struct Corners {
  std::array<std::int64_t, 4> at{};
  std::array<double, 4> weight{};
};

Corners corners_at(double y, double x, std::int64_t height, std::int64_t width) {
  Corners result;
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) {
    return result;
  }
  const auto split = [](double place, std::int64_t size, std::int64_t& low, std::int64_t& high) {
    place = std::max(place, 0.0);
    low = static_cast<std::int64_t>(place);
    if (low >= size - 1) {
      low = high = size - 1;
      return 0.0;
    }
    high = low + 1;
    return place - static_cast<double>(low);
  };
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
  const double down = split(y, height, top, bottom), across = split(x, width, left, right);
  result.at = {top * width + left, top * width + right, bottom * width + left,
               bottom * width + right};
  result.weight = {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across),
                   down * across};
  return result;
}

}  // namespace

Tensors roi_align(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& regions = input(node, inputs, 1);
  const Dims images = integers(node, input(node, inputs, 2));
  const auto count = static_cast<std::int64_t>(images.size());
  if (x.rank() != 4 || x.elements() == 0 || regions.dims() != Dims{count, 4}) {
    throw failure(
        node, fmt::format("regions {} of {} images in {}", describe(regions), count, describe(x)));
  }
  const auto number = [&](const char* name, std::int64_t otherwise) {
    return attribute(*node.node, name, otherwise);
  };
  const std::int64_t out_height = number("output_height", 1), out_width = number("output_width", 1);
  const std::int64_t ratio = number("sampling_ratio", 0);
  const double scale = attribute(*node.node, "spatial_scale", 1.0F);
  const std::string mode = attribute(*node.node, "mode", "avg");
  const std::string coordinates = attribute(*node.node, "coordinate_transformation_mode",
                                            node.opset < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "avg" && mode != "max") {
    throw failure(node, fmt::format("mode '{}' is not supported", printable(mode)));
  }
  const bool half_pixel = coordinates == "half_pixel";
  const std::int64_t channels = x.dim(1), height = x.dim(2), width = x.dim(3);
  const Dims dims{count, channels, out_height, out_width};
  const Tensor shape(onnx::TensorProto::BOOL, dims);  // refuses sizes that are none
  const Doubles map = doubles_of(node, x), boxes = doubles_of(node, regions);
  Doubles y;
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t image = images[static_cast<std::size_t>(r)];
    if (image < 0 || image >= x.dim(0)) {
      throw failure(node,
                    fmt::format("region {} is of image {}; there are {}", r, image, x.dim(0)));
    }
    const double* const box = boxes.data() + 4 * r;
    const double offset = half_pixel ? 0.5 : 0;
    Region region;
    region.left = box[0] * scale - offset;
    region.top = box[1] * scale - offset;
    double wide = box[2] * scale - offset - region.left;
    double high = box[3] * scale - offset - region.top;
    if (!half_pixel) {
      wide = std::max(wide, 1.0);
      high = std::max(high, 1.0);
    }
    region.bin_height = high / static_cast<double>(out_height);
    region.bin_width = wide / static_cast<double>(out_width);
    constexpr double kMost = 1 << 14;  // so that no region takes the machine's memory
    if (!(std::fabs(region.bin_height) < kMost && std::fabs(region.bin_width) < kMost) ||
        ratio > static_cast<std::int64_t>(kMost)) {
      throw failure(node, fmt::format("region {} is too large to sample", r));
    }
    region.rows = ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(region.bin_height));
    region.columns = ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(region.bin_width));
    const std::int64_t in_bin =
        std::max<std::int64_t>(region.rows, 0) * std::max<std::int64_t>(region.columns, 0);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const double* const plane = map.data() + (image * channels + channel) * height * width;
      for (std::int64_t bin = 0; bin < out_height * out_width; ++bin) {
        const std::int64_t whole_row = bin / out_width;
        const auto row = static_cast<double>(whole_row);
        const auto column = static_cast<double>(bin % out_width);
        double sum = 0, largest = 0;
        for (std::int64_t i = 0; i < in_bin; ++i) {
          const std::int64_t whole_down = i / region.columns;
          const auto down = static_cast<double>(whole_down) + 0.5;
          const auto across = static_cast<double>(i % region.columns) + 0.5;
          const Corners corners = corners_at(
              region.top + (row + down / static_cast<double>(region.rows)) * region.bin_height,
              region.left +
                  (column + across / static_cast<double>(region.columns)) * region.bin_width,
              height, width);
          for (std::size_t c = 0; c < 4; ++c) {
            const double value = corners.weight[c] * plane[corners.at[c]];
            sum += value;
            largest = i == 0 && c == 0 ? value : std::max(largest, value);
          }
        }
        y.push_back(mode == "max" ? largest
                                  : sum / static_cast<double>(std::max<std::int64_t>(in_bin, 1)));
      }
    }
  }
  return {tensor_of(node, x.type(), dims, y)};
}

}  // namespace host
}  // namespace gemm64
