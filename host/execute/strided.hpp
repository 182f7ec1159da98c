// SPDX-License-Identifier: Apache-2.0
// Walks over arrays with any step along each axis: broadcasting, transposing, reducing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/execute/tensor.hpp"

namespace gemm64 {

/// An array of `dims` as seen from Count tensors: how far one step along each axis goes in each.
template <std::size_t Count>
struct Walk {
  Dims dims;
  std::array<Dims, Count> strides;
};

/// The same walk with neighbouring axes joined where all tensors allow, and axes of size 1 left
/// out: long inner loops. There is at least one axis.
template <std::size_t Count>
Walk<Count> joined(const Walk<Count>& walk) {
  Walk<Count> result;
  for (std::size_t axis = 0; axis < walk.dims.size(); ++axis) {
    if (walk.dims[axis] == 1) continue;
    bool joins = !result.dims.empty();
    for (std::size_t i = 0; joins && i < Count; ++i) {
      joins = result.strides[i].back() == walk.strides[i][axis] * walk.dims[axis];
    }
    if (!joins) result.dims.push_back(1);
    result.dims.back() *= walk.dims[axis];
    for (std::size_t i = 0; i < Count; ++i) {
      if (!joins) result.strides[i].push_back(0);
      result.strides[i].back() = walk.strides[i][axis];
    }
  }
  if (result.dims.empty()) {
    result.dims.push_back(1);
    for (Dims& strides : result.strides) strides.push_back(0);
  }
  return result;
}

/// Calls row(offsets, length, steps) for each run along the last axis, in row-major order: element
/// i of the run lies at offsets[t] + i * steps[t] in tensor t.
template <std::size_t Count, class Row>
void for_each_row(const Walk<Count>& whole, Row row) {
  const Walk<Count> walk = joined(whole);
  for (const std::int64_t dim : walk.dims) {
    if (dim == 0) return;
  }
  const std::size_t last = walk.dims.size() - 1;
  std::array<std::int64_t, Count> steps{};
  for (std::size_t i = 0; i < Count; ++i) steps[i] = walk.strides[i][last];
  Dims at(last, 0);
  std::array<std::int64_t, Count> offsets{};
  while (true) {
    row(offsets, walk.dims[last], steps);
    std::size_t axis = last;
    while (axis-- > 0) {
      for (std::size_t i = 0; i < Count; ++i) offsets[i] += walk.strides[i][axis];
      if (++at[axis] < walk.dims[axis]) break;
      for (std::size_t i = 0; i < Count; ++i) {
        offsets[i] -= walk.strides[i][axis] * walk.dims[axis];
      }
      at[axis] = 0;
    }
    if (axis == static_cast<std::size_t>(-1)) return;
  }
}

/// Sizes that `a` and `b` both stretch to, as NumPy does; empty where they do not fit.
bool broadcast_dims(const Dims& a, const Dims& b, Dims& result);

/// Strides with which an array of `from` is seen as one of `to`, which it stretches to.
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
