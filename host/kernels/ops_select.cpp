// SPDX-License-Identifier: Apache-2.0
// What depends on values which of them stay: NonMaxSuppression and Unique.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// A box by its corners, the smaller ones first.
struct Box {
  Box(const float* values, bool by_center) {
    if (by_center) {
      const float half_width = values[2] / 2, half_height = values[3] / 2;
      left = values[0] - half_width;
      right = values[0] + half_width;
      top = values[1] - half_height;
      bottom = values[1] + half_height;
    } else {
      std::tie(top, bottom) = std::minmax({values[0], values[2]});
      std::tie(left, right) = std::minmax({values[1], values[3]});
    }
  }

  float area() const { return (bottom - top) * (right - left); }

  float top = 0, left = 0, bottom = 0, right = 0;
};

/// Do they share more than this part of what both cover? In float32, as in ONNX Runtime.
bool overlap(const Box& a, const Box& b, float part) {
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  if (!(width > 0) || !(height > 0)) return false;
  const float shared = width * height;
  const float all = a.area() + b.area() - shared;
  return a.area() > 0 && b.area() > 0 && all > 0 && shared / all > part;
}

/// The one value of an input that may be left out.
template <class T>
T one_of_input(const NodeContext& node, const Tensor& given, T otherwise) {
  if (!given.present()) return otherwise;
  if (given.elements() != 1 || given.type() != data_type_of<T>()) {
    throw failure(node, fmt::format("{} is no number of its type", describe(given)));
  }
  return given.values<T>()[0];
}

}  // namespace

Tensors non_max_suppression(const NodeContext& node, const Tensors& inputs) {
  const Tensor& boxes = input(node, inputs, 0);
  const Tensor& scores = input(node, inputs, 1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.dim(2) != 4 ||
      boxes.dim(0) != scores.dim(0) || boxes.dim(1) != scores.dim(2) ||
      boxes.type() != onnx::TensorProto::FLOAT || scores.type() != onnx::TensorProto::FLOAT) {
    throw failure(node,
                  fmt::format("boxes of {} and scores of {}", describe(boxes), describe(scores)));
  }
  const auto most = one_of_input<std::int64_t>(node, optional_input(inputs, 2), 0);
  const auto part = one_of_input<float>(node, optional_input(inputs, 3), 0);
  const Tensor& least_given = optional_input(inputs, 4);
  const auto least = one_of_input<float>(node, least_given, 0);
  const bool by_center = attribute(*node.node, "center_point_box", std::int64_t{0}) != 0;
  const std::int64_t classes = scores.dim(1), count = boxes.dim(1);
  std::vector<std::int64_t> kept;
  for (std::int64_t line = 0; line < scores.dim(0) * classes; ++line) {
    const float* const score = scores.values<float>() + line * count;
    const float* const first = boxes.values<float>() + line / classes * count * 4;
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < count; ++i) {
      if (!least_given.present() || score[i] > least) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [score](std::int64_t a, std::int64_t b) {
      return !is_nan(score[a]) && (is_nan(score[b]) || score[a] > score[b]);
    });
    std::vector<Box> taken;
    for (const std::int64_t i : order) {
      if (static_cast<std::int64_t>(taken.size()) >= most) break;
      const Box box(first + 4 * i, by_center);
      const bool hidden = std::any_of(taken.begin(), taken.end(),
                                      [&](const Box& other) { return overlap(box, other, part); });
      if (hidden) continue;
      taken.push_back(box);
      kept.insert(kept.end(), {line / classes, line % classes, i});
    }
  }
  return {Tensor::of<std::int64_t>({static_cast<std::int64_t>(kept.size()) / 3, 3}, kept)};
}

namespace {

/// Does a come before b? NaN is the largest.
template <class T>
bool is_before(T a, T b) {
  if (is_nan(a) || is_nan(b)) return !is_nan(a) && is_nan(b);
  return a < b;
}

Tensor vector_of(const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

}  // namespace

Tensors unique(const NodeContext& node, const Tensors& inputs) {
  const bool flat = find_attribute(node, "axis") == nullptr;
  const Tensor x = flat ? input(node, inputs, 0).reshaped({input(node, inputs, 0).elements()})
                        : input(node, inputs, 0);
  const std::size_t axis =
      flat ? 0 : checked_axis(node, attribute(*node.node, "axis", std::int64_t{0}), x.rank());
  const bool sorted = attribute(*node.node, "sorted", std::int64_t{1}) != 0;
  const std::int64_t size = x.dim(axis);
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= x.dim(i);
  const std::int64_t each = size == 0 ? 0 : x.elements() / size;  // values of a slice
  const auto place = [&](std::int64_t slice, std::int64_t i) {
    return (i / inner * size + slice) * inner + i % inner;
  };
  return visit_types<float, double, bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                     std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>(
      node, x.type(), [&](auto zero) -> Tensors {
        using T = decltype(zero);
        const T* const values = x.values<T>();
        const auto before = [&](std::int64_t a, std::int64_t b) {
          for (std::int64_t i = 0; i < each; ++i) {
            const T left = values[place(a, i)], right = values[place(b, i)];
            if (is_before(left, right)) return true;
            if (is_before(right, left)) return false;
          }
          return false;
        };
        std::vector<std::int64_t> order(static_cast<std::size_t>(size));
        std::iota(order.begin(), order.end(), std::int64_t{0});
        std::stable_sort(order.begin(), order.end(), before);
        std::vector<std::int64_t> groups;  // the first of each
        std::vector<std::int64_t> group_of(order.size()), counts;
        for (const std::int64_t slice : order) {
          if (groups.empty() || before(groups.back(), slice)) {
            groups.push_back(slice);
            counts.push_back(0);
          }
          ++counts.back();
          group_of[static_cast<std::size_t>(slice)] = static_cast<std::int64_t>(groups.size()) - 1;
        }
        if (!sorted) {
          std::vector<std::int64_t> by_first(groups.size()), rank(groups.size());
          std::iota(by_first.begin(), by_first.end(), std::int64_t{0});
          const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
          std::sort(by_first.begin(), by_first.end(),
                    [&](std::int64_t a, std::int64_t b) { return groups[at(a)] < groups[at(b)]; });
          std::vector<std::int64_t> new_groups, new_counts;
          for (const std::int64_t group : by_first) {
            rank[at(group)] = static_cast<std::int64_t>(new_groups.size());
            new_groups.push_back(groups[at(group)]);
            new_counts.push_back(counts[at(group)]);
          }
          groups = new_groups;
          counts = new_counts;
          for (std::int64_t& group : group_of) group = rank[at(group)];
        }
        Dims dims = x.dims();
        dims[axis] = static_cast<std::int64_t>(groups.size());
        Tensor y(x.type(), dims);
        for (std::int64_t group = 0; group < dims[axis]; ++group) {
          for (std::int64_t i = 0; i < each; ++i) {
            y.mutable_values<T>()[(i / inner * dims[axis] + group) * inner + i % inner] =
                values[place(groups[static_cast<std::size_t>(group)], i)];
          }
        }
        return {y, vector_of(groups), vector_of(group_of), vector_of(counts)};
      });
}

}  // namespace host
}  // namespace gemm64
