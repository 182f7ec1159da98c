// SPDX-License-Identifier: Apache-2.0
// Normalizations of sums: of what a layer skipped and its output, of embeddings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/kernels/float_rows.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// A vector as long as a row of `x`, or absent.
const Tensor& row_parameter(const NodeContext& node, const Tensors& inputs, std::size_t index,
                            const Tensor& x) {
  const Tensor& given = optional_input(inputs, index);
  if (!given.present()) return given;
  require_same_type(node, x, given);
  if (given.dims() != Dims{x.dims().back()}) {
    throw failure(node,
                  fmt::format("its parameter {} does not fit {}", describe(given), describe(x)));
  }
  return given;
}

struct Normalized {
  Tensor values, mean, inverse;
};

/// Rows of mean 0 (where `centered`) and variance 1, scaled by gamma and moved by beta, if any.
template <class T>
Normalized normalized_rows(const Tensor& x, const Tensor& gamma, const Tensor& beta, float epsilon,
                           bool centered) {
  Dims kept = x.dims();
  const std::int64_t length = kept.back();
  kept.back() = 1;
  Normalized result{Tensor(x.type(), x.dims()), Tensor(onnx::TensorProto::FLOAT, kept),
                    Tensor(onnx::TensorProto::FLOAT, kept)};
  for (std::int64_t row = 0; row < result.mean.elements(); ++row) {
    const T* const from = x.values<T>() + row * length;
    T* const to = result.values.template mutable_values<T>() + row * length;
    if constexpr (std::is_same_v<T, float>) {
      const float* const scale = gamma.values<float>();
      const RowStatistics statistics =
          centered
              ? layer_normalize_in_order(from, to, length, scale,
                                         beta.present() ? beta.values<float>() : nullptr, epsilon)
              : rms_normalize_in_order(from, to, length, scale, epsilon);
      result.mean.template mutable_values<float>()[row] = statistics.mean;
      result.inverse.template mutable_values<float>()[row] = statistics.inverse;
      continue;
    }
    const auto count = static_cast<double>(length);
    double mean = 0, squares = 0;
    for (std::int64_t i = 0; centered && i < length; ++i) mean += from[i] / count;
    for (std::int64_t i = 0; i < length; ++i) squares += (from[i] - mean) * (from[i] - mean);
    const double inverse = 1 / std::sqrt(squares / count + static_cast<double>(epsilon));
    for (std::int64_t i = 0; i < length; ++i) {
      const double value = (from[i] - mean) * inverse * gamma.values<T>()[i];
      to[i] = static_cast<T>(beta.present() ? value + beta.values<T>()[i] : value);
    }
    result.mean.template mutable_values<float>()[row] = static_cast<float>(mean);
    result.inverse.template mutable_values<float>()[row] = static_cast<float>(inverse);
  }
  return result;
}

float epsilon_of(const NodeContext& node) { return attribute(*node.node, "epsilon", 1e-12F); }

/// Outputs: the rows, their means and 1 / deviations, and the sums that were normalized.
Tensors of_sum(const NodeContext& node, const Tensors& inputs, std::size_t beta_index,
               std::size_t bias_index, bool centered) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& skip = input(node, inputs, 1);
  input(node, inputs, 2);
  require_same_type(node, x, skip);
  Dims dims;
  if (x.rank() == 0 || !broadcast_dims(skip.dims(), x.dims(), dims) || dims != x.dims()) {
    throw failure(node, fmt::format("{} does not add to {}", describe(skip), describe(x)));
  }
  const Tensor& gamma = row_parameter(node, inputs, 2, x);
  const Tensor none;
  const Tensor& beta = centered ? row_parameter(node, inputs, beta_index, x) : none;
  const Tensor& bias = row_parameter(node, inputs, bias_index, x);
  Tensors results;
  visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor sum(x.type(), x.dims()), skipped(x.type(), x.dims());
    copy_strided(skipped.mutable_raw(), skip.raw(), x.dims(),
                 broadcast_strides(skip.dims(), x.dims()), skip.element_size());
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      T value = x.values<T>()[i] + skipped.values<T>()[i];
      if (bias.present()) value += bias.values<T>()[i % bias.elements()];
      sum.mutable_values<T>()[i] = value;
    }
    const Normalized rows = normalized_rows<T>(sum, gamma, beta, epsilon_of(node), centered);
    results = {rows.values, rows.mean, rows.inverse, sum};
    return 0;
  });
  return results;
}

/// Row `index` of an embedding.
template <class T>
const T* embedding(const NodeContext& node, const Tensor& table, std::int64_t index) {
  if (index < 0 || index >= table.dim(0)) {
    throw failure(node, fmt::format("{} has no row {}", describe(table), index));
  }
  return table.values<T>() + index * table.dim(1);
}

/// The numbers of a batch of sequences, [batch][length] as `like`, or one sequence for all.
Dims numbers(const NodeContext& node, const Tensor& given, const Tensor& like) {
  Dims result = integers(node, given.reshaped({given.elements()}));
  const auto wanted = static_cast<std::size_t>(like.elements());
  const bool repeats = given.rank() == 2 && given.dim(0) == 1 && given.dim(1) == like.dim(1);
  if (!repeats && given.dims() != like.dims()) {
    throw failure(node, fmt::format("{} does not fit {}", describe(given), describe(like)));
  }
  for (std::size_t i = result.size(); i < wanted; ++i) {
    result.push_back(result[i - static_cast<std::size_t>(like.dim(1))]);
  }
  result.resize(wanted);
  return result;
}

}  // namespace

Tensors skip_layer_normalization(const NodeContext& node, const Tensors& inputs) {
  return of_sum(node, inputs, 3, 4, true);
}

Tensors skip_simplified_layer_normalization(const NodeContext& node, const Tensors& inputs) {
  return of_sum(node, inputs, 3, 3, false);
}

Tensors embed_layer_normalization(const NodeContext& node, const Tensors& inputs) {
  const Tensor& ids = input(node, inputs, 0);
  const Tensor& words = input(node, inputs, 2);
  const Tensor& places = input(node, inputs, 3);
  const Tensor& segments = optional_input(inputs, 4);
  if (ids.rank() != 2 || words.rank() != 2) {
    throw failure(node,
                  fmt::format("{} of {}; both must be matrices", describe(ids), describe(words)));
  }
  for (const Tensor* table : {&places, &segments}) {
    if (!table->present()) continue;
    require_same_type(node, words, *table);
    if (table->rank() != 2 || table->dim(1) != words.dim(1)) {
      throw failure(node, fmt::format("its embeddings {} and {} do not fit together",
                                      describe(words), describe(*table)));
    }
  }
  const Dims word = numbers(node, ids, ids);
  Dims segment(word.size()), place(word.size());
  if (optional_input(inputs, 1).present()) segment = numbers(node, optional_input(inputs, 1), ids);
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[i] = static_cast<std::int64_t>(i) % ids.dim(1);
  }
  if (optional_input(inputs, 8).present()) place = numbers(node, optional_input(inputs, 8), ids);
  input(node, inputs, 5);
  input(node, inputs, 6);
  const Tensor& gamma = row_parameter(node, inputs, 5, words);
  const Tensor& beta = row_parameter(node, inputs, 6, words);
  const Tensor& mask = optional_input(inputs, 7);
  Tensor counts(onnx::TensorProto::INT32, {ids.dim(0)});
  std::fill_n(counts.mutable_values<std::int32_t>(), counts.elements(), 0);
  if (mask.present()) {
    const Dims counted = numbers(node, mask, ids);
    for (std::size_t i = 0; i < counted.size(); ++i) {
      counts.mutable_values<std::int32_t>()[static_cast<std::int64_t>(i) / ids.dim(1)] +=
          counted[i] == 1 ? 1 : 0;
    }
  }
  Tensors results;
  visit_floats(node, words.type(), [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t length = words.dim(1);
    Tensor sum(words.type(), {ids.dim(0), ids.dim(1), length});
    for (std::size_t i = 0; i < word.size(); ++i) {
      const T* const a = embedding<T>(node, words, word[i]);
      const T* const b = embedding<T>(node, places, place[i]);
      const T* const c = segments.present() ? embedding<T>(node, segments, segment[i]) : nullptr;
      T* const to = sum.mutable_values<T>() + static_cast<std::int64_t>(i) * length;
      for (std::int64_t d = 0; d < length; ++d) to[d] = a[d] + b[d] + (c == nullptr ? T{0} : c[d]);
    }
    results = {normalized_rows<T>(sum, gamma, beta, epsilon_of(node), true).values, counts, sum};
    return 0;
  });
  return results;
}

}  // namespace host
}  // namespace gemm64
