// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/strided.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace gemm64 {
namespace {

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

}  // namespace

template <std::size_t Count>
void for_each_row(const Walk<Count>& whole, const std::common_type_t<Row<Count>>& row) {
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

template void for_each_row(const Walk<2>&, const Row<2>&);

namespace {

template <class Word>
void copy_words(std::byte* to_bytes, const std::byte* from_bytes, const Dims& dims,
                const Dims& strides) {
  auto* to = reinterpret_cast<Word*>(to_bytes);
  const auto* from = reinterpret_cast<const Word*>(from_bytes);
  for_each_row(Walk<2>{dims, {row_major_strides(dims), strides}},
               [&](const auto& offsets, std::int64_t length, const auto& steps) {
                 Word* target = to + offsets[0];
                 const Word* source = from + offsets[1];
                 if (steps[1] == 1) {
                   std::copy(source, source + length, target);
                   return;
                 }
                 for (std::int64_t i = 0; i < length; ++i) target[i] = source[i * steps[1]];
               });
}

/// Neighbours that are copied at once: `length` of them from source index `from`, or from the fill
/// where that is -1.
struct Run {
  std::int64_t from;
  std::int64_t length;
};

std::vector<Run> runs_of(const Dims& indices) {
  std::vector<Run> runs;
  for (const std::int64_t index : indices) {
    const bool follows =
        !runs.empty() && runs.back().from != -1 && index == runs.back().from + runs.back().length;
    const bool fills = !runs.empty() && runs.back().from == -1 && index == -1;
    if (follows || fills) {
      ++runs.back().length;
    } else {
      runs.push_back({index, 1});
    }
  }
  return runs;
}

class Selection {
 public:
  Selection(const Tensor& from, const std::vector<Selected>& indices, const std::byte* fill)
      : fill_(fill), element_size_(from.element_size()) {
    std::size_t axes = from.rank();
    // Axes at the end that are taken whole are one block.
    std::size_t block = element_size_;
    while (axes > 1 && !indices[axes - 1]) {
      block *= static_cast<std::size_t>(from.dim(--axes));
    }
    for (std::size_t axis = 0; axis < axes; ++axis) {
      Dims all(static_cast<std::size_t>(from.dim(axis)));
      std::iota(all.begin(), all.end(), 0);
      const Dims& taken = indices[axis] ? *indices[axis] : all;
      runs_.push_back(runs_of(taken));
      out_.push_back(static_cast<std::int64_t>(taken.size()));
    }
    from_bytes_.assign(axes, block);
    out_bytes_.assign(axes, block);
    for (std::size_t axis = axes; axis-- > 1;) {
      from_bytes_[axis - 1] = from_bytes_[axis] * static_cast<std::size_t>(from.dim(axis));
      out_bytes_[axis - 1] = out_bytes_[axis] * static_cast<std::size_t>(out_[axis]);
    }
  }

  void copy(std::byte* to, const std::byte* from, std::size_t axis = 0) const {
    for (const Run& run : runs_[axis]) {
      const std::size_t bytes = out_bytes_[axis] * static_cast<std::size_t>(run.length);
      if (run.from == -1) {
        for (std::size_t i = 0; i < bytes; i += element_size_) {
          std::memcpy(to + i, fill_, element_size_);
        }
      } else if (axis + 1 == runs_.size()) {
        std::memcpy(to, from + from_bytes_[axis] * static_cast<std::size_t>(run.from), bytes);
      } else {
        for (std::int64_t i = 0; i < run.length; ++i) {
          copy(to + out_bytes_[axis] * static_cast<std::size_t>(i),
               from + from_bytes_[axis] * static_cast<std::size_t>(run.from + i), axis + 1);
        }
      }
      to += bytes;
    }
  }

 private:
  const std::byte* fill_;
  std::size_t element_size_;
  std::vector<std::vector<Run>> runs_;  // by axis
  Dims out_;
  std::vector<std::size_t> from_bytes_;  // one step along each axis
  std::vector<std::size_t> out_bytes_;
};

}  // namespace

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

void copy_strided(std::byte* to, const std::byte* from, const Dims& dims, const Dims& strides,
                  std::size_t element_size) {
  switch (element_size) {
    case 1:
      return copy_words<std::uint8_t>(to, from, dims, strides);
    case 2:
      return copy_words<std::uint16_t>(to, from, dims, strides);
    case 4:
      return copy_words<std::uint32_t>(to, from, dims, strides);
    default:
      return copy_words<std::uint64_t>(to, from, dims, strides);
  }
}

Tensor select(const Tensor& from, const std::vector<Selected>& indices, const std::byte* fill) {
  Dims dims = from.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (indices[axis]) dims[axis] = static_cast<std::int64_t>(indices[axis]->size());
  }
  Tensor result(from.type(), dims);
  if (result.elements() == 0) return result;
  if (dims.empty()) {
    std::memcpy(result.mutable_raw(), from.raw(), from.element_size());
  } else {
    Selection(from, indices, fill).copy(result.mutable_raw(), from.raw());
  }
  return result;
}

}  // namespace gemm64
