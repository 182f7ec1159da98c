// SPDX-License-Identifier: Apache-2.0
// From a tensor's element type, known when the network runs, to a C++ type.
#pragma once

#include <fmt/format.h>

#include <type_traits>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"

namespace gemm64 {

/// Calls function(T()) with T one of Types that is the element type `type`. Throws UsageError where
/// it is none of them.
template <class... Types, class Function>
auto visit_types(const NodeContext& node, DataType type, Function function) {
  using Result = std::common_type_t<decltype(function(Types()))...>;
  Result result{};
  const bool found = (... || (type == data_type_of<Types>() && (result = function(Types()), true)));
  if (!found) {
    throw failure(node, fmt::format("{} is not supported", data_type_name(type)));
  }
  return result;
}

/// Throws UsageError where the tensors' element types differ.
inline void require_same_type(const NodeContext& node, const Tensor& a, const Tensor& b) {
  if (a.type() == b.type()) return;
  throw failure(
      node, fmt::format("its inputs {} and {} are of different types", describe(a), describe(b)));
}

}  // namespace gemm64
