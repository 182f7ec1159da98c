// SPDX-License-Identifier: Apache-2.0
#include "host/compile/strips.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

/// What a layer makes of rows that are not the map's: this number of its own are not, either.
std::uint32_t wrong_behind(const Convolution& c, std::uint32_t wrong) {
  return static_cast<std::uint32_t>(divide_up(wrong + c.pad_top, c.stride_height));
}

/// Rows up to the last one whose windows are within that many rows.
std::uint32_t right_behind(const Convolution& c, std::uint32_t right) {
  const std::int64_t last =
      std::int64_t{right} - 1 + c.pad_top - std::int64_t{c.kernel_height - 1} * c.dilation_height;
  return last < 0 ? 0 : static_cast<std::uint32_t>(last / c.stride_height + 1);
}

std::optional<std::vector<Strips>> with_step(const std::vector<Convolution>& chain,
                                             std::uint32_t count, std::uint32_t step) {
  std::vector<Strips> made(chain.size());
  for (std::size_t i = chain.size(); i-- > 0; step *= chain[i].stride_height) {
    if (std::uint64_t{count - 1} * step >= chain[i].out_height) return std::nullopt;
    made[i] = {count, step, chain[i].out_height - (count - 1) * step, 0};
    if (i == 0) break;
  }
  std::uint32_t right = made[0].rows;  // with which all strips but the last begin, but for `wrong`
  for (std::size_t i = 0; i < chain.size(); ++i) {
    if (i != 0) {
      made[i].wrong = wrong_behind(chain[i], made[i - 1].wrong);
      right = right_behind(chain[i], right);
    }
    if (right < made[i].step + made[i].wrong) return std::nullopt;
  }
  return made;
}

/// What is at `first` to `end` along an axis.
Tensor part_along(const Tensor& from, std::size_t axis, std::int64_t first, std::int64_t end) {
  Dims dims = from.dims();
  const std::int64_t all = std::exchange(dims.at(axis), end - first);
  Tensor part(from.type(), dims);
  if (part.elements() == 0) return part;
  const std::int64_t outer =
      std::accumulate(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis),
                      std::int64_t{1}, std::multiplies<>());
  const auto step = static_cast<std::ptrdiff_t>(from.bytes()) / outer / all;
  std::byte* to = part.mutable_raw();
  for (std::int64_t i = 0; i < outer; ++i) {
    to = std::copy_n(from.raw() + (i * all + first) * step, (end - first) * step, to);
  }
  return part;
}

}  // namespace

std::optional<std::vector<Strips>> cut_into_strips(const std::vector<Convolution>& chain,
                                                   std::uint32_t count) {
  for (std::uint32_t step = chain.back().out_height / count; step != 0; --step) {
    if (auto made = with_step(chain, count, step)) return made;
  }
  return std::nullopt;
}

Tensor rows_of_map(const Tensor& map, std::uint32_t first, std::uint32_t end) {
  return part_along(map, 2, first, end);
}

Tensor strip_of(const Tensor& all, const Strips& strips, std::uint32_t strip) {
  const std::int64_t channels = all.dim(1) / strips.count;
  return part_along(all, 1, strip * channels, (strip + 1) * channels);
}

Tensor in_strips(const Tensor& map, const Strips& strips) {
  std::vector<Tensor> each;
  for (std::uint32_t i = 0; i < strips.count; ++i) {
    each.push_back(rows_of_map(map, i * strips.step, i * strips.step + strips.rows));
  }
  return join(each, 1);
}

Tensor out_of_strips(const Tensor& all, const Strips& strips) {
  std::vector<Tensor> each;
  for (std::uint32_t i = 0; i < strips.count; ++i) {
    each.push_back(rows_of_map(strip_of(all, strips, i), strips.first_row(i) - i * strips.step,
                               strips.first_row(i + 1) - i * strips.step));
  }
  return join(each, 2);
}

Tensor join(const std::vector<Tensor>& tensors, std::size_t axis) {
  Dims dims = tensors.at(0).dims();
  dims.at(axis) = 0;
  for (const Tensor& tensor : tensors) dims[axis] += tensor.dim(axis);
  const std::int64_t outer =
      std::accumulate(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axis),
                      std::int64_t{1}, std::multiplies<>());
  Tensor joined(tensors[0].type(), dims);
  std::byte* to = joined.mutable_raw();
  for (std::int64_t i = 0; i < outer; ++i) {
    for (const Tensor& tensor : tensors) {
      const std::size_t bytes = tensor.bytes() / static_cast<std::size_t>(outer);
      to = std::copy_n(tensor.raw() + static_cast<std::size_t>(i) * bytes, bytes, to);
    }
  }
  return joined;
}

}  // namespace gemm64
