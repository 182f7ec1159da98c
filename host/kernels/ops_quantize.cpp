// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/kernels/dynamic_range.hpp"
#include "host/kernels/quantization.hpp"
#include "host/kernels/small_types.hpp"

namespace gemm64 {
namespace host {
namespace {

/// A tensor as [outer][length][inner], and which scale is whose: one for all, one for each index of
/// the middle axis, or one for each block of it.
struct Grid {
  std::int64_t outer = 1, length = 1, inner = 1;
  std::int64_t block = 0;  // indices that share a scale; 0: all of the tensor does
  std::int64_t blocks = 1;
  bool by_position = false;  // in blocks, outer and inner indices have scales of their own

  std::int64_t scale_of(std::int64_t o, std::int64_t at) const {
    if (block == 0) return 0;
    return by_position ? (o * blocks + at / block) * inner : at;
  }
};

Grid make_grid(const NodeContext& node, const Tensor& x, const Tensor& scale) {
  Grid grid;
  const std::int64_t block = attribute(*node.node, "block_size", std::int64_t{0});
  if (block == 0 && scale.elements() == 1 && scale.rank() < 2) {
    grid.inner = x.elements();
    return grid;
  }
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{1}), x.rank());
  const auto product = [&x](std::size_t begin, std::size_t end) {
    return std::accumulate(x.dims().begin() + static_cast<std::ptrdiff_t>(begin),
                           x.dims().begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{1},
                           std::multiplies<>());
  };
  grid.outer = product(0, axis);
  grid.length = x.dim(axis);
  grid.inner = product(axis + 1, x.rank());
  grid.block = std::max<std::int64_t>(block, 1);
  grid.by_position = block > 0;
  Dims wanted{grid.length};
  if (block > 0) {
    grid.blocks = (grid.length + block - 1) / block;
    wanted = x.dims();
    wanted[axis] = grid.blocks;
  }
  if (block < 0 || scale.dims() != wanted) {
    throw failure(node, fmt::format("its scale is {}; {} of {} needs {}", describe(scale),
                                    block > 0 ? fmt::format("blocks of {}", block) : "an axis",
                                    describe(x), dims_text(wanted)));
  }
  return grid;
}

void check_zero(const NodeContext& node, const Tensor& scale, const Tensor& zero) {
  if (!zero.present() || zero.elements() == scale.elements()) return;
  throw failure(
      node, fmt::format("its scale is {} and its zero point {}", describe(scale), describe(zero)));
}

/// Calls function(index of the first value, count, index of the first scale, whether each value has
/// its own) for runs of values.
template <class Function>
void for_each_run(const Grid& grid, Function function) {
  for (std::int64_t o = 0; o < grid.outer; ++o) {
    for (std::int64_t at = 0; at < grid.length; ++at) {
      function((o * grid.length + at) * grid.inner, grid.inner, grid.scale_of(o, at),
               grid.by_position);
    }
  }
}

/// `value` in steps, as one of the whole numbers [low, high].
double whole(double value, double low, double high) {
  return std::isnan(value) ? low : std::clamp(std::nearbyint(value), low, high);
}

/// The bits of a value in steps, with the zero point added, in a type that C++ has none for.
std::uint8_t small_bits(DataType type, float steps, float zero, const SmallRounding& rounding) {
  switch (type) {
    case onnx::TensorProto::INT4:
      return encode_small(type, whole(std::nearbyint(steps) + zero, -8, 7), rounding);
    case onnx::TensorProto::UINT4:
      return encode_small(type, whole(std::nearbyint(steps) + zero, 0, 15), rounding);
    case onnx::TensorProto::INT2:
      return encode_small(type, whole(std::nearbyint(steps) + zero, -2, 1), rounding);
    case onnx::TensorProto::UINT2:
      return encode_small(type, whole(std::nearbyint(steps) + zero, 0, 3), rounding);
    default:
      return encode_small(type, steps + zero, rounding);
  }
}

Tensor quantize_small(const NodeContext& node, const Grid& grid, const Tensor& x,
                      const Tensor& scale, const Tensor& zero, DataType type) {
  Tensor result(type, x.dims());
  SmallRounding rounding;
  rounding.saturate = attribute(*node.node, "saturate", std::int64_t{1}) != 0;
  auto* to = reinterpret_cast<std::uint8_t*>(result.mutable_raw());
  const auto* zeros = reinterpret_cast<const std::uint8_t*>(zero.raw());
  for_each_run(grid, [&](std::int64_t first, std::int64_t count, std::int64_t at, bool own) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t s = at + (own ? i : 0);
      const float moved = zero.present() ? decode_small(type, zeros[s]) : 0;
      to[first + i] = small_bits(type, x.values<float>()[first + i] / scale.values<float>()[s],
                                 moved, rounding);
    }
  });
  return result;
}

template <class T>
Tensor quantize_of(const Grid& grid, const Tensor& x, const Tensor& scale, const Tensor& zero) {
  Tensor result(data_type_of<T>(), x.dims());
  const float* from = x.values<float>();
  T* to = result.mutable_values<T>();
  for_each_run(grid, [&](std::int64_t first, std::int64_t count, std::int64_t at, bool own) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t s = at + (own ? i : 0);
      to[first + i] = to_quantized<T>(from[first + i] / scale.values<float>()[s],
                                      zero.present() ? zero.values<T>()[s] : 0);
    }
  });
  return result;
}

}  // namespace

Tensors quantize_linear(const NodeContext& node, const Tensors& inputs) {
  Tensor x = input(node, inputs, 0);
  const Tensor& scale = input(node, inputs, 1);
  const Tensor& zero = optional_input(inputs, 2);
  if (x.type() == onnx::TensorProto::INT32) {
    Tensor floats(onnx::TensorProto::FLOAT, x.dims());
    std::copy_n(x.values<std::int32_t>(), x.elements(), floats.mutable_values<float>());
    x = floats;
  }
  if (x.type() != onnx::TensorProto::FLOAT || scale.type() != onnx::TensorProto::FLOAT) {
    throw failure(node, fmt::format("{} with a scale of {} is not supported; float32 is needed",
                                    describe(x), describe(scale)));
  }
  check_zero(node, scale, zero);
  const Grid grid = make_grid(node, x, scale);
  const std::int64_t asked = attribute(*node.node, "output_dtype", std::int64_t{0});
  const auto type = zero.present() ? zero.type()
                    : asked != 0   ? static_cast<DataType>(asked)
                                   : onnx::TensorProto::UINT8;
  if (is_small_type(type)) return {quantize_small(node, grid, x, scale, zero, type)};
  return {visit_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>(
      node, type, [&](auto kind) { return quantize_of<decltype(kind)>(grid, x, scale, zero); })};
}

namespace {

template <class Read>
Tensor dequantize_with(const Grid& grid, const Tensor& x, const Tensor& scale, Read read) {
  Tensor result(onnx::TensorProto::FLOAT, x.dims());
  float* to = result.mutable_values<float>();
  for_each_run(grid, [&](std::int64_t first, std::int64_t count, std::int64_t at, bool own) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t s = at + (own ? i : 0);
      to[first + i] = read(first + i, s) * scale.values<float>()[s];
    }
  });
  return result;
}

}  // namespace

Tensors dequantize_linear(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& scale = input(node, inputs, 1);
  const Tensor& zero = optional_input(inputs, 2);
  if (scale.type() != onnx::TensorProto::FLOAT) {
    throw failure(node, fmt::format("its scale is {}; float32 is needed", describe(scale)));
  }
  if (zero.present()) require_same_type(node, x, zero);
  check_zero(node, scale, zero);
  const Grid grid = make_grid(node, x, scale);
  if (is_small_type(x.type())) {
    const auto* values = reinterpret_cast<const std::uint8_t*>(x.raw());
    const auto* zeros = reinterpret_cast<const std::uint8_t*>(zero.raw());
    return {dequantize_with(grid, x, scale, [&](std::int64_t i, std::int64_t s) {
      const float moved = zero.present() ? decode_small(x.type(), zeros[s]) : 0;
      return decode_small(x.type(), values[i]) - moved;
    })};
  }
  return {visit_types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t>(
      node, x.type(), [&](auto kind) {
        using T = decltype(kind);
        const T* values = x.values<T>();
        const T* zeros = zero.present() ? zero.values<T>() : nullptr;
        return dequantize_with(grid, x, scale, [=](std::int64_t i, std::int64_t s) {
          const std::int64_t moved = zeros == nullptr ? 0 : zeros[s];
          return static_cast<float>(values[i] - moved);
        });
      })};
}

Tensors dynamic_quantize_linear(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const auto [values, range] = quantize_by_range(node, x);
  return {values, Tensor::of<float>({}, {range.scale}),
          Tensor::of<std::uint8_t>({}, {static_cast<std::uint8_t>(range.zero)})};
}

}  // namespace host
}  // namespace gemm64
