// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's own forms of attention: Attention, QAttention, MultiHeadAttention,
// GroupQueryAttention, and its RotaryEmbedding.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/kernels/attention_heads.hpp"
#include "host/kernels/integer_product.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::int64_t number(const NodeContext& node, const char* name, std::int64_t otherwise = 0) {
  return attribute(*node.node, name, otherwise);
}

/// Refuses inputs and attributes that say more than is computed here.
void refuse_inputs(const NodeContext& node, const Tensors& inputs, std::size_t first,
                   std::size_t last, const char* what) {
  for (std::size_t i = first; i <= last; ++i) {
    if (!optional_input(inputs, i).present()) continue;
    throw failure(node, fmt::format("input {}, {}, is not supported", i, what));
  }
}

void refuse_attribute(const NodeContext& node, const char* name, std::int64_t otherwise = 0) {
  if (number(node, name, otherwise) == otherwise) return;
  throw failure(node, fmt::format("{} = {} is not supported", name, number(node, name)));
}

void refuse_output(const NodeContext& node, int index) {
  if (index >= node.node->output_size() || node.node->output(index).empty()) return;
  throw failure(node, fmt::format("output {} is not supported", index));
}

std::int64_t positive(const NodeContext& node, const char* name) {
  const std::int64_t value = number(node, name);
  if (value < 1) throw failure(node, fmt::format("{} is {}; it must be positive", name, value));
  return value;
}

double scale_of(const NodeContext& node, const Heads& q) {
  const double given = attribute(*node.node, "scale", 0.0F);
  return given == 0 ? 1 / std::sqrt(static_cast<double>(q.size)) : given;
}

/// What is added to all heads' products, of [1 or batch][1 or heads][queries][keys].
class AddedBias {
 public:
  AddedBias(const NodeContext& node, const Tensor& given, const Dims& wanted) {
    if (!given.present()) return;
    Dims joined;
    if (given.rank() != 4 || !broadcast_dims(given.dims(), wanted, joined) || joined != wanted) {
      throw failure(node, fmt::format("a bias of {} for {}", describe(given), dims_text(wanted)));
    }
    strides_ = broadcast_strides(given.dims(), wanted);
    values_ = doubles_of(node, given);
  }

  double at(std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) const {
    if (values_.empty()) return 0;
    return values_[static_cast<std::size_t>(b * strides_[0] + head * strides_[1] + i * strides_[2] +
                                            j * strides_[3])];
  }

 private:
  Doubles values_;
  Dims strides_;
};

/// Which keys count: the end (and start) of each sequence, or a number for each key, or for each
/// key of each query. Those that do not get a large negative number, not minus infinity.
class Mask {
 public:
  Mask(const NodeContext& node, const Tensor& given, const Dims& wanted)
      : filter_(attribute(*node.node, "mask_filter_value", -10000.0F)), wanted_(wanted) {
    if (!given.present()) return;
    const std::int64_t batch = wanted[0];
    values_ = integers(node, given.reshaped({given.elements()}));
    rank_ = given.rank();
    const Dims& dims = given.dims();
    if (dims != Dims{batch} && dims != Dims{2 * batch} && dims != Dims{batch, wanted[3]} &&
        dims != Dims{batch, wanted[2], wanted[3]}) {
      throw failure(node, fmt::format("a mask of {} for {} is not supported", describe(given),
                                      dims_text(wanted)));
    }
  }

  double at(std::int64_t b, std::int64_t i, std::int64_t j) const {
    if (rank_ == 0) return 0;
    if (rank_ == 1) {
      const bool has_starts = static_cast<std::int64_t>(values_.size()) > wanted_[0];
      const bool counts = j < value(b) && (!has_starts || j >= value(wanted_[0] + b));
      return counts ? 0 : filter_;
    }
    const std::int64_t row = rank_ == 2 ? b : b * wanted_[2] + i;
    return value(row * wanted_[3] + j) > 0 ? 0 : filter_;
  }

 private:
  std::int64_t value(std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; }

  double filter_;
  Dims wanted_, values_;
  std::size_t rank_ = 0;
};

/// Attention with a mask and a bias; where `unidirectional`, of no later keys. Where the mask
/// leaves a query no key, what remains of the products beside its large number is told by their
/// rounding to float32, ONNX Runtime's.
Heads masked(const NodeContext& node, const Heads& q, const Heads& k, const Heads& v,
             const Tensor& mask_given, const Tensor& bias_given) {
  const Dims wanted{q.batch, q.heads, q.length, k.length};
  const Mask mask(node, mask_given, wanted);
  const AddedBias bias(node, bias_given, wanted);
  const bool is_causal = number(node, "unidirectional") != 0;
  const std::int64_t past = k.length - q.length;
  return attend(
      node, q, k, v, scale_of(node, q), 0,
      [&](std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) {
        if (is_causal && j > i + past) return kNever;
        return mask.at(b, i, j) + bias.at(b, head, i, j);
      },
      [](std::int64_t stage, Doubles& row) {
        if (stage != 2) return;
        for (double& value : row) value = static_cast<float>(value);
      });
}

/// `count` columns from `first` on of a [batch][length][columns], as heads.
Heads columns(const Doubles& values, const Dims& dims, std::int64_t first, std::int64_t count,
              std::int64_t heads) {
  Heads result{dims[0], heads, dims[1], count / heads, {}};
  for (std::int64_t b = 0; b < dims[0]; ++b) {
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t i = 0; i < dims[1]; ++i) {
        const double* const row =
            values.data() + (b * dims[1] + i) * dims[2] + first + head * result.size;
        result.values.insert(result.values.end(), row, row + result.size);
      }
    }
  }
  return result;
}

/// Half of a [2][batch][heads][length][size].
Tensor half_of(const NodeContext& node, const Tensor& both, std::int64_t index) {
  if (!both.present()) return both;
  if (both.rank() != 5 || both.dim(0) != 2) {
    throw failure(node, fmt::format("a past of {}", describe(both)));
  }
  return rows(both, index, 1).reshaped({both.dim(1), both.dim(2), both.dim(3), both.dim(4)});
}

/// Attention of queries, keys and values that stand side by side, [batch][length][columns].
Tensors of_projected(const NodeContext& node, DataType type, const Doubles& projected,
                     const Dims& dims, const Dims& sizes, const Tensor& mask, const Tensor& past,
                     const Tensor& bias) {
  const std::int64_t heads = positive(node, "num_heads");
  for (const std::int64_t size : sizes) {
    if (size < 1 || size % heads != 0) {
      throw failure(node, fmt::format("{} heads do not divide {} columns", heads, size));
    }
  }
  if (sizes[0] + sizes[1] + sizes[2] != dims[2]) {
    throw failure(node, fmt::format("{} columns for queries, keys and values of {}, {} and {}",
                                    dims[2], sizes[0], sizes[1], sizes[2]));
  }
  const Heads q = columns(projected, dims, 0, sizes[0], heads);
  const Heads k =
      behind(node, half_of(node, past, 0), columns(projected, dims, sizes[0], sizes[1], heads));
  const Heads v = behind(node, half_of(node, past, 1),
                         columns(projected, dims, sizes[0] + sizes[1], sizes[2], heads));
  const Heads y = masked(node, q, k, v, mask, bias);
  Tensors results{flat_tensor(node, type, y)};
  if (node.node->output_size() > 1) {
    if (k.size != v.size) throw failure(node, "keys and values of different sizes have no present");
    Doubles both = k.values;
    both.insert(both.end(), v.values.begin(), v.values.end());
    results.push_back(tensor_of(node, type, {2, k.batch, k.heads, k.length, k.size}, both));
  }
  return results;
}

void require_projection(const NodeContext& node, const Tensor& x, const Tensor& weights,
                        const Tensor& bias) {
  if (x.rank() != 3 || weights.rank() != 2 || weights.dim(0) != x.dim(2)) {
    throw failure(node, fmt::format("its input is {} and its weights are {}", describe(x),
                                    describe(weights)));
  }
  if (bias.present() && bias.dims() != Dims{weights.dim(1)}) {
    throw failure(node,
                  fmt::format("its bias {} does not fit {}", describe(bias), describe(weights)));
  }
}

}  // namespace

Tensors fused_attention(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& weights = input(node, inputs, 1);
  const Tensor& bias = optional_input(inputs, 2);
  refuse_inputs(node, inputs, 6, 6, "past_sequence_length");
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) refuse_attribute(node, name);
  require_projection(node, x, weights, bias);
  const std::int64_t columns = weights.dim(1), depth = x.dim(2), rows = x.dim(0) * x.dim(1);
  Dims sizes{columns / 3, columns / 3, columns / 3};
  if (const auto* const given = find_attribute(node, "qkv_hidden_sizes")) {
    sizes.assign(given->ints().begin(), given->ints().end());
    if (sizes.size() != 3) throw failure(node, "qkv_hidden_sizes does not have three sizes");
  }
  const Doubles a = doubles_of(node, x), w = doubles_of(node, weights);
  const Doubles start =
      bias.present() ? doubles_of(node, bias) : Doubles(static_cast<std::size_t>(columns));
  Doubles projected;
  for (std::int64_t row = 0; row < rows; ++row) {
    Doubles sums = start;
    for (std::int64_t d = 0; d < depth; ++d) {
      const double value = a[static_cast<std::size_t>(row * depth + d)];
      const double* const from = w.data() + d * columns;
      for (std::int64_t c = 0; c < columns; ++c)
        sums[static_cast<std::size_t>(c)] += value * from[c];
    }
    projected.insert(projected.end(), sums.begin(), sums.end());
  }
  return of_projected(node, x.type(), projected, {x.dim(0), x.dim(1), columns}, sizes,
                      optional_input(inputs, 3), optional_input(inputs, 4),
                      optional_input(inputs, 5));
}

/// The products of 8-bit values are exact sums; each becomes a float once.
Tensors quantized_attention(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& weights = input(node, inputs, 1);
  const Tensor& bias = input(node, inputs, 2);
  const Tensor& scale = input(node, inputs, 3);
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) refuse_attribute(node, name);
  require_projection(node, x, weights, bias);
  const std::int64_t columns = weights.dim(1);
  const Quantization of_x{scales_of(node, scale).front(),
                          zeros_of(node, optional_input(inputs, 6), x.type()).front()};
  const std::vector<float> w_scales = scales_of(node, input(node, inputs, 4));
  if (w_scales.size() != 1 && static_cast<std::int64_t>(w_scales.size()) != columns) {
    throw failure(node, fmt::format("{} scales do not fit {} columns", w_scales.size(), columns));
  }
  const Tensor sums = matrix_sums(
      node, {x, {of_x.zero}}, {weights, zeros_of(node, optional_input(inputs, 7), weights.type())});
  const Doubles addend = doubles_of(node, bias);
  Doubles projected;
  for (std::int64_t i = 0; i < sums.elements(); ++i) {
    const auto c = static_cast<std::size_t>(i % columns);
    const float by = of_x.scale * w_scales[w_scales.size() == 1 ? 0 : c];
    projected.push_back(static_cast<double>(
        static_cast<float>(sums.values<std::int32_t>()[i]) * by + static_cast<float>(addend[c])));
  }
  return of_projected(node, scale.type(), projected, {x.dim(0), x.dim(1), columns},
                      {columns / 3, columns / 3, columns / 3}, optional_input(inputs, 5),
                      optional_input(inputs, 8), Tensor());
}

Tensors multi_head_attention(const NodeContext& node, const Tensors& inputs) {
  const Tensor& query = input(node, inputs, 0);
  const std::int64_t heads = positive(node, "num_heads");
  refuse_inputs(node, inputs, 8, 8, "past_sequence_length");
  refuse_inputs(node, inputs, 9, 9, "cache_indirection");
  refuse_output(node, 3);
  const Tensor& key = optional_input(inputs, 1);
  const Tensor& value = optional_input(inputs, 2);
  if (query.rank() != 3 || !key.present() || !value.present()) {
    throw failure(node, "queries, keys and values packed into one input are not supported");
  }
  Heads q = heads_of(node, query, heads);
  Heads k = heads_of(node, key, heads), v = heads_of(node, value, heads);
  if (const Tensor& bias = optional_input(inputs, 3); bias.present()) {
    const Doubles values = doubles_of(node, bias);
    if (bias.rank() != 1 || bias.dim(0) != heads * (q.size + k.size + v.size)) {
      throw failure(node, fmt::format("a bias of {} for queries, keys and values", describe(bias)));
    }
    const double* from = values.data();
    for (Heads* const part : {&q, &k, &v}) {
      const bool is_cached = (part == &k && key.rank() == 4) || (part == &v && value.rank() == 4);
      for (std::int64_t b = 0; !is_cached && b < part->batch; ++b) {
        for (std::int64_t head = 0; head < heads; ++head) {
          for (std::int64_t i = 0; i < part->length; ++i) {
            double* const row = part->row(b, head, i);
            for (std::int64_t d = 0; d < part->size; ++d) row[d] += from[head * part->size + d];
          }
        }
      }
      from += heads * part->size;
    }
  }
  k = behind(node, optional_input(inputs, 6), k);
  v = behind(node, optional_input(inputs, 7), v);
  const Heads y = masked(node, q, k, v, optional_input(inputs, 4), optional_input(inputs, 5));
  return {flat_tensor(node, query.type(), y), tensor_of(node, key.type(), k.dims(), k.values),
          tensor_of(node, value.type(), v.dims(), v.values)};
}

namespace {

/// Tables of cosines and sines, and rotations by them.
struct Rotation {
  Doubles cosines, sines;
  std::int64_t places = 0, rotated = 0;
  bool interleaved = false;

  void apply(const NodeContext& node, Heads& heads, const Dims& at) const {
    const bool fits = static_cast<std::int64_t>(at.size()) == heads.batch * heads.length &&
                      std::all_of(at.begin(), at.end(),
                                  [&](std::int64_t place) { return place >= 0 && place < places; });
    if (rotated > heads.size || !fits) {
      throw failure(node, fmt::format("{} places of {} values do not rotate {}", places, rotated,
                                      dims_text(heads.dims())));
    }
    rotate(heads, cosines, sines, at, rotated, interleaved);
  }
};

Rotation rotation_of(const NodeContext& node, const Tensor& cosines, const Tensor& sines,
                     const char* interleaved) {
  if (cosines.rank() != 2 || cosines.dims() != sines.dims()) {
    throw failure(
        node, fmt::format("{} and {} are no tables of angles", describe(cosines), describe(sines)));
  }
  return {doubles_of(node, cosines), doubles_of(node, sines), cosines.dim(0), 2 * cosines.dim(1),
          number(node, interleaved) != 0};
}

/// The place of each value of a sequence: given one by one, or counted from one for all.
Dims places_of(const NodeContext& node, const Tensor& given, const Heads& heads) {
  Dims at = integers(node, given.reshaped({given.elements()}));
  if (at.size() != 1 || given.rank() > 1) return at;
  const std::int64_t first = at[0];
  at.clear();
  if (first < 0 || first > std::numeric_limits<std::int32_t>::max()) return at;  // fits no table
  for (std::int64_t i = 0; i < heads.batch * heads.length; ++i) {
    at.push_back(first + i % heads.length);
  }
  return at;
}

/// The new keys (or values) of each sequence behind its own number of old ones.
Heads joined(const NodeContext& node, const Tensor& past, const Heads& now, const Dims& lengths,
             std::int64_t total) {
  Heads result{now.batch, now.heads, total, now.size, {}};
  result.values.resize(static_cast<std::size_t>(now.batch * now.heads * total * now.size));
  const bool has_past = past.present() && past.elements() > 0;
  if (past.present() && (past.rank() != 4 || past.dim(0) != now.batch || past.dim(1) != now.heads ||
                         past.dim(3) != now.size)) {
    throw failure(node,
                  fmt::format("a past of {} before {}", describe(past), dims_text(now.dims())));
  }
  const Heads before = has_past ? heads_of(node, past, now.heads) : Heads{};
  for (std::int64_t b = 0; b < now.batch; ++b) {
    const std::int64_t old = lengths[static_cast<std::size_t>(b)];
    if (old < 0 || old > before.length || old + now.length > total) {
      throw failure(node, fmt::format("{} keys behind {} of a past of {}; there is room for {}",
                                      now.length, old, before.length, total));
    }
    for (std::int64_t head = 0; head < now.heads; ++head) {
      if (old > 0) std::copy_n(before.row(b, head, 0), old * now.size, result.row(b, head, 0));
      std::copy_n(now.row(b, head, 0), now.length * now.size, result.row(b, head, old));
    }
  }
  return result;
}

}  // namespace

Tensors group_query_attention(const NodeContext& node, const Tensors& inputs) {
  const Tensor& query = input(node, inputs, 0);
  refuse_inputs(node, inputs, 11, 11, "head_sink");
  refuse_inputs(node, inputs, 12, 13, "the scale of a quantized cache");
  refuse_inputs(node, inputs, 14, 15, "weights of a normalization");
  if (number(node, "smooth_softmax", -1) > 0) refuse_attribute(node, "smooth_softmax");
  for (const char* name : {"sliding_window_cache", "qk_output"}) refuse_attribute(node, name);
  refuse_attribute(node, "causal", 1);
  refuse_output(node, 3);
  const std::int64_t q_heads = positive(node, "num_heads");
  const std::int64_t kv_heads = positive(node, "kv_num_heads");
  const Tensor& key = optional_input(inputs, 1);
  const Tensor& value = optional_input(inputs, 2);
  if (query.rank() != 3 || key.present() != value.present()) {
    throw failure(node, fmt::format("queries of {} without keys or values", describe(query)));
  }
  Heads q, k, v;
  if (key.present()) {
    q = heads_of(node, query, q_heads);
    k = heads_of(node, key, kv_heads);
    v = heads_of(node, value, kv_heads);
  } else {
    const std::int64_t all = q_heads + 2 * kv_heads;
    if (query.dim(2) % all != 0) {
      throw failure(node, fmt::format("{} is no sequence of {} heads", describe(query), all));
    }
    const std::int64_t size = query.dim(2) / all;
    const Doubles values = doubles_of(node, query);
    q = columns(values, query.dims(), 0, q_heads * size, q_heads);
    k = columns(values, query.dims(), q_heads * size, kv_heads * size, kv_heads);
    v = columns(values, query.dims(), (q_heads + kv_heads) * size, kv_heads * size, kv_heads);
  }
  const Tensor& past = optional_input(inputs, 3);
  const Tensor& given_lengths = input(node, inputs, 5);
  const Dims ends = integers(node, given_lengths.reshaped({given_lengths.elements()}));
  const Tensor& given_total = input(node, inputs, 6);
  const Dims totals = integers(node, given_total.reshaped({given_total.elements()}));
  if (static_cast<std::int64_t>(ends.size()) != q.batch || totals.size() != 1) {
    throw failure(node, fmt::format("lengths of {} and {} for a batch of {}",
                                    describe(given_lengths), describe(given_total), q.batch));
  }
  // A prompt's sequences may be shorter than the batch's longest; further ones are appended.
  const std::int64_t total = totals[0];
  const std::int64_t old = past.present() && past.rank() == 4 ? past.dim(2) : 0;
  if (total < q.length || total > old + q.length) {
    throw failure(
        node, fmt::format("{} keys in all for {} queries and a past of {}", total, q.length, old));
  }
  Dims lengths;
  for (const std::int64_t end : ends) {
    if (end < 0 || end >= total) {
      throw failure(node, fmt::format("a sequence that ends at {} of {}", end, total));
    }
    lengths.push_back(total == q.length ? 0 : end + 1 - q.length);
  }
  if (number(node, "do_rotary") != 0) {
    const Rotation rotation =
        rotation_of(node, input(node, inputs, 7), input(node, inputs, 8), "rotary_interleaved");
    Dims at;
    if (const Tensor& places = optional_input(inputs, 9); places.present()) {
      at = integers(node, places.reshaped({places.elements()}));
    } else {
      for (const std::int64_t length : lengths) {
        for (std::int64_t i = 0; i < q.length; ++i) at.push_back(length + i);
      }
    }
    rotation.apply(node, q, at);
    rotation.apply(node, k, at);
  }
  const std::int64_t room = std::max(old, total);
  const Heads keys = joined(node, past, k, lengths, room);
  const Heads values = joined(node, optional_input(inputs, 4), v, lengths, room);
  Tensor bias_given = optional_input(inputs, 10);
  const std::int64_t bias_keys =
      bias_given.present() && bias_given.rank() == 4 ? bias_given.dim(3) : total;
  const AddedBias bias(node, bias_given, {q.batch, q.heads, q.length, bias_keys});
  const std::int64_t window = number(node, "local_window_size", -1);
  const Heads y =
      attend(node, q, keys, values, scale_of(node, q), attribute(*node.node, "softcap", 0.0F),
             [&](std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j) {
               const std::int64_t place = lengths[static_cast<std::size_t>(b)] + i;
               if (j > place || j >= bias_keys || (window > 0 && j <= place - window))
                 return kNever;
               return bias.at(b, head, i, j);
             });
  return {flat_tensor(node, query.type(), y),
          tensor_of(node, query.type(), keys.dims(), keys.values),
          tensor_of(node, query.type(), values.dims(), values.values)};
}

Tensors fused_rotary_embedding(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Rotation rotation =
      rotation_of(node, input(node, inputs, 2), input(node, inputs, 3), "interleaved");
  refuse_attribute(node, "is_packed_batching");
  std::int64_t heads = number(node, "num_heads");
  if (heads == 0 && x.rank() == 3) {
    if (rotation.rotated < 1) throw failure(node, "its tables of angles are empty");
    heads = x.dim(2) / rotation.rotated;
  }
  Heads parts = heads_of(node, x, heads);
  rotation.apply(node, parts, places_of(node, input(node, inputs, 1), parts));
  return {tensor_of(node, x.type(), x.dims(), x.rank() == 3 ? flat(parts) : parts.values)};
}

}  // namespace host
}  // namespace gemm64
