// SPDX-License-Identifier: Apache-2.0
// What the forms of attention share: sequences cut into heads, in double.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "host/kernels/operators.hpp"

namespace gemm64 {

using Doubles = std::vector<double>;

/// The values of a tensor of floats of any size. Throws UsageError where it holds none.
Doubles doubles_of(const NodeContext& node, const Tensor& tensor);
/// A tensor of floats, each rounded once.
Tensor tensor_of(const NodeContext& node, DataType type, Dims dims, const Doubles& values);

/// Heads of a sequence: [batch][heads][length][size].
struct Heads {
  std::int64_t batch = 0, heads = 0, length = 0, size = 0;
  Doubles values;

  const double* row(std::int64_t b, std::int64_t head, std::int64_t i) const {
    return values.data() + ((b * heads + head) * length + i) * size;
  }
  double* row(std::int64_t b, std::int64_t head, std::int64_t i) {
    return values.data() + ((b * heads + head) * length + i) * size;
  }
  Dims dims() const { return {batch, heads, length, size}; }
};

/// Of [batch][heads][length][size], or of [batch][length][heads * size].
Heads heads_of(const NodeContext& node, const Tensor& tensor, std::int64_t heads);
/// Their values as [batch][length][heads * size].
Doubles flat(const Heads& heads);
Tensor flat_tensor(const NodeContext& node, DataType type, const Heads& heads);

/// The heads of the past before those that are new.
Heads behind(const NodeContext& node, const Tensor& past, const Heads& now);

/// Turns the first `rotated` values of each row by the angles whose cosines and sines stand in row
/// places[batch * length + i] of the tables, rotated / 2 in each. Pairs are neighbours where
/// `interleaved`, else a half apart.
void rotate(Heads& heads, const Doubles& cosines, const Doubles& sines, const Dims& places,
            std::int64_t rotated, bool interleaved);

/// What is added to the product of query i with key j of a head.
using KeyBias =
    std::function<double(std::int64_t b, std::int64_t head, std::int64_t i, std::int64_t j)>;

/// Sees, and may change, the row of a query: 0 the scaled products, 1 capped, 2 biased, 3 their
/// softmax.
using RowSeen = std::function<void(std::int64_t stage, Doubles& row)>;

/// Softmax of the biased, scaled products of queries and keys, times the values; zeros where the
/// bias leaves a query no key. Several heads of queries may share one of keys. A cap of 0 is none.
/// Throws UsageError where sizes do not fit.
Heads attend(const NodeContext& node, const Heads& q, const Heads& k, const Heads& v, double scale,
             double cap, const KeyBias& bias, const RowSeen& seen = nullptr);

}  // namespace gemm64
