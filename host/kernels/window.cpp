// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/window.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// Beyond it, sizes are a mistake; below it, no sum of them overflows.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;

/// An attribute of one number for each of `count`, at least `least`.
Dims sizes(const NodeContext& node, const char* name, std::size_t count, std::int64_t otherwise,
           std::int64_t least) {
  Dims values = attribute(*node.node, name, Dims(count, otherwise));
  if (values.size() != count) {
    throw failure(node, fmt::format("{} has {}, and must have {}", name,
                                    counted(values.size(), "value"), count));
  }
  for (const std::int64_t value : values) {
    if (value < least || value > kMaxExtent) {
      throw failure(node, fmt::format("{} {} hold {}, which must be {} or more", name,
                                      dims_text(values), value, least));
    }
  }
  return values;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

bool SpatialWindow::is_whole_map(const Dims& dims) const {
  const auto is_none = [](const Dims& pads) {
    return std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad == 0; });
  };
  return std::equal(kernel.begin(), kernel.end(), dims.begin() + 2, dims.end()) && is_none(begin) &&
         is_none(end);
}

SpatialWindow make_window(const NodeContext& node, const Dims& dims, const Dims& kernel) {
  const std::size_t axes = kernel.size();
  SpatialWindow window;
  window.kernel = kernel;
  window.strides = sizes(node, "strides", axes, 1, 1);
  window.dilations = sizes(node, "dilations", axes, 1, 1);
  const Dims pads = sizes(node, "pads", 2 * axes, 0, 0);
  window.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  window.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  const std::string automatic = attribute(*node.node, "auto_pad", std::string("NOTSET"));
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (!same && automatic != "NOTSET" && automatic != "VALID") {
    throw failure(node, fmt::format("auto_pad is '{}'; there are NOTSET, VALID, SAME_UPPER and "
                                    "SAME_LOWER",
                                    printable(automatic)));
  }
  const bool ceil = attribute(*node.node, "ceil_mode", std::int64_t{0}) != 0;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t input = dims[axis + 2];
    const std::int64_t stride = window.strides[axis];
    if (kernel[axis] < 1 || kernel[axis] > kMaxExtent / window.dilations[axis]) {
      throw failure(node, fmt::format("a kernel of {}", dims_text(kernel)));
    }
    const std::int64_t reach = (kernel[axis] - 1) * window.dilations[axis] + 1;
    std::int64_t& begin = window.begin[axis];
    std::int64_t& end = window.end[axis];
    if (automatic != "NOTSET") begin = end = 0;
    if (same) {
      const std::int64_t output = ceil_div(input, stride);
      const std::int64_t all = std::max<std::int64_t>((output - 1) * stride + reach - input, 0);
      begin = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      end = all - begin;
      window.output.push_back(output);
      continue;
    }
    const std::int64_t room = input + begin + end - reach;
    if (room < 0) {
      throw failure(node, fmt::format("a kernel of {} with dilation {} does not fit {} values with "
                                      "padding {} and {}",
                                      kernel[axis], window.dilations[axis], input, begin, end));
    }
    std::int64_t output = (ceil ? ceil_div(room, stride) : room / stride) + 1;
    if (ceil && (output - 1) * stride >= input + begin) --output;
    window.output.push_back(output);
  }
  return window;
}

Dims kernel_shape(const NodeContext& node, std::size_t axes) {
  Dims kernel = attribute(*node.node, "kernel_shape", Dims{});
  if (kernel.size() != axes) {
    throw failure(node,
                  fmt::format("kernel_shape has {}, but the input has {} spatial ax{}",
                              counted(kernel.size(), "value"), axes, axes == 1 ? "is" : "es"));
  }
  return kernel;
}

}  // namespace gemm64
