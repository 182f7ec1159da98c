// SPDX-License-Identifier: Apache-2.0
// Operators that move values and compute nothing: Transpose, Concat, Split, Slice, Pad, Gather,
// Expand, Tile, DepthToSpace, SpaceToDepth.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

Dims counting(std::int64_t first, std::int64_t count, std::int64_t step = 1) {
  Dims indices(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    indices[static_cast<std::size_t>(i)] = first + i * step;
  }
  return indices;
}

}  // namespace

Tensors transpose(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  Dims otherwise = counting(0, static_cast<std::int64_t>(x.rank()));
  std::reverse(otherwise.begin(), otherwise.end());
  const Dims order = attribute(*node.node, "perm", otherwise);
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != counting(0, static_cast<std::int64_t>(x.rank()))) {
    throw failure(node, fmt::format("perm {} is not a permutation of the axes of {}",
                                    dims_text(order), describe(x)));
  }
  const Dims from = row_major_strides(x.dims());
  Dims dims, strides;
  for (const std::int64_t axis : order) {
    dims.push_back(x.dim(static_cast<std::size_t>(axis)));
    strides.push_back(from[static_cast<std::size_t>(axis)]);
  }
  Tensor result(x.type(), dims);
  copy_strided(result.mutable_raw(), x.raw(), dims, strides, x.element_size());
  return {result};
}

Tensors concat(const NodeContext& node, const Tensors& inputs) {
  const Tensor& first = input(node, inputs, 0);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{1}), first.rank());
  Dims dims = first.dims();
  dims[axis] = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& part = input(node, inputs, i);
    Dims others = part.dims();
    if (part.rank() == first.rank()) others[axis] = first.dim(axis);
    if (part.type() != first.type() || others != first.dims()) {
      throw failure(node, fmt::format("its inputs {} and {} cannot be concatenated along axis {}",
                                      describe(first), describe(part), axis));
    }
    dims[axis] += part.dim(axis);
  }
  Tensor result(first.type(), dims);
  if (result.elements() == 0) return {result};
  const auto middle = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const std::int64_t outer =
      std::accumulate(dims.begin(), middle, std::int64_t{1}, std::multiplies<>());
  const std::size_t row = result.bytes() / static_cast<std::size_t>(outer);
  std::size_t done = 0;
  for (const Tensor& part : inputs) {
    const std::size_t bytes = part.bytes() / static_cast<std::size_t>(outer);
    for (std::int64_t i = 0; bytes > 0 && i < outer; ++i) {
      std::memcpy(result.mutable_raw() + static_cast<std::size_t>(i) * row + done,
                  part.raw() + static_cast<std::size_t>(i) * bytes, bytes);
    }
    done += bytes;
  }
  return {result};
}

namespace {

/// How much of the axis each output takes: as the node says (an attribute before opset 13), else
/// equal parts.
Dims split_sizes(const NodeContext& node, const Tensors& inputs, std::int64_t whole) {
  const std::int64_t parts = node.node->output_size();
  const Tensor& given = optional_input(inputs, 1);
  Dims sizes = node.opset < 13 ? attribute(*node.node, "split", Dims{}) : Dims{};
  if (node.opset >= 13 && given.present()) sizes = integers(node, given);
  if (sizes.empty()) {
    // Since opset 18 the last part may be smaller.
    const std::int64_t part = (whole + parts - 1) / parts;
    const std::int64_t last = whole - part * (parts - 1);
    if (node.opset < 18 ? last != part : last < 0) {
      throw failure(node,
                    fmt::format("{} values cannot be split into {} equal parts", whole, parts));
    }
    sizes.assign(static_cast<std::size_t>(parts), part);
    sizes.back() = last;
  }
  bool fits = static_cast<std::int64_t>(sizes.size()) == parts;
  std::int64_t rest = whole;
  for (const std::int64_t size : sizes) {
    fits = fits && size >= 0 && size <= rest;
    if (fits) rest -= size;
  }
  if (!fits || rest != 0) {
    throw failure(node, fmt::format("{} does not split {} values into {} parts", dims_text(sizes),
                                    whole, parts));
  }
  return sizes;
}

}  // namespace

Tensors split(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{0}), x.rank());
  Tensors results;
  std::int64_t begin = 0;
  for (const std::int64_t size : split_sizes(node, inputs, x.dim(axis))) {
    std::vector<Selected> indices(x.rank());
    indices[axis] = counting(begin, size);
    results.push_back(select(x, indices));
    begin += size;
  }
  return results;
}

namespace {

/// The indices that start, end and step take of an axis, as Python's slices do, but for a start
/// before the first value: backwards, ONNX begins at the first value, where Python finds nothing.
Dims slice_indices(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto clamped = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
    if (at < 0) at = at < -size ? -1 : at + size;
    return std::clamp(at, least, most);
  };
  if (size == 0) return {};
  const std::int64_t first = clamped(start, 0, step > 0 ? size : size - 1);
  const std::int64_t last = step > 0 ? clamped(end, 0, size) : clamped(end, -1, size - 1);
  const std::int64_t distance = step > 0 ? last - first : first - last;
  if (distance <= 0) return {};
  const std::int64_t stride = std::clamp<std::int64_t>(step, -size - 1, size + 1);
  const std::int64_t length = step > 0 ? stride : -stride;
  return counting(first, (distance + length - 1) / length, stride);
}

}  // namespace

Tensors slice(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  Dims starts, ends, axes, steps;
  if (node.opset < 10) {
    starts = attribute(*node.node, "starts", Dims{});
    ends = attribute(*node.node, "ends", Dims{});
    axes = attribute(*node.node, "axes", Dims{});
  } else {
    starts = integers(node, input(node, inputs, 1));
    ends = integers(node, input(node, inputs, 2));
    if (optional_input(inputs, 3).present()) axes = integers(node, inputs[3]);
    if (optional_input(inputs, 4).present()) steps = integers(node, inputs[4]);
  }
  if (axes.empty()) axes = counting(0, static_cast<std::int64_t>(starts.size()));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    throw failure(node, fmt::format("{} starts, {} ends, {} axes and {} steps", starts.size(),
                                    ends.size(), axes.size(), steps.size()));
  }
  std::vector<Selected> indices(x.rank());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] == 0) throw failure(node, "a step is 0");
    const std::size_t axis = checked_axis(node, axes[i], x.rank());
    indices[axis] = slice_indices(x.dim(axis), starts[i], ends[i], steps[i]);
  }
  return {select(x, indices)};
}

namespace {

/// For each position of a padded axis the one that it is filled from; -1: the constant.
Dims padded_indices(const NodeContext& node, const std::string& mode, std::int64_t size,
                    std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  const auto sane = [](std::int64_t pad) { return pad >= -kMax && pad <= kMax; };
  if (!sane(begin) || !sane(end) || size + begin + end < 0) {
    throw failure(node,
                  fmt::format("an axis of {} cannot be padded by {} and {}", size, begin, end));
  }
  if (mode != "constant" && size == 0 && begin + end > 0) {
    throw failure(node, fmt::format("mode {} has nothing to fill an empty axis with", mode));
  }
  Dims indices = counting(-begin, size + begin + end);
  for (std::int64_t& index : indices) {
    if (index >= 0 && index < size) continue;
    if (mode == "constant") {
      index = -1;
    } else if (mode == "edge") {
      index = std::clamp<std::int64_t>(index, 0, size - 1);
    } else if (mode == "wrap") {
      index = ((index % size) + size) % size;
    } else {
      // Mirrored at both ends, the ends themselves not repeated, as often as needed.
      const std::int64_t period = std::max<std::int64_t>(2 * (size - 1), 1);
      index = ((index % period) + period) % period;
      if (index >= size) index = period - index;
    }
  }
  return indices;
}

}  // namespace

Tensors pad(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const std::string mode = attribute(*node.node, "mode", std::string("constant"));
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    throw failure(node, fmt::format("mode '{}' is unknown; use constant, reflect, edge or wrap",
                                    printable(mode)));
  }
  const bool is_attribute = node.opset < 11;
  const Dims pads =
      is_attribute ? attribute(*node.node, "pads", Dims{}) : integers(node, input(node, inputs, 1));
  Dims axes = counting(0, static_cast<std::int64_t>(x.rank()));
  if (optional_input(inputs, 3).present()) axes = integers(node, inputs[3]);
  if (pads.size() != 2 * axes.size()) {
    throw failure(node, fmt::format("{} pads for {} axes of {}; two for each are needed",
                                    pads.size(), axes.size(), describe(x)));
  }
  Tensor zero(x.type(), {});  // all bits 0 is zero in every type
  std::memset(zero.mutable_raw(), 0, zero.bytes());
  Tensor value = zero;
  if (is_attribute) {
    const float given = attribute(*node.node, "value", 0.0F);
    if (x.type() == onnx::TensorProto::FLOAT) value = Tensor::of<float>({}, {given});
    if (x.type() == onnx::TensorProto::DOUBLE) {
      value = Tensor::of<double>({}, {static_cast<double>(given)});
    }
  } else if (optional_input(inputs, 2).present()) {
    value = inputs[2];
    require_same_type(node, x, value);
    if (value.elements() != 1) {
      throw failure(node, fmt::format("its value is {}; a scalar is needed", describe(value)));
    }
  }
  std::vector<Selected> indices(x.rank());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = checked_axis(node, axes[i], x.rank());
    const std::int64_t begin = pads[i];
    const std::int64_t end = pads[i + axes.size()];
    if (begin == 0 && end == 0) continue;
    indices[axis] = padded_indices(node, mode, x.dim(axis), begin, end);
  }
  return {select(x, indices, value.raw())};
}

Tensors gather(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& indices = input(node, inputs, 1);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{0}), x.rank());
  Dims taken = integers(node, indices.reshaped({indices.elements()}));
  for (std::int64_t& index : taken) {
    if (index < -x.dim(axis) || index >= x.dim(axis)) {
      throw failure(node, fmt::format("index {} of axis {} of {}", index, axis, describe(x)));
    }
    if (index < 0) index += x.dim(axis);
  }
  std::vector<Selected> selected(x.rank());
  selected[axis] = taken;
  Dims dims = x.dims();
  const auto at = dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(at, indices.dims().begin(), indices.dims().end());
  return {select(x, selected).reshaped(dims)};
}

Tensors expand(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims asked = integers(node, input(node, inputs, 1));
  Dims dims;
  const bool fits = std::all_of(asked.begin(), asked.end(), [](auto dim) { return dim >= 0; }) &&
                    broadcast_dims(x.dims(), asked, dims);
  if (!fits) {
    throw failure(node, fmt::format("{} does not broadcast to {}", describe(x), dims_text(asked)));
  }
  Tensor result(x.type(), dims);
  copy_strided(result.mutable_raw(), x.raw(), dims, broadcast_strides(x.dims(), dims),
               x.element_size());
  return {result};
}

Tensors tile(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims repeats = integers(node, input(node, inputs, 1));
  if (repeats.size() != x.rank()) {
    throw failure(node, fmt::format("{} repeats for {}", repeats.size(), describe(x)));
  }
  Dims dims = x.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const auto product = checked_product(dims[axis], repeats[axis]);
    if (!product) throw failure(node, fmt::format("{} repeats", repeats[axis]));
    dims[axis] = *product;
  }
  const Tensor room(x.type(), dims);  // refuses what is too large before its indices are listed
  std::vector<Selected> indices(x.rank());
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == x.dim(axis)) continue;
    indices[axis] = counting(0, dims[axis]);
    for (std::int64_t& index : *indices[axis]) index %= x.dim(axis);
  }
  return {select(x, indices)};
}

namespace {

/// Blocks of `block` x `block` values between channels and space.
std::int64_t checked_block(const NodeContext& node, const Tensor& x, bool from_depth) {
  const std::int64_t block = attribute(*node.node, "blocksize", std::int64_t{0});
  constexpr std::int64_t kMax = 4096;
  const bool fits = x.rank() == 4 && block >= 1 && block <= kMax &&
                    (from_depth ? x.dim(1) % (block * block) == 0
                                : x.dim(2) % block == 0 && x.dim(3) % block == 0);
  if (!fits) throw failure(node, fmt::format("blocks of {} do not fit {}", block, describe(x)));
  return block;
}

/// Do the blocks stand before the channels, or behind them?
bool blocks_first(const NodeContext& node) {
  const std::string mode = attribute(*node.node, "mode", std::string("DCR"));
  if (mode == "DCR" || mode == "CRD") return mode == "DCR";
  throw failure(node, fmt::format("mode '{}' is unknown; use DCR or CRD", printable(mode)));
}

/// `x` seen as `parts`, its axes put in `order`, and the result seen as `dims`.
Tensor rearranged(const Tensor& x, const Dims& parts, const std::vector<std::size_t>& order,
                  const Dims& dims) {
  const Dims from = row_major_strides(parts);
  Dims sizes, strides;
  for (const std::size_t axis : order) {
    sizes.push_back(parts[axis]);
    strides.push_back(from[axis]);
  }
  Tensor result(x.type(), dims);
  copy_strided(result.mutable_raw(), x.raw(), sizes, strides, x.element_size());
  return result;
}

}  // namespace

Tensors depth_to_space(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const std::int64_t block = checked_block(node, x, true);
  const std::string mode = attribute(*node.node, "mode", std::string("DCR"));
  if (mode != "DCR" && mode != "CRD") {
    throw failure(node, fmt::format("mode '{}' is unknown; use DCR or CRD", printable(mode)));
  }
  const std::int64_t depth = x.dim(1) / (block * block);
  const Dims dims{x.dim(0), depth, x.dim(2) * block, x.dim(3) * block};
  if (blocks_first(node)) {
    return {rearranged(x, {x.dim(0), block, block, depth, x.dim(2), x.dim(3)}, {0, 3, 4, 1, 5, 2},
                       dims)};
  }
  return {
      rearranged(x, {x.dim(0), depth, block, block, x.dim(2), x.dim(3)}, {0, 1, 4, 2, 5, 3}, dims)};
}

Tensors space_to_depth(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const std::int64_t block = checked_block(node, x, false);
  const std::int64_t rows = x.dim(2) / block;
  const std::int64_t columns = x.dim(3) / block;
  const std::vector<std::size_t> order = blocks_first(node)
                                             ? std::vector<std::size_t>{0, 3, 5, 1, 2, 4}
                                             : std::vector<std::size_t>{0, 1, 3, 5, 2, 4};
  return {rearranged(x, {x.dim(0), x.dim(1), rows, block, columns, block}, order,
                     {x.dim(0), x.dim(1) * block * block, rows, columns})};
}

}  // namespace host

}  // namespace gemm64
