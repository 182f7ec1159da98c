// SPDX-License-Identifier: Apache-2.0
// Attention as one operator, and what stands before it: Attention, RotaryEmbedding. Computed in
// double; 16-bit floats are rounded once, at the end.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <vector>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/attention_heads.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"

namespace gemm64 {
namespace host {
namespace {

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
  const Bias bias(node, inputs, q, k);
  const double otherwise = 1 / std::sqrt(static_cast<double>(q.size));
  const double scale = attribute(*node.node, "scale", static_cast<float>(otherwise));
  const double softcap = attribute(*node.node, "softcap", 0.0F);
  // Until opset 23 the value behind the mask was 1 and that behind the cap 2.
  const std::int64_t mode = attribute(*node.node, "qk_matmul_output_mode", std::int64_t{0});
  const std::int64_t stage = mode == 0 && softcap > 0 ? 1 : mode;
  Doubles shown;
  const Heads y = attend(
      node, q, k, v, scale, softcap,
      [&](std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) {
        return bias.at(b, head, i, j);
      },
      [&](std::int64_t at, const Doubles& row) {
        if (at == stage) shown.insert(shown.end(), row.begin(), row.end());
      });
  const Tensor output = query.rank() == 3 ? flat_tensor(node, query.type(), y)
                                          : tensor_of(node, query.type(), y.dims(), y.values);
  return {output, tensor_of(node, input(node, inputs, 1).type(), k.dims(), k.values),
          tensor_of(node, input(node, inputs, 2).type(), v.dims(), v.values),
          tensor_of(node, query.type(), {q.batch, q.heads, q.length, k.length}, shown)};
}

Tensors rotary_embedding(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& cosines = input(node, inputs, 1);
  const Tensor& sines = input(node, inputs, 2);
  const Tensor& places = optional_input(inputs, 3);
  Heads heads = heads_of(node, x, attribute(*node.node, "num_heads", std::int64_t{0}));
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
  rotate(heads, doubles_of(node, cosines), doubles_of(node, sines), at, rotated,
         attribute(*node.node, "interleaved", std::int64_t{0}) != 0);
  return {tensor_of(node, x.type(), x.dims(), x.rank() == 3 ? flat(heads) : heads.values)};
}

}  // namespace host
}  // namespace gemm64
