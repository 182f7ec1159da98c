// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/broadcast.hpp"

#include <algorithm>

namespace gemm64 {

bool broadcast_dims(const Dims& a, const Dims& b, Dims& result) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  result = longer;
  const std::size_t skipped = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dim = result[skipped + i];
    if (dim == 1) dim = shorter[i];
    if (shorter[i] != 1 && shorter[i] != dim) return false;
  }
  return true;
}

Dims broadcast_strides(const Dims& from, const Dims& to) {
  const Dims plain = row_major_strides(from);
  const std::size_t skipped = to.size() - from.size();
  Dims strides(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    strides[skipped + i] = from[i] == 1 ? 0 : plain[i];
  }
  return strides;
}

Tensor broadcast(const Tensor& tensor, const Dims& dims) {
  Tensor result(tensor.type(), dims);
  if (result.elements() == 0) return result;
  const Dims strides = broadcast_strides(tensor.dims(), dims), steps = row_major_strides(dims);
  // The last axes, as long as they are the tensor's own, are copied at once.
  std::size_t axes = dims.size();
  std::int64_t block = 1;
  while (axes > 0 && (dims[axes - 1] == 1 || strides[axes - 1] == block)) block *= dims[--axes];
  const std::size_t bytes = static_cast<std::size_t>(block) * tensor.element_size();
  std::byte* to = result.mutable_raw();
  for (std::int64_t i = 0; i < result.elements(); i += block) {
    std::int64_t from = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      from += i / steps[axis] % dims[axis] * strides[axis];
    }
    to = std::copy_n(tensor.raw() + static_cast<std::size_t>(from) * tensor.element_size(), bytes,
                     to);
  }
  return result;
}

}  // namespace gemm64
