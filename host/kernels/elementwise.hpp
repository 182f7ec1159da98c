// SPDX-License-Identifier: Apache-2.0
// Loops over the elements of one tensor, or of two that broadcast against each other.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {

/// function(x) for each element.
template <class To, class From, class Function>
Tensor map(const Tensor& x, Function function) {
  Tensor result(data_type_of<To>(), x.dims());
  const From* from = x.values<From>();
  std::transform(from, from + x.elements(), result.mutable_values<To>(), function);
  return result;
}

/// The sizes that both inputs broadcast to. Throws UsageError where they do not fit.
Dims stretched(const NodeContext& node, const Tensor& a, const Tensor& b);

/// function(a, b) for each pair of elements, broadcast to `dims`.
template <class To, class A, class B, class Function>
Tensor zip(const Tensor& a, const Tensor& b, const Dims& dims, Function function) {
  Tensor result(data_type_of<To>(), dims);
  const A* left = a.values<A>();
  const B* right = b.values<B>();
  To* to = result.mutable_values<To>();
  for_each_row(Walk<3>{dims,
                       {row_major_strides(dims), broadcast_strides(a.dims(), dims),
                        broadcast_strides(b.dims(), dims)}},
               [&](const auto& offsets, std::int64_t length, const auto& steps) {
                 To* target = to + offsets[0];
                 const A* x = left + offsets[1];
                 const B* y = right + offsets[2];
                 if (steps[1] == 1 && steps[2] == 1) {
                   for (std::int64_t i = 0; i < length; ++i) target[i] = function(x[i], y[i]);
                   return;
                 }
                 for (std::int64_t i = 0; i < length; ++i) {
                   target[i] = function(x[i * steps[1]], y[i * steps[2]]);
                 }
               });
  return result;
}

}  // namespace gemm64
