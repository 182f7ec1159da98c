// SPDX-License-Identifier: Apache-2.0
// Walks over arrays with any step along each axis: broadcasting, transposing, reducing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

#include "host/kernels/tensor.hpp"

namespace gemm64 {

/// An array of `dims` as seen from Count tensors: how far one step along each axis goes in each.
template <std::size_t Count>
struct Walk {
  Dims dims;
  std::array<Dims, Count> strides;
};

/// Element i of a run lies at offsets[t] + i * steps[t] in tensor t.
template <std::size_t Count>
using Row = std::function<void(const std::array<std::int64_t, Count>& offsets, std::int64_t length,
                               const std::array<std::int64_t, Count>& steps)>;

/// Calls `row` for each run along the last axis, in row-major order. Neighbouring axes are joined
/// where all tensors allow, so that runs are long. Count is
/// 2, 3 or 4.
template <std::size_t Count>
void for_each_row(const Walk<Count>& walk, const std::common_type_t<Row<Count>>& row);

/// Sizes that `a` and `b` both broadcast to, as in NumPy; empty where they do not fit.
bool broadcast_dims(const Dims& a, const Dims& b, Dims& result);

/// Strides with which an array of `from` is seen as one of `to`, to which it is broadcast.
Dims broadcast_strides(const Dims& from, const Dims& to);

/// Fills the row-major `to` of `dims` from elements of `from` (both of element_size bytes), which
/// lies `strides` elements apart along each axis.
void copy_strided(std::byte* to, const std::byte* from, const Dims& dims, const Dims& strides,
                  std::size_t element_size);

/// Which indices of an axis are taken, in which order; nothing: all of them in theirs.
using Selected = std::optional<Dims>;

/// The elements of `from` at indices[axis] along each axis. An index of -1 takes the element that
/// `fill` points at; others must be within their axis.
Tensor select(const Tensor& from, const std::vector<Selected>& indices,
              const std::byte* fill = nullptr);

}  // namespace gemm64
