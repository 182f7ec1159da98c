// SPDX-License-Identifier: Apache-2.0
// Operators that hand on values under other sizes, without copying them, or make them from nothing:
// Identity, Flatten, Reshape, Squeeze, Unsqueeze, Shape, Size, Constant, ConstantOfShape,
// Range.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace host {
namespace {

std::int64_t product(Dims::const_iterator begin, Dims::const_iterator end) {
  return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
}

}  // namespace

Tensors identity(const NodeContext& node, const Tensors& inputs) {
  return {input(node, inputs, 0)};
}

Tensors flatten(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  std::int64_t axis = attribute(*node.node, "axis", std::int64_t{1});
  const auto rank = static_cast<std::int64_t>(x.rank());
  if (axis < -rank || axis > rank) {
    throw failure(node, fmt::format("axis {} of a tensor of {}", axis,
                                    counted(static_cast<std::uint64_t>(rank), "dimension")));
  }
  if (axis < 0) axis += rank;
  const auto middle = x.dims().begin() + axis;
  return {x.reshaped({product(x.dims().begin(), middle), product(middle, x.dims().end())})};
}

Tensors reshape(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  Dims dims = integers(node, input(node, inputs, 1));
  const auto fails = [&](const char* why) {
    return failure(
        node, fmt::format("{} cannot take the shape {}: {}", describe(x), dims_text(dims), why));
  };
  const bool zero_is_zero = attribute(*node.node, "allowzero", std::int64_t{0}) != 0;
  std::optional<std::size_t> open;
  std::int64_t elements = 1;
  Dims result = dims;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < -1) throw fails("a size is negative");
    if (dims[axis] == -1) {
      if (open) throw fails("two sizes are left open");
      open = axis;
      continue;
    }
    if (dims[axis] == 0 && !zero_is_zero) {
      if (axis >= x.rank()) throw fails("there is no such dimension to keep");
      result[axis] = x.dim(axis);
    }
    const std::optional<std::int64_t> all = checked_product(elements, result[axis]);
    if (!all) throw fails("the number of values differs");
    elements = *all;
  }
  if (open) {
    if (elements == 0 || x.elements() % elements != 0)
      throw fails("the number of values does not divide evenly");
    result[*open] = x.elements() / elements;
    elements = x.elements();
  }
  if (elements != x.elements()) throw fails("the number of values differs");
  return {x.reshaped(result)};
}

namespace {

constexpr std::int64_t kAxesAreInput = 13;

}  // namespace

Tensors squeeze(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims axes = axes_of(node, inputs, kAxesAreInput);
  std::vector<bool> left_out(x.rank(), false);
  for (std::size_t axis = 0; axes.empty() && axis < x.rank(); ++axis) {
    left_out[axis] = x.dim(axis) == 1;
  }
  for (const std::int64_t axis : axes) {
    const std::size_t at = checked_axis(node, axis, x.rank());
    if (x.dim(at) != 1) {
      throw failure(node, fmt::format("axis {} of {} is not of size 1", axis, describe(x)));
    }
    left_out[at] = true;
  }
  Dims dims;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    if (!left_out[axis]) dims.push_back(x.dim(axis));
  }
  return {x.reshaped(dims)};
}

Tensors unsqueeze(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims axes = axes_of(node, inputs, kAxesAreInput);
  const std::size_t rank = x.rank() + axes.size();
  std::vector<bool> added(rank, false);
  for (const std::int64_t axis : axes) {
    const std::size_t at = checked_axis(node, axis, rank);
    if (added[at]) throw failure(node, fmt::format("axis {} is added twice", axis));
    added[at] = true;
  }
  Dims dims;
  auto next = x.dims().begin();
  for (std::size_t axis = 0; axis < rank; ++axis) dims.push_back(added[axis] ? 1 : *next++);
  return {x.reshaped(dims)};
}

Tensors shape(const NodeContext& node, const Tensors& inputs) {
  const Dims& dims = input(node, inputs, 0).dims();
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto position = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t at = attribute(*node.node, name, otherwise);
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = position("start", 0);
  const std::int64_t end = std::max(position("end", rank), begin);
  const Dims part(dims.begin() + begin, dims.begin() + end);
  return {Tensor::of<std::int64_t>({end - begin}, part)};
}

namespace {

template <class T, class Values>
Tensor list(const Values& values) {
  const std::vector<T> numbers(values.begin(), values.end());
  return Tensor::of<T>({static_cast<std::int64_t>(numbers.size())}, numbers);
}

}  // namespace

Tensors constant(const NodeContext& node, const Tensors& /*inputs*/) {
  if (const auto* value = find_attribute(node, "value")) return {Tensor::from_proto(value->t())};
  if (const auto* value = find_attribute(node, "value_float")) {
    return {Tensor::of<float>({}, {value->f()})};
  }
  if (const auto* value = find_attribute(node, "value_int")) {
    return {Tensor::of<std::int64_t>({}, {value->i()})};
  }
  if (const auto* value = find_attribute(node, "value_floats"))
    return {list<float>(value->floats())};
  if (const auto* value = find_attribute(node, "value_ints")) {
    return {list<std::int64_t>(value->ints())};
  }
  throw failure(node,
                "its value is neither a tensor nor numbers (strings and sparse tensors are not "
                "supported)");
}

Tensors constant_of_shape(const NodeContext& node, const Tensors& inputs) {
  const Dims dims = integers(node, input(node, inputs, 0));
  const auto* attribute = find_attribute(node, "value");
  const Tensor value =
      attribute == nullptr ? Tensor::of<float>({}, {0.0F}) : Tensor::from_proto(attribute->t());
  if (value.elements() != 1) {
    throw failure(node, fmt::format("its value is {}, one element is needed", describe(value)));
  }
  Tensor result(value.type(), dims);
  for (std::size_t i = 0; i < result.bytes(); i += value.element_size()) {
    std::memcpy(result.mutable_raw() + i, value.raw(), value.element_size());
  }
  return {result};
}

Tensors size(const NodeContext& node, const Tensors& inputs) {
  return {Tensor::of<std::int64_t>({}, {input(node, inputs, 0).elements()})};
}

Tensors range(const NodeContext& node, const Tensors& inputs) {
  const Tensor& start = input(node, inputs, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    require_same_type(node, start, input(node, inputs, i));
    if (inputs[i].elements() != 1) {
      throw failure(node,
                    fmt::format("its inputs are single numbers, one is {}", describe(inputs[i])));
    }
  }
  return {visit_types<float, double, std::int16_t, std::int32_t, std::int64_t>(
      node, start.type(), [&](auto zero) {
        using T = decltype(zero);
        const auto value = [&](std::size_t i) { return *inputs[i].values<T>(); };
        const double span = static_cast<double>(value(1)) - static_cast<double>(value(0));
        const double count = std::ceil(span / static_cast<double>(value(2)));
        if (value(2) == 0 || !(std::abs(count) < 0x1p34))
          throw failure(node, "its range never ends");
        Tensor result(start.type(), {std::max<std::int64_t>(static_cast<std::int64_t>(count), 0)});
        for (std::int64_t i = 0; i < result.elements(); ++i) {
          result.mutable_values<T>()[i] = static_cast<T>(value(0) + static_cast<T>(i) * value(2));
        }
        return result;
      })};
}

}  // namespace host

}  // namespace gemm64
