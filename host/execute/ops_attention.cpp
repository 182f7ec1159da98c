// SPDX-License-Identifier: Apache-2.0
// Attention as one operator, and what stands before it: Attention, RotaryEmbedding. Computed in
// double; 16-bit floats are rounded once, at the end.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "host/execute/operators.hpp"
#include "host/execute/strided.hpp"
#include "host/execute/visit.hpp"
#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace host {
namespace {

using Doubles = std::vector<double>;

template <class Function>
auto visit_all_floats(const NodeContext& node, DataType type, Function function) {
  return visit_types<float, double, Eigen::half, Eigen::bfloat16>(node, type, function);
}

Doubles doubles_of(const NodeContext& node, const Tensor& tensor) {
  return visit_all_floats(node, tensor.type(), [&](auto zero) {
    const auto* const from = tensor.values<decltype(zero)>();
    Doubles result;
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      result.push_back(static_cast<double>(from[i]));
    }
    return result;
  });
}

Tensor tensor_of(const NodeContext& node, DataType type, Dims dims, const Doubles& values) {
  return visit_all_floats(node, type, [&](auto zero) {
    using T = decltype(zero);
    Tensor result(type, dims);
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.mutable_values<T>()[i] = static_cast<T>(values[i]);
    }
    return result;
  });
}

/// Heads of a sequence: [batch][heads][length][size].
struct Heads {
  std::int64_t batch = 0, heads = 0, length = 0, size = 0;
  Doubles values;

  const double* row(std::int64_t b, std::int64_t head, std::int64_t i) const {
    return values.data() + ((b * heads + head) * length + i) * size;
  }
  Dims dims() const { return {batch, heads, length, size}; }
};

/// Of [batch][heads][length][size], or of [batch][length][heads * size].
Heads heads_of(const NodeContext& node, const Tensor& tensor, std::int64_t heads) {
  Heads result;
  const Doubles values = doubles_of(node, tensor);
  if (tensor.rank() == 4) {
    result = {tensor.dim(0), tensor.dim(1), tensor.dim(2), tensor.dim(3), values};
    return result;
  }
  if (tensor.rank() != 3 || heads < 1 || tensor.dim(2) % heads != 0) {
    throw failure(node, fmt::format("{} is no sequence of {} heads", describe(tensor), heads));
  }
  result = {tensor.dim(0), heads, tensor.dim(1), tensor.dim(2) / heads, Doubles(values.size())};
  std::size_t to = 0;
  for (std::int64_t b = 0; b < result.batch; ++b) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t i = 0; i < result.length; ++i) {
        for (std::int64_t d = 0; d < result.size; ++d) {
          result.values[to++] = values[static_cast<std::size_t>(
              ((b * result.length + i) * heads + head) * result.size + d)];
        }
      }
    }
  }
  return result;
}

/// The heads of the past before those that are new.
Heads behind(const NodeContext& node, const Tensor& past, const Heads& now) {
  if (!past.present()) return now;
  if (past.rank() != 4 || past.dim(0) != now.batch || past.dim(1) != now.heads ||
      past.dim(3) != now.size) {
    throw failure(node,
                  fmt::format("a past of {} before {}", describe(past), dims_text(now.dims())));
  }
  const Doubles before = doubles_of(node, past);
  Heads all = now;
  all.length += past.dim(2);
  all.values.clear();
  const std::int64_t old_size = past.dim(2) * now.size, new_size = now.length * now.size;
  for (std::int64_t i = 0; i < now.batch * now.heads; ++i) {
    all.values.insert(all.values.end(), before.begin() + i * old_size,
                      before.begin() + (i + 1) * old_size);
    all.values.insert(all.values.end(), now.values.begin() + i * new_size,
                      now.values.begin() + (i + 1) * new_size);
  }
  return all;
}

/// What is added to the products of queries and keys: [batch][heads][queries][keys].
class Bias {
 public:
  Bias(const NodeContext& node, const Tensors& inputs, const Heads& q, const Heads& k)
      : keys_(k.length) {
    const Tensor& mask = optional_input(inputs, 3);
    if (mask.present()) read_mask(node, mask, {q.batch, q.heads, q.length, k.length});
    const Tensor& lengths = optional_input(inputs, 6);
    if (lengths.present()) lengths_ = integers(node, lengths);
    if (lengths.present() && static_cast<std::int64_t>(lengths_.size()) != q.batch) {
      throw failure(node, fmt::format("{} lengths for a batch of {}", lengths_.size(), q.batch));
    }
    is_causal_ = attribute(*node.node, "is_causal", std::int64_t{0}) != 0;
    left_ = attribute(*node.node, "left_window_size", std::int64_t{-1});
    right_ = attribute(*node.node, "right_window_size", std::int64_t{-1});
    const Tensor& past = optional_input(inputs, 4);
    past_ = past.present() ? past.dim(2) : 0;
    queries_ = q.length;
    counts_from_end_ = !past.present() && lengths.present();
  }

  double at(std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) const {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    const std::int64_t offset =
        counts_from_end_ ? lengths_[static_cast<std::size_t>(b)] - queries_ : past_;
    if (is_causal_ && j > i + offset) return kNever;
    if (left_ >= 0 && j < i + offset - left_) return kNever;
    if (right_ >= 0 && j > i + offset + right_) return kNever;
    if (!lengths_.empty() && j >= lengths_[static_cast<std::size_t>(b)]) return kNever;
    if (mask_.empty()) return 0;
    if (j >= mask_keys_) return kNever;
    return mask_[static_cast<std::size_t>(b * strides_[0] + head * strides_[1] + i * strides_[2] +
                                          j * strides_[3])];
  }

 private:
  /// A mask may be narrower than the keys; those that it lacks take no part.
  void read_mask(const NodeContext& node, const Tensor& mask, Dims wanted) {
    if (mask.rank() > 0)
      mask_keys_ = mask.dim(mask.rank() - 1) == 1 ? keys_ : mask.dim(mask.rank() - 1);
    wanted[3] = std::min(mask_keys_, keys_);
    Dims joined;
    if (mask.rank() > 4 || mask.rank() == 0 || !broadcast_dims(mask.dims(), wanted, joined) ||
        joined != wanted) {
      throw failure(node, fmt::format("a mask of {} for {}", describe(mask), dims_text(wanted)));
    }
    strides_ = broadcast_strides(mask.dims(), wanted);
    if (mask.type() == onnx::TensorProto::BOOL) {
      for (std::int64_t i = 0; i < mask.elements(); ++i) {
        mask_.push_back(mask.values<bool>()[i] ? 0 : -std::numeric_limits<double>::infinity());
      }
    } else {
      mask_ = doubles_of(node, mask);
    }
  }

  std::int64_t keys_ = 0, queries_ = 0, past_ = 0, mask_keys_ = 0, left_ = -1, right_ = -1;
  bool is_causal_ = false, counts_from_end_ = false;
  Doubles mask_;
  Dims strides_, lengths_;
};

/// Softmax of a row; zeros where `bias` leaves it no key.
void softmax(Doubles& row, const Doubles& bias) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const bool none =
      std::all_of(bias.begin(), bias.end(), [](double value) { return value == kNever; });
  if (none) {
    std::fill(row.begin(), row.end(), 0);
    return;
  }
  const double largest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (double& value : row) sum += value = std::exp(value - largest);
  for (double& value : row) value /= sum;
}

}  // namespace

Tensors attention(const NodeContext& node, const Tensors& inputs) {
  const Tensor& query = input(node, inputs, 0);
  const std::int64_t q_heads = attribute(*node.node, "q_num_heads", std::int64_t{0});
  const std::int64_t kv_heads = attribute(*node.node, "kv_num_heads", std::int64_t{0});
  const Heads q = heads_of(node, query, q_heads);
  const Heads k =
      behind(node, optional_input(inputs, 4), heads_of(node, input(node, inputs, 1), kv_heads));
  const Heads v =
      behind(node, optional_input(inputs, 5), heads_of(node, input(node, inputs, 2), kv_heads));
  if (k.heads != v.heads || k.heads < 1 || q.heads % k.heads != 0 || k.length != v.length ||
      q.size != k.size || q.batch != k.batch || q.batch != v.batch) {
    throw failure(node, fmt::format("queries of {}, keys of {} and values of {} do not fit",
                                    dims_text(q.dims()), dims_text(k.dims()), dims_text(v.dims())));
  }
  const Bias bias(node, inputs, q, k);
  const double otherwise = 1 / std::sqrt(static_cast<double>(q.size));
  const double scale = attribute(*node.node, "scale", static_cast<float>(otherwise));
  const double softcap = attribute(*node.node, "softcap", 0.0F);
  const std::int64_t mode = attribute(*node.node, "qk_matmul_output_mode", std::int64_t{0});
  // Until opset 23 the value behind the mask was 1 and that behind the cap 2.
  Heads y{q.batch, q.heads, q.length, v.size, {}};
  Doubles shown, row(static_cast<std::size_t>(k.length)), added(row.size());
  for (std::int64_t b = 0; b < q.batch; ++b) {
    for (std::int64_t head = 0; head < q.heads; ++head) {
      const std::int64_t from = head / (q.heads / k.heads);
      for (std::int64_t i = 0; i < q.length; ++i) {
        Doubles show(row.size());
        for (std::int64_t j = 0; j < k.length; ++j) {
          const auto at = static_cast<std::size_t>(j);
          double sum = 0;
          for (std::int64_t d = 0; d < q.size; ++d)
            sum += q.row(b, head, i)[d] * k.row(b, from, j)[d];
          sum *= scale;
          if (mode == 0) show[at] = sum;
          if (softcap > 0) sum = std::tanh(sum / softcap) * softcap;
          if (mode == 1 || (mode == 0 && softcap > 0)) show[at] = sum;
          added[at] = bias.at(b, head, i, j);
          row[at] = sum + added[at];
          if (mode == 2) show[at] = row[at];
        }
        softmax(row, added);
        if (mode == 3) show = row;
        shown.insert(shown.end(), show.begin(), show.end());
        for (std::int64_t d = 0; d < v.size; ++d) {
          double sum = 0;
          for (std::int64_t j = 0; j < k.length; ++j) {
            sum += row[static_cast<std::size_t>(j)] * v.row(b, from, j)[d];
          }
          y.values.push_back(sum);
        }
      }
    }
  }
  Tensor output = tensor_of(node, query.type(), y.dims(), y.values);
  if (query.rank() == 3) {
    Tensor flat(query.type(), {y.batch, y.length, y.heads * y.size});
    copy_strided(flat.mutable_raw(), output.raw(), {y.batch, y.length, y.heads, y.size},
                 {y.heads * y.length * y.size, y.size, y.length * y.size, 1},
                 output.element_size());
    output = flat;
  }
  return {output, tensor_of(node, input(node, inputs, 1).type(), k.dims(), k.values),
          tensor_of(node, input(node, inputs, 2).type(), v.dims(), v.values),
          tensor_of(node, query.type(), {q.batch, q.heads, q.length, k.length}, shown)};
}

Tensors rotary_embedding(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& cosines = input(node, inputs, 1);
  const Tensor& sines = input(node, inputs, 2);
  const Tensor& places = optional_input(inputs, 3);
  const Heads heads = heads_of(node, x, attribute(*node.node, "num_heads", std::int64_t{0}));
  std::int64_t rotated = attribute(*node.node, "rotary_embedding_dim", std::int64_t{0});
  if (rotated == 0) rotated = heads.size;
  const std::int64_t half = rotated / 2;
  const std::size_t rank = places.present() ? 2 : 3;  // [place] or [batch][length], then half
  Dims at(static_cast<std::size_t>(heads.batch * heads.length));
  bool fits = rotated % 2 == 0 && rotated <= heads.size && cosines.rank() == rank &&
              cosines.dims() == sines.dims() && cosines.dim(rank - 1) == half;
  if (fits && places.present()) {
    at = integers(node, places.reshaped({places.elements()}));
    fits = static_cast<std::int64_t>(at.size()) == heads.batch * heads.length &&
           std::all_of(at.begin(), at.end(),
                       [&](std::int64_t place) { return place >= 0 && place < cosines.dim(0); });
  } else if (fits) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int64_t>(i);
    fits = cosines.dim(0) == heads.batch && cosines.dim(1) == heads.length;
  }
  if (!fits) {
    throw failure(node, fmt::format("{} and {} do not rotate {} of {}", describe(cosines),
                                    describe(sines), rotated, describe(x)));
  }
  const bool interleaved = attribute(*node.node, "interleaved", std::int64_t{0}) != 0;
  const Doubles cosine = doubles_of(node, cosines), sine = doubles_of(node, sines);
  Doubles y = doubles_of(node, x);
  const bool by_head = x.rank() == 4;  // else [batch][length][heads][size]
  for (std::int64_t b = 0; b < heads.batch; ++b) {
    for (std::int64_t head = 0; head < heads.heads; ++head) {
      for (std::int64_t i = 0; i < heads.length; ++i) {
        const std::int64_t line = by_head ? (b * heads.heads + head) * heads.length + i
                                          : (b * heads.length + i) * heads.heads + head;
        double* const row = y.data() + line * heads.size;
        const std::int64_t place = at[static_cast<std::size_t>(b * heads.length + i)] * half;
        for (std::int64_t d = 0; d < half; ++d) {
          double& one = row[interleaved ? 2 * d : d];
          double& other = row[interleaved ? 2 * d + 1 : half + d];
          const double c = cosine[static_cast<std::size_t>(place + d)];
          const double s = sine[static_cast<std::size_t>(place + d)];
          const double real = c * one - s * other;
          other = s * one + c * other;
          one = real;
        }
      }
    }
  }
  return {tensor_of(node, x.type(), x.dims(), y)};
}

}  // namespace host
}  // namespace gemm64
