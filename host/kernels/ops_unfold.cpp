// SPDX-License-Identifier: Apache-2.0
// Values put back where they came from, or cut around the middle: Col2Im, MaxUnpool, CenterCropPad.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace host {
namespace {

std::int64_t product(const Dims& dims) {
  std::int64_t result = 1;
  for (const std::int64_t dim : dims) result *= dim;
  return result;
}

/// An attribute with a value for each axis, or each end of an axis.
Dims by_axis(const NodeContext& node, const char* name, std::size_t count, std::int64_t otherwise) {
  Dims values = attribute(*node.node, name, Dims{});
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) {
    throw failure(node, fmt::format("{} has {}, and must have {}", name,
                                    counted(values.size(), "value"), count));
  }
  return values;
}

bool all_between(const Dims& values, std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // so that no sum overflows
  return std::all_of(values.begin(), values.end(),
                     [&](std::int64_t value) { return value >= least && value <= kMost; });
}

}  // namespace

Tensors col2im(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims image = integers(node, input(node, inputs, 1));
  const Dims block = integers(node, input(node, inputs, 2));
  const std::size_t axes = image.size();
  const Dims dilations = by_axis(node, "dilations", axes, 1);
  const Dims strides = by_axis(node, "strides", axes, 1);
  const Dims pads = by_axis(node, "pads", 2 * axes, 0);
  if (x.rank() != 3 || axes == 0 || block.size() != axes || !all_between(image, 1) ||
      !all_between(block, 1) || !all_between(dilations, 1) || !all_between(strides, 1) ||
      !all_between(pads, 0)) {
    throw failure(node, fmt::format("blocks of {} in {} do not make an image of {}",
                                    dims_text(block), describe(x), dims_text(image)));
  }
  const Tensor window(onnx::TensorProto::BOOL, block);  // refuses sizes beyond all memory
  const std::int64_t taps = window.elements();
  Dims counts;  // of blocks along each axis
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t room =
        image[i] + pads[i] + pads[axes + i] - dilations[i] * (block[i] - 1) - 1;
    counts.push_back(room < 0 ? 0 : room / strides[i] + 1);
  }
  if (x.dim(1) % taps != 0 || x.dim(2) != product(counts)) {
    throw failure(node, fmt::format("{} does not hold {} blocks of {}", describe(x),
                                    dims_text(counts), dims_text(block)));
  }
  const std::int64_t channels = x.dim(1) / taps;
  Dims dims{x.dim(0), channels};
  dims.insert(dims.end(), image.begin(), image.end());
  const Dims steps = row_major_strides(image);
  const Dims block_steps = row_major_strides(block), count_steps = row_major_strides(counts);
  return {visit_numbers(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor y(x.type(), dims);
    T* const to = y.template mutable_values<T>();
    std::fill_n(to, y.elements(), T{0});
    const T* from = x.template values<T>();
    for (std::int64_t plane = 0; plane < x.dim(0) * channels; ++plane) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        for (std::int64_t at = 0; at < x.dim(2); ++at, ++from) {
          std::int64_t place = 0;
          bool inside = true;
          for (std::size_t i = 0; i < axes && inside; ++i) {
            const std::int64_t coordinate = at / count_steps[i] % counts[i] * strides[i] - pads[i] +
                                            tap / block_steps[i] % block[i] * dilations[i];
            inside = coordinate >= 0 && coordinate < image[i];
            place += coordinate * steps[i];
          }
          T& value = to[plane * product(image) + (inside ? place : 0)];
          if (inside) value = static_cast<T>(value + *from);
        }
      }
    }
    return y;
  })};
}

Tensors max_unpool(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& indices = input(node, inputs, 1);
  const Dims kernel = attribute(*node.node, "kernel_shape", Dims{});
  const std::size_t axes = kernel.size();
  if (x.rank() != axes + 2 || indices.dims() != x.dims() ||
      indices.type() != onnx::TensorProto::INT64) {
    throw failure(node, fmt::format("{} with places of {}", describe(x), describe(indices)));
  }
  const Dims strides = by_axis(node, "strides", axes, 1), pads = by_axis(node, "pads", 2 * axes, 0);
  if (!all_between(kernel, 1) || !all_between(strides, 1) || !all_between(pads, 0)) {
    throw failure(node, "its kernel, strides or pads are no sizes");
  }
  Dims dims{x.dim(0), x.dim(1)};
  for (std::size_t i = 0; i < axes; ++i) {
    dims.push_back((x.dim(i + 2) - 1) * strides[i] - pads[i] - pads[axes + i] + kernel[i]);
  }
  const Tensor& given = optional_input(inputs, 2);
  const Dims wanted = given.present() ? integers(node, given) : dims;
  if (wanted.size() != dims.size()) {
    throw failure(node, fmt::format("an output of {} for {}", dims_text(wanted), describe(x)));
  }
  Tensor y(x.type(), dims);  // refuses what is no size
  std::memset(y.mutable_raw(), 0, y.bytes());
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t to = indices.values<std::int64_t>()[i];
    if (to < 0 || to >= y.elements()) {
      throw failure(node, fmt::format("place {} is not in {}", to, describe(y)));
    }
    const auto size = static_cast<std::int64_t>(x.element_size());
    std::memcpy(y.mutable_raw() + to * size, x.raw() + i * size, x.element_size());
  }
  if (wanted == dims) return {y};
  std::vector<Selected> taken(dims.size());
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const Tensor line(onnx::TensorProto::BOOL, {wanted[axis]});  // refuses what is no size
    taken[axis].emplace();
    for (std::int64_t i = 0; i < wanted[axis]; ++i) {
      taken[axis]->push_back(i < dims[axis] ? i : -1);
    }
  }
  const std::vector<std::byte> zero(x.element_size());
  return {select(y, taken, zero.data())};
}

Tensors center_crop_pad(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims sizes = integers(node, input(node, inputs, 1));
  Dims axes = attribute(*node.node, "axes", Dims{});
  if (axes.empty()) {
    for (std::size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.size() != sizes.size()) {
    throw failure(node, fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  }
  std::vector<Selected> taken(x.rank());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = checked_axis(node, axes[i], x.rank());
    const Tensor line(onnx::TensorProto::BOOL, {sizes[i]});  // refuses what is no size
    const std::int64_t size = x.dim(axis);
    // Of an odd rest the larger half is at the end.
    const std::int64_t first = sizes[i] < size ? (size - sizes[i]) / 2 : -((sizes[i] - size) / 2);
    taken[axis].emplace();
    for (std::int64_t at = first; at < first + sizes[i]; ++at) {
      taken[axis]->push_back(at >= 0 && at < size ? at : -1);
    }
  }
  const std::vector<std::byte> zero(x.element_size());
  return {select(x, taken, zero.data())};
}

}  // namespace host
}  // namespace gemm64
