// SPDX-License-Identifier: Apache-2.0
// Norms of order p: LpNormalization, LpPool, GlobalLpPool.
#include <fmt/format.h>

#include <cmath>

#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"
#include "host/kernels/window.hpp"

namespace gemm64 {
namespace host {
namespace {

double power(double value, std::int64_t p) {
  const double magnitude = std::abs(value);
  return p == 1 ? magnitude : p == 2 ? value * value : std::pow(magnitude, static_cast<double>(p));
}

double root(double sum, std::int64_t p) {
  return p == 1 ? sum : p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / static_cast<double>(p));
}

std::int64_t order(const NodeContext& node) {
  const std::int64_t p = attribute(*node.node, "p", std::int64_t{2});
  if (p < 1) throw failure(node, fmt::format("a norm of order {}", p));
  return p;
}

Tensor as_batch(const NodeContext& node, const Tensor& x) {
  if (x.rank() < 3) throw failure(node, fmt::format("{} is no batch of channels", describe(x)));
  return x;
}

}  // namespace

Tensors lp_normalization(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const std::int64_t p = order(node);
  const std::size_t axis =
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{-1}), x.rank());
  std::int64_t inner = 1;
  for (std::size_t a = axis + 1; a < x.rank(); ++a) inner *= x.dim(a);
  const std::int64_t size = x.dim(axis);
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result(x.type(), x.dims());
    for (std::int64_t line = 0; size > 0 && line < x.elements() / size; ++line) {
      const std::int64_t begin = line / inner * size * inner + line % inner;
      double sum = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        sum += power(static_cast<double>(x.values<T>()[begin + i * inner]), p);
      }
      const double norm = root(sum, p);
      for (std::int64_t i = 0; i < size; ++i) {
        const auto value = static_cast<double>(x.values<T>()[begin + i * inner]);
        // Nothing has the direction of nothing.
        result.mutable_values<T>()[begin + i * inner] =
            static_cast<T>(norm == 0 ? 0 : value / norm);
      }
    }
    return result;
  })};
}

Tensors lp_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor x = as_batch(node, input(node, inputs, 0));
  const std::int64_t p = order(node);
  const std::size_t axes = x.rank() - 2;
  const SpatialWindow window = make_window(node, x.dims(), kernel_shape(node, axes));
  Dims dims{x.dim(0), x.dim(1)};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  const Dims strides = row_major_strides(x.dims());
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result(x.type(), dims);
    const std::int64_t windows =
        result.elements() == 0 ? 0 : result.elements() / (dims[0] * dims[1]);
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      // The places that the window takes, one axis after the other.
      Dims places{i / windows * strides[1]};
      std::int64_t rest = i % windows;
      for (std::size_t axis = axes; axis-- > 0;) {
        Dims further;
        const std::int64_t at = rest % window.output[axis];
        rest /= window.output[axis];
        for (const std::int64_t tap : window.taps(axis, at, x.dim(2 + axis))) {
          for (const std::int64_t place : places)
            further.push_back(place + tap * strides[2 + axis]);
        }
        places = std::move(further);
      }
      double sum = 0;
      for (const std::int64_t place : places)
        sum += power(static_cast<double>(x.values<T>()[place]), p);
      result.mutable_values<T>()[i] = static_cast<T>(root(sum, p));
    }
    return result;
  })};
}

Tensors global_lp_pool(const NodeContext& node, const Tensors& inputs) {
  const Tensor x = as_batch(node, input(node, inputs, 0));
  const std::int64_t p = order(node);
  Dims dims(x.rank(), 1);
  dims[0] = x.dim(0);
  dims[1] = x.dim(1);
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result(x.type(), dims);
    const std::int64_t pixels = result.elements() == 0 ? 0 : x.elements() / result.elements();
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < pixels; ++j) {
        sum += power(static_cast<double>(x.values<T>()[i * pixels + j]), p);
      }
      result.mutable_values<T>()[i] = static_cast<T>(root(sum, p));
    }
    return result;
  })};
}

}  // namespace host
}  // namespace gemm64
