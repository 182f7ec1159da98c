// SPDX-License-Identifier: Apache-2.0
// Operators that take or put values where indices say: GatherElements, GatherND, ScatterElements,
// Scatter, ScatterND, TensorScatter, Compress, NonZero, OneHot.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// Indices of any integer type, those counted from the end too, each within `size`.
Dims indices_within(const NodeContext& node, const Tensor& indices, std::int64_t size) {
  Dims result = integers(node, indices.reshaped({indices.elements()}));
  for (std::int64_t& index : result) {
    if (index < -size || index >= size) {
      throw failure(node, fmt::format("index {} of an axis of {}", index, size));
    }
    if (index < 0) index += size;
  }
  return result;
}

/// Calls function(i, place) for each element i of a row-major array of `dims`, where `place` is the
/// sum of its coordinates times `strides`, its coordinate along `axis` left out.
template <class Function>
void for_each_place(const Dims& dims, const Dims& strides, std::size_t axis, Function function) {
  const std::int64_t count =
      std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  Dims at(dims.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t place = 0;
    for (std::size_t a = 0; a < dims.size(); ++a) place += a == axis ? 0 : at[a] * strides[a];
    function(i, place);
    for (std::size_t a = dims.size(); a-- > 0 && ++at[a] == dims[a];) at[a] = 0;
  }
}

/// Indices must have the data's rank, and sizes that the data have, but along the axis.
void require_inside(const NodeContext& node, const Tensor& data, const Tensor& indices,
                    std::size_t axis) {
  bool fits = indices.rank() == data.rank();
  for (std::size_t a = 0; fits && a < data.rank(); ++a) {
    fits = a == axis || indices.dim(a) <= data.dim(a);
  }
  if (!fits) {
    throw failure(node, fmt::format("indices of {} do not fit {} along axis {}",
                                    dims_text(indices.dims()), describe(data), axis));
  }
}

void copy_element(Tensor& to, std::int64_t to_place, const Tensor& from, std::int64_t from_place,
                  std::int64_t count = 1) {
  const std::size_t size = from.element_size();
  std::memcpy(to.mutable_raw() + static_cast<std::size_t>(to_place) * size,
              from.raw() + static_cast<std::size_t>(from_place) * size,
              static_cast<std::size_t>(count) * size);
}

Tensor copy_of(const Tensor& tensor) {
  Tensor result(tensor.type(), tensor.dims());
  if (tensor.bytes() > 0) std::memcpy(result.mutable_raw(), tensor.raw(), tensor.bytes());
  return result;
}

/// What a scattered value does to the one that is there.
template <class T>
T joined(const NodeContext& node, const std::string& reduction, T old, T value) {
  if (reduction == "add") return static_cast<T>(old + value);
  if (reduction == "mul") return static_cast<T>(old * value);
  if (reduction == "max") return std::max(old, value);
  if (reduction == "min") return std::min(old, value);
  throw failure(node,
                fmt::format("reduction '{}' is none of none, add, mul, max and min", reduction));
}

/// result[to] = value[from], or the two joined.
void put(const NodeContext& node, const std::string& reduction, Tensor& result, std::int64_t to,
         const Tensor& values, std::int64_t from, std::int64_t count = 1) {
  if (reduction == "none") return copy_element(result, to, values, from, count);
  visit_numbers(node, result.type(), [&](auto zero) {
    using T = decltype(zero);
    T* const at = result.mutable_values<T>() + to;
    const T* const given = values.values<T>() + from;
    for (std::int64_t i = 0; i < count; ++i) at[i] = joined(node, reduction, at[i], given[i]);
    return true;
  });
}

}  // namespace

Tensors gather_elements(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& indices = input(node, inputs, 1);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{0}), x.rank());
  require_inside(node, x, indices, axis);
  const Dims taken = indices_within(node, indices, x.dim(axis));
  const Dims strides = row_major_strides(x.dims());
  Tensor result(x.type(), indices.dims());
  for_each_place(indices.dims(), strides, axis, [&](std::int64_t i, std::int64_t place) {
    copy_element(result, i, x, place + taken[static_cast<std::size_t>(i)] * strides[axis]);
  });
  return {result};
}

Tensors scatter_elements(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& indices = input(node, inputs, 1);
  const Tensor& updates = input(node, inputs, 2);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{0}), x.rank());
  require_inside(node, x, indices, axis);
  require_same_type(node, x, updates);
  if (updates.dims() != indices.dims()) {
    throw failure(node, fmt::format("indices of {} do not fit updates of {}",
                                    dims_text(indices.dims()), dims_text(updates.dims())));
  }
  const std::string reduction = attribute(*node.node, "reduction", std::string("none"));
  const Dims put_at = indices_within(node, indices, x.dim(axis));
  const Dims strides = row_major_strides(x.dims());
  Tensor result = copy_of(x);
  for_each_place(indices.dims(), strides, axis, [&](std::int64_t i, std::int64_t place) {
    put(node, reduction, result, place + put_at[static_cast<std::size_t>(i)] * strides[axis],
        updates, i);
  });
  return {result};
}

namespace {

/// Indices of slices: where in `x`, behind `batch` leading axes, each row of `indices` leads, and
/// how many elements lie there.
struct Slices {
  Dims places;
  std::int64_t length = 1;
  Dims dims;  // of one slice
};

Slices slices_of(const NodeContext& node, const Tensor& x, const Tensor& indices,
                 std::int64_t batch) {
  const auto rank = static_cast<std::int64_t>(x.rank());
  const std::int64_t depth = indices.rank() == 0 ? 0 : indices.dims().back();
  bool fits = indices.rank() > 0 && batch >= 0 && depth >= 1 && batch + depth <= rank &&
              batch < static_cast<std::int64_t>(indices.rank());
  for (std::int64_t a = 0; fits && a < batch; ++a) {
    fits = x.dim(static_cast<std::size_t>(a)) == indices.dim(static_cast<std::size_t>(a));
  }
  if (!fits) {
    throw failure(node, fmt::format("indices of {} with {} batch dimensions do not fit {}",
                                    dims_text(indices.dims()), batch, describe(x)));
  }
  Slices slices;
  slices.dims.assign(x.dims().begin() + batch + depth, x.dims().end());
  for (const std::int64_t dim : slices.dims) slices.length *= dim;
  const Dims strides = row_major_strides(x.dims());
  const Dims flat = integers(node, indices.reshaped({indices.elements()}));
  const std::int64_t rows = indices.elements() / depth;
  std::int64_t batches = 1, per_batch = 1;
  for (std::int64_t a = 0; a < batch; ++a) batches *= x.dim(static_cast<std::size_t>(a));
  for (std::int64_t a = batch; a < rank; ++a) per_batch *= x.dim(static_cast<std::size_t>(a));
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t place = batches == 0 ? 0 : row / (rows / batches) * per_batch;
    for (std::int64_t d = 0; d < depth; ++d) {
      const auto axis = static_cast<std::size_t>(batch + d);
      std::int64_t index = flat[static_cast<std::size_t>(row * depth + d)];
      if (index < -x.dim(axis) || index >= x.dim(axis)) {
        throw failure(node, fmt::format("index {} of axis {} of {}", index, axis, describe(x)));
      }
      if (index < 0) index += x.dim(axis);
      place += index * strides[axis];
    }
    slices.places.push_back(place);
  }
  return slices;
}

}  // namespace

Tensors gather_nd(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& indices = input(node, inputs, 1);
  const Slices slices =
      slices_of(node, x, indices, attribute(*node.node, "batch_dims", std::int64_t{0}));
  Dims dims(indices.dims().begin(), indices.dims().end() - 1);
  dims.insert(dims.end(), slices.dims.begin(), slices.dims.end());
  Tensor result(x.type(), dims);
  std::int64_t to = 0;
  for (const std::int64_t place : slices.places) {
    if (slices.length > 0) copy_element(result, to, x, place, slices.length);
    to += slices.length;
  }
  return {result};
}

Tensors scatter_nd(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& indices = input(node, inputs, 1);
  const Tensor& updates = input(node, inputs, 2);
  require_same_type(node, x, updates);
  const Slices slices = slices_of(node, x, indices, 0);
  Dims wanted(indices.dims().begin(), indices.dims().end() - 1);
  wanted.insert(wanted.end(), slices.dims.begin(), slices.dims.end());
  if (updates.dims() != wanted) {
    throw failure(node, fmt::format("updates of {} where {} are needed", dims_text(updates.dims()),
                                    dims_text(wanted)));
  }
  const std::string reduction = attribute(*node.node, "reduction", std::string("none"));
  Tensor result = copy_of(x);
  std::int64_t from = 0;
  for (const std::int64_t place : slices.places) {
    if (slices.length > 0) put(node, reduction, result, place, updates, from, slices.length);
    from += slices.length;
  }
  return {result};
}

Tensors tensor_scatter(const NodeContext& node, const Tensors& inputs) {
  const Tensor& past = input(node, inputs, 0);
  const Tensor& update = input(node, inputs, 1);
  const Tensor& begins = optional_input(inputs, 2);
  require_same_type(node, past, update);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{-2}), past.rank());
  Dims wanted = past.dims();
  if (axis < update.rank()) wanted[axis] = update.dim(axis);
  if (axis == 0 || update.dims() != wanted || update.dim(axis) > past.dim(axis)) {
    throw failure(node, fmt::format("{} does not fit into {} along axis {}", describe(update),
                                    describe(past), axis));
  }
  Dims begin(static_cast<std::size_t>(past.dim(0)), 0);
  if (begins.present()) begin = integers(node, begins);
  if (begin.size() != static_cast<std::size_t>(past.dim(0))) {
    throw failure(node,
                  fmt::format("{} write indices for a batch of {}", begin.size(), past.dim(0)));
  }
  const bool circular = attribute(*node.node, "mode", std::string("linear")) == "circular";
  const std::int64_t size = past.dim(axis), length = update.dim(axis);
  std::int64_t outer = 1, inner = 1;
  for (std::size_t a = 1; a < axis; ++a) outer *= past.dim(a);
  for (std::size_t a = axis + 1; a < past.rank(); ++a) inner *= past.dim(a);
  Tensor result = copy_of(past);
  for (std::int64_t row = 0; row < past.dim(0) * outer; ++row) {
    for (std::int64_t i = 0; i < length; ++i) {
      std::int64_t at = begin[static_cast<std::size_t>(row / outer)] + i;
      if (circular && at >= 0) at %= size;
      if (at < 0 || at >= size) {
        throw failure(node, fmt::format("write index {} of a cache of {}", at, size));
      }
      if (inner > 0)
        copy_element(result, (row * size + at) * inner, update, (row * length + i) * inner, inner);
    }
  }
  return {result};
}

Tensors compress(const NodeContext& node, const Tensors& inputs) {
  const Tensor& whole = input(node, inputs, 0);
  const Tensor& condition = input(node, inputs, 1);
  const bool flat = find_attribute(node, "axis") == nullptr;
  const Tensor x = flat ? whole.reshaped({whole.elements()}) : whole;
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{0}), x.rank());
  if (condition.type() != onnx::TensorProto::BOOL || condition.elements() > x.dim(axis)) {
    throw failure(node, fmt::format("a condition of {} for axis {} of {}", describe(condition),
                                    axis, describe(x)));
  }
  Dims taken;
  for (std::int64_t i = 0; i < condition.elements(); ++i) {
    if (condition.values<bool>()[i]) taken.push_back(i);
  }
  Dims dims = x.dims();
  std::int64_t outer = 1, inner = 1;
  for (std::size_t a = 0; a < axis; ++a) outer *= dims[a];
  for (std::size_t a = axis + 1; a < dims.size(); ++a) inner *= dims[a];
  dims[axis] = static_cast<std::int64_t>(taken.size());
  Tensor result(x.type(), dims);
  std::int64_t to = 0;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const std::int64_t index : taken) {
      if (inner > 0) copy_element(result, to, x, (row * x.dim(axis) + index) * inner, inner);
      to += inner;
    }
  }
  return {result};
}

Tensors non_zero(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Dims found =
      visit_types<bool, float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                  std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
          node, x.type(), [&](auto zero) {
            Dims places;
            for (std::int64_t i = 0; i < x.elements(); ++i) {
              if (x.values<decltype(zero)>()[i] != zero) places.push_back(i);
            }
            return places;
          });
  const auto count = static_cast<std::int64_t>(found.size());
  Tensor result(onnx::TensorProto::INT64, {static_cast<std::int64_t>(x.rank()), count});
  const Dims strides = row_major_strides(x.dims());
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      result.mutable_values<std::int64_t>()[axis * found.size() + i] =
          found[i] / strides[axis] % x.dim(axis);
    }
  }
  return {result};
}

Tensors one_hot(const NodeContext& node, const Tensors& inputs) {
  const Tensor& indices = input(node, inputs, 0);
  const Tensor& depths = input(node, inputs, 1);
  const Tensor& values = input(node, inputs, 2);
  const auto as_integers = [&node](const Tensor& tensor) {
    return visit_numbers(node, tensor.type(), [&](auto zero) {
      const auto* const from = tensor.values<decltype(zero)>();
      Dims result;
      for (std::int64_t i = 0; i < tensor.elements(); ++i) {
        result.push_back(static_cast<std::int64_t>(from[i]));
      }
      return result;
    });
  };
  const Dims depth = as_integers(depths);
  if (depth.size() != 1 || depth[0] < 1 || values.elements() != 2) {
    throw failure(
        node, fmt::format("a depth of {} and values of {}", describe(depths), describe(values)));
  }
  Dims dims = indices.dims();
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{-1}), dims.size() + 1);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth[0]);
  std::int64_t inner = 1;
  for (std::size_t a = axis + 1; a < dims.size(); ++a) inner *= dims[a];
  Tensor result(values.type(), dims);
  for (std::int64_t i = 0; i < result.elements(); ++i) copy_element(result, i, values, 0);
  const Dims hot = as_integers(indices);
  for (std::size_t i = 0; i < hot.size(); ++i) {
    const std::int64_t index = hot[i] < 0 ? hot[i] + depth[0] : hot[i];
    if (index < 0 || index >= depth[0]) continue;  // nothing is hot, as ONNX says
    const auto at = static_cast<std::int64_t>(i);
    copy_element(result, (at / inner * depth[0] + index) * inner + at % inner, values, 1);
  }
  return {result};
}

}  // namespace host
}  // namespace gemm64
