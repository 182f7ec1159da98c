// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/attention_heads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace {

template <class Function>
auto visit_all_floats(const NodeContext& node, DataType type, Function function) {
  return visit_types<float, double, Eigen::half, Eigen::bfloat16>(node, type, function);
}

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

Doubles flat(const Heads& heads) {
  Doubles result;
  result.reserve(heads.values.size());
  for (std::int64_t b = 0; b < heads.batch; ++b) {
    for (std::int64_t i = 0; i < heads.length; ++i) {
      for (std::int64_t head = 0; head < heads.heads; ++head) {
        const double* const row = heads.row(b, head, i);
        result.insert(result.end(), row, row + heads.size);
      }
    }
  }
  return result;
}

Tensor flat_tensor(const NodeContext& node, DataType type, const Heads& heads) {
  return tensor_of(node, type, {heads.batch, heads.length, heads.heads * heads.size}, flat(heads));
}

void rotate(Heads& heads, const Doubles& cosines, const Doubles& sines, const Dims& places,
            std::int64_t rotated, bool interleaved) {
  const std::int64_t half = rotated / 2;
  for (std::int64_t b = 0; b < heads.batch; ++b) {
    for (std::int64_t head = 0; head < heads.heads; ++head) {
      for (std::int64_t i = 0; i < heads.length; ++i) {
        double* const row = heads.row(b, head, i);
        const std::int64_t place = places[static_cast<std::size_t>(b * heads.length + i)] * half;
        for (std::int64_t d = 0; d < half; ++d) {
          double& one = row[interleaved ? 2 * d : d];
          double& other = row[interleaved ? 2 * d + 1 : half + d];
          const double c = cosines[static_cast<std::size_t>(place + d)];
          const double s = sines[static_cast<std::size_t>(place + d)];
          const double real = c * one - s * other;
          other = s * one + c * other;
          one = real;
        }
      }
    }
  }
}

Heads attend(const NodeContext& node, const Heads& q, const Heads& k, const Heads& v, double scale,
             double cap, const KeyBias& bias, const RowSeen& seen) {
  if (k.heads != v.heads || k.heads < 1 || q.heads % k.heads != 0 || k.length != v.length ||
      q.size != k.size || q.batch != k.batch || q.batch != v.batch) {
    throw failure(node, fmt::format("queries of {}, keys of {} and values of {} do not fit",
                                    dims_text(q.dims()), dims_text(k.dims()), dims_text(v.dims())));
  }
  const auto see = [&](std::int64_t stage, Doubles& row) {
    if (seen) seen(stage, row);
  };
  Heads y{q.batch, q.heads, q.length, v.size, {}};
  Doubles row(static_cast<std::size_t>(k.length)), added(row.size());
  for (std::int64_t b = 0; b < q.batch; ++b) {
    for (std::int64_t head = 0; head < q.heads; ++head) {
      const std::int64_t from = head / (q.heads / k.heads);
      for (std::int64_t i = 0; i < q.length; ++i) {
        for (std::int64_t j = 0; j < k.length; ++j) {
          double sum = 0;
          for (std::int64_t d = 0; d < q.size; ++d)
            sum += q.row(b, head, i)[d] * k.row(b, from, j)[d];
          row[static_cast<std::size_t>(j)] = sum * scale;
          added[static_cast<std::size_t>(j)] = bias(b, head, i, j);
        }
        see(0, row);
        if (cap > 0) {
          for (double& value : row) value = std::tanh(value / cap) * cap;
        }
        see(1, row);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] += added[j];
        see(2, row);
        softmax(row, added);
        see(3, row);
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
  return y;
}

}  // namespace gemm64
