// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "host/graph/onnx/shape_rules.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace shapes {

using onnx::TensorProto;

namespace {

// Sizes of windows, steps and padding; products of two of them still fit 64 bits.
constexpr std::int64_t kMaxWindow = std::int64_t{1} << 30;

/// The attributes that Conv and pooling share, each with a value for each spatial dimension.
struct Window {
  Dims kernel, strides, dilations, pads;  // pads: all begins, then all ends
  std::string auto_pad;
  bool ceil = false;
};

Dims sized_list(const RuleNode& node, const char* name, std::size_t size, std::int64_t otherwise,
                std::int64_t least) {
  const Dims values = node.list(name, Dims(size, otherwise));
  node.require(values.size() == size, fmt::format("{} has {}, and must have {}", name,
                                                  counted(values.size(), "value"), size));
  for (const std::int64_t value : values) {
    node.require(
        value >= least && value <= kMaxWindow,
        fmt::format("{} holds {}; it must be from {} to {}", name, value, least, kMaxWindow));
  }
  return values;
}

/// `kernel`: the one that the weights give; empty where the attribute must.
Window window_of(const RuleNode& node, std::size_t spatial, const Dims& kernel) {
  Window window;
  window.kernel = kernel;
  if (kernel.empty() || node.has_attribute("kernel_shape")) {
    window.kernel = sized_list(node, "kernel_shape", spatial, 0, 1);
    node.require(kernel.empty() || window.kernel == kernel,
                 fmt::format("kernel_shape is {}, the weights are {}", dims_text(window.kernel),
                             dims_text(kernel)));
  }
  for (const std::int64_t size : window.kernel) {
    node.require(size >= 1 && size <= kMaxWindow,
                 fmt::format("the kernel is {}", dims_text(window.kernel)));
  }
  window.strides = sized_list(node, "strides", spatial, 1, 1);
  window.dilations = sized_list(node, "dilations", spatial, 1, 1);
  window.pads = sized_list(node, "pads", 2 * spatial, 0, 0);
  window.auto_pad = node.text("auto_pad", "NOTSET");
  const bool known = window.auto_pad == "NOTSET" || window.auto_pad == "VALID" ||
                     window.auto_pad == "SAME_UPPER" || window.auto_pad == "SAME_LOWER";
  node.require(known, fmt::format("auto_pad is '{}'", printable(window.auto_pad)));
  window.ceil = node.integer("ceil_mode", 0) != 0;
  return window;
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// Positions of the window along spatial dimension `i` of `size` values.
std::int64_t positions(const RuleNode& node, const Window& window, std::size_t i,
                       std::int64_t size) {
  const std::int64_t stride = window.strides[i];
  if (window.auto_pad.rfind("SAME", 0) == 0) return divide_up(size, stride);
  const bool padded = window.auto_pad == "NOTSET";
  const std::int64_t before = padded ? window.pads[i] : 0;
  const std::int64_t after = padded ? window.pads[window.kernel.size() + i] : 0;
  const std::int64_t reach = window.dilations[i] * (window.kernel[i] - 1) + 1;
  const std::int64_t room = size + before + after - reach;
  node.require(room >= 0, fmt::format("its window spans {} values of dimension {}, which has {} "
                                      "with padding",
                                      reach, i + 2, size + before + after));
  if (!window.ceil) return room / stride + 1;
  const std::int64_t count = divide_up(room, stride) + 1;
  // A window that begins beyond the input and its first padding sees nothing.
  return (count - 1) * stride >= size + before ? count - 1 : count;
}

Dims spatial_of(const RuleNode& node, const Dims& x) {
  node.require(x.size() >= 3, fmt::format("its input is {}; it must have a batch, channels and at "
                                          "least one dimension more",
                                          dims_text(x)));
  return {x.begin() + 2, x.end()};
}

/// Shape of the convolution of input 0 with the weights at input `w`.
Dims convolution(const RuleNode& node, int w) {
  const Dims& x = node.dims(0);
  const Dims& weights = node.dims(w);
  const Dims spatial = spatial_of(node, x);
  const std::int64_t group = node.integer("group", 1);
  node.require(weights.size() == x.size(), fmt::format("its input is {} and its weights are {}",
                                                       dims_text(x), dims_text(weights)));
  node.require(
      group >= 1 && x[1] % group == 0 && weights[1] == x[1] / group && weights[0] % group == 0,
      fmt::format("weights of {} in {} groups do not fit an input of {}", dims_text(weights), group,
                  dims_text(x)));
  const Window window = window_of(node, spatial.size(), {weights.begin() + 2, weights.end()});
  Dims result{x[0], weights[0]};
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    result.push_back(positions(node, window, i, spatial[i]));
  }
  return result;
}

void check_bias(const RuleNode& node, int i, std::int64_t channels) {
  if (!node.has(i)) return;
  node.require(node.dims(i) == Dims{channels},
               fmt::format("its bias is {}, and must have {}", dims_text(node.dims(i)),
                           counted(static_cast<std::uint64_t>(channels), "value")));
}

}  // namespace

void conv(RuleNode& node) {
  const Dims result = convolution(node, 1);
  check_bias(node, 2, result[1]);
  node.set(0, node.input(0).data_type, result);
}

void conv_integer(RuleNode& node) { node.set(0, TensorProto::INT32, convolution(node, 1)); }

void qlinear_conv(RuleNode& node) { node.set(0, node.input(7).data_type, convolution(node, 3)); }

void conv_transpose(RuleNode& node) {
  const Dims& x = node.dims(0);
  const Dims& weights = node.dims(1);
  const Dims spatial = spatial_of(node, x);
  const std::int64_t group = node.integer("group", 1);
  node.require(weights.size() == x.size() && weights[0] == x[1] && group >= 1 &&
                   group <= kMaxWindow && x[1] % group == 0 && weights[1] <= kMaxWindow,
               fmt::format("weights of {} in {} groups do not fit an input of {}",
                           dims_text(weights), group, dims_text(x)));
  const Window window = window_of(node, spatial.size(), {weights.begin() + 2, weights.end()});
  const Dims extra = sized_list(node, "output_padding", spatial.size(), 0, 0);
  Dims result{x[0], weights[1] * group};
  if (node.has_attribute("output_shape")) {
    const Dims given = sized_list(node, "output_shape", spatial.size(), 0, 1);
    result.insert(result.end(), given.begin(), given.end());
  } else {
    for (std::size_t i = 0; i < spatial.size(); ++i) {
      node.require(spatial[i] <= kMaxWindow, "its input is too large");
      std::int64_t size = spatial[i] * window.strides[i];
      if (window.auto_pad.rfind("SAME", 0) != 0) {
        const bool padded = window.auto_pad == "NOTSET";
        size += extra[i] + window.dilations[i] * (window.kernel[i] - 1) + 1 - window.strides[i];
        if (padded) size -= window.pads[i] + window.pads[spatial.size() + i];
      }
      node.require(size >= 1,
                   fmt::format("its padding leaves {} values of dimension {}", size, i + 2));
      result.push_back(size);
    }
  }
  check_bias(node, 2, result[1]);
  node.set(0, node.input(0).data_type, result);
}

void pool(RuleNode& node) {
  const Dims& x = node.dims(0);
  const int type = node.input(0).data_type;
  node.require(node.integer("channels_last", 0) == 0, "channels_last is not supported");
  const Dims spatial = spatial_of(node, x);
  const Window window = window_of(node, spatial.size(), {});
  Dims result{x[0], x[1]};
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    result.push_back(positions(node, window, i, spatial[i]));
  }
  node.set(0, type, result);
  node.set(1, TensorProto::INT64, result);  // MaxPool's indices
}

void global_pool(RuleNode& node) {
  node.require(node.integer("channels_last", 0) == 0, "channels_last is not supported");
  Dims result = node.dims(0);
  spatial_of(node, result);
  std::fill(result.begin() + 2, result.end(), 1);
  node.set(0, node.input(0).data_type, result);
}

/// A value of the map for each place of the grid.
void grid_sample(RuleNode& node) {
  const Dims& x = node.dims(0);
  const Dims& grid = node.dims(1);
  node.require(x.size() >= 3 && grid.size() == x.size(),
               fmt::format("its grid is {} for {}", dims_text(grid), dims_text(x)));
  Dims result{x[0], x[1]};
  result.insert(result.end(), grid.begin() + 1, grid.end() - 1);
  node.set(0, node.input(0).data_type, result);
}

void affine_grid(RuleNode& node) {
  const Dims& size = node.needed_integers(1);
  node.require(size.size() == 4 || size.size() == 5,
               fmt::format("a grid for a map of {}", dims_text(size)));
  Dims result(size.begin() + 2, size.end());
  result.insert(result.begin(), size[0]);
  result.push_back(static_cast<std::int64_t>(size.size()) - 2);
  node.set(0, node.input(0).data_type, result);
}

void roi_align(RuleNode& node) {
  const Dims& x = node.dims(0);
  const Dims& regions = node.dims(1);
  node.require(x.size() == 4 && regions.size() == 2,
               fmt::format("regions {} of {}", dims_text(regions), dims_text(x)));
  node.set(0, node.input(0).data_type,
           {regions[0], x[1], node.integer("output_height", 1), node.integer("output_width", 1)});
}

void col2im(RuleNode& node) {
  const Dims& x = node.dims(0);
  const Dims& image = node.needed_integers(1);
  std::int64_t taps = 1;
  for (const std::int64_t size : node.needed_integers(2)) {
    node.require(size >= 1 && size <= kMaxWindow && taps <= kMaxWindow, "its blocks are no sizes");
    taps *= size;
  }
  node.require(x.size() == 3, fmt::format("blocks in {}", dims_text(x)));
  Dims result{x[0], x[1] / taps};
  result.insert(result.end(), image.begin(), image.end());
  node.set(0, node.input(0).data_type, result);
}

void max_unpool(RuleNode& node) {
  const Dims& x = node.dims(0);
  if (node.has(2)) {
    node.set(0, node.input(0).data_type, node.needed_integers(2));
    return;
  }
  const Dims spatial = spatial_of(node, x);
  const Dims kernel = sized_list(node, "kernel_shape", spatial.size(), 1, 1);
  const Dims strides = sized_list(node, "strides", spatial.size(), 1, 1);
  const Dims pads = sized_list(node, "pads", 2 * spatial.size(), 0, 0);
  Dims result{x[0], x[1]};
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    result.push_back((spatial[i] - 1) * strides[i] - pads[i] - pads[spatial.size() + i] +
                     kernel[i]);
  }
  node.set(0, node.input(0).data_type, result);
}

void dft(RuleNode& node) {
  Dims result = node.dims(0);
  const bool attribute = node.opset() < 20;
  const Dims axis = attribute || !node.has(2) ? Dims{node.integer("axis", attribute ? 1 : -2)}
                                              : node.needed_integers(2);
  node.require(axis.size() == 1 && result.size() >= 2, "it has not one axis");
  const std::size_t along = node.axis(axis[0], result.size());
  const bool inverse = node.integer("inverse", 0) != 0, onesided = node.integer("onesided", 0) != 0;
  std::int64_t length = inverse && onesided ? 2 * (result[along] - 1) : result[along];
  if (node.has(1)) {
    const Dims& given = node.needed_integers(1);
    node.require(given.size() == 1, "its length is no number");
    length = given[0];
  }
  node.require(length >= 1, fmt::format("its length is {}", length));
  result[along] = onesided && !inverse ? length / 2 + 1 : length;
  result.back() = onesided && inverse ? 1 : 2;
  node.set(0, node.input(0).data_type, result);
}

}  // namespace shapes
}  // namespace gemm64
