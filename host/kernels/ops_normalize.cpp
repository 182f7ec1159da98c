// SPDX-License-Identifier: Apache-2.0
// BatchNormalization, LRN, Softmax and LogSoftmax.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "host/kernels/float_rows.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

std::int64_t product(const Dims& dims, std::size_t begin, std::size_t end) {
  return std::accumulate(dims.begin() + static_cast<std::ptrdiff_t>(begin),
                         dims.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{1},
                         std::multiplies<>());
}

/// Mean and variance of each channel over the batch.
template <class T>
std::pair<Tensor, Tensor> statistics_of(const Tensor& x) {
  const std::int64_t channels = x.dim(1);
  const std::int64_t plane = product(x.dims(), 2, x.rank());
  const auto count = static_cast<double>(x.dim(0) * plane);
  Tensor means(x.type(), {channels});
  Tensor variances(x.type(), {channels});
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto sum_of = [&](auto term) {
      double sum = 0;
      for (std::int64_t image = 0; image < x.dim(0); ++image) {
        const T* from = x.values<T>() + (image * channels + channel) * plane;
        for (std::int64_t i = 0; i < plane; ++i) sum += term(static_cast<double>(from[i]));
      }
      return sum;
    };
    const double mean = sum_of([](double value) { return value; }) / count;
    const double variance =
        sum_of([mean](double value) { return (value - mean) * (value - mean); }) / count;
    means.mutable_values<T>()[channel] = static_cast<T>(mean);
    variances.mutable_values<T>()[channel] = static_cast<T>(variance);
  }
  return {means, variances};
}

/// `momentum` of a running statistic, the rest of this batch's.
template <class T>
Tensor running(const Tensor& before, const Tensor& now, double momentum) {
  Tensor result(now.type(), now.dims());
  for (std::int64_t i = 0; i < now.elements(); ++i) {
    result.mutable_values<T>()[i] =
        static_cast<T>(static_cast<double>(before.values<T>()[i]) * momentum +
                       static_cast<double>(now.values<T>()[i]) * (1 - momentum));
  }
  return result;
}

template <class T>
Tensor batch_normalization_of(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = inputs[0];
  const T epsilon = static_cast<T>(attribute(*node.node, "epsilon", 1e-5F));
  const std::int64_t channels = x.dim(1);
  const std::int64_t plane = product(x.dims(), 2, x.rank());
  Tensor result(x.type(), x.dims());
  const T* from = x.values<T>();
  T* to = result.mutable_values<T>();
  for (std::int64_t row = 0; row < x.dim(0) * channels; ++row) {
    const auto parameter = [&](std::size_t index) {
      return inputs[index].values<T>()[row % channels];
    };
    // A factor and an addend for each channel, as in ONNX Runtime.
    const T scale = parameter(1) * (T{1} / std::sqrt(parameter(4) + epsilon));
    const T shift = parameter(2) - parameter(3) * scale;
    for (std::int64_t i = row * plane; i < (row + 1) * plane; ++i) to[i] = from[i] * scale + shift;
  }
  return result;
}

}  // namespace

Tensors batch_normalization(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const bool training = attribute(*node.node, "training_mode", std::int64_t{0}) != 0;
  if (!training && node.node->output_size() > 1) {
    throw failure(
        node, fmt::format("it is in training mode, in the form of opset {}; it is computed from "
                          "opset 14 on",
                          node.opset));
  }
  if (attribute(*node.node, "spatial", std::int64_t{1}) == 0) {
    throw failure(node, "spatial=0 is not supported");
  }
  if (x.rank() < 2) throw failure(node, fmt::format("its input, {}, has no channels", describe(x)));
  for (std::size_t i = 1; i < 5; ++i) {
    const Tensor& parameter = input(node, inputs, i);
    require_same_type(node, x, parameter);
    if (parameter.dims() != Dims{x.dim(1)}) {
      throw failure(node, fmt::format("its input number {} is {}; {} has {} channels", i + 1,
                                      describe(parameter), describe(x), x.dim(1)));
    }
  }
  return visit_floats(node, x.type(), [&](auto zero) -> Tensors {
    using T = decltype(zero);
    if (!training) return {batch_normalization_of<T>(node, inputs)};
    const auto momentum = static_cast<double>(attribute(*node.node, "momentum", 0.9F));
    const auto [mean, variance] = statistics_of<T>(x);
    return {batch_normalization_of<T>(node, {x, inputs[1], inputs[2], mean, variance}),
            running<T>(inputs[3], mean, momentum), running<T>(inputs[4], variance, momentum)};
  });
}

namespace {

template <class T>
Tensor lrn_of(const NodeContext& node, const Tensor& x) {
  const std::int64_t size = attribute(*node.node, "size", std::int64_t{0});
  if (size < 1) throw failure(node, fmt::format("its size is {}, it must be 1 or more", size));
  const double alpha = static_cast<double>(attribute(*node.node, "alpha", 1e-4F));
  const double beta = static_cast<double>(attribute(*node.node, "beta", 0.75F));
  const double bias = static_cast<double>(attribute(*node.node, "bias", 1.0F));
  const std::int64_t channels = x.dim(1);
  const std::int64_t plane = product(x.dims(), 2, x.rank());
  Tensor result(x.type(), x.dims());
  std::vector<double> squares(static_cast<std::size_t>(plane));
  for (std::int64_t image = 0; image < x.dim(0); ++image) {
    const T* from = x.values<T>() + image * channels * plane;
    T* to = result.mutable_values<T>() + image * channels * plane;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      // Of an even size, the larger half follows.
      const std::int64_t first = std::max<std::int64_t>(channel - (size - 1) / 2, 0);
      const std::int64_t last = std::min(channel + (size - 1) - (size - 1) / 2, channels - 1);
      std::fill(squares.begin(), squares.end(), 0.0);
      for (std::int64_t other = first; other <= last; ++other) {
        for (std::int64_t i = 0; i < plane; ++i) {
          const auto value = static_cast<double>(from[other * plane + i]);
          squares[static_cast<std::size_t>(i)] += value * value;
        }
      }
      for (std::int64_t i = 0; i < plane; ++i) {
        const double divisor = std::pow(
            bias + alpha / static_cast<double>(size) * squares[static_cast<std::size_t>(i)], beta);
        to[channel * plane + i] =
            static_cast<T>(static_cast<double>(from[channel * plane + i]) / divisor);
      }
    }
  }
  return result;
}

}  // namespace

Tensors lrn(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  if (x.rank() < 2) throw failure(node, fmt::format("its input, {}, has no channels", describe(x)));
  return {visit_floats(node, x.type(), [&](auto zero) { return lrn_of<decltype(zero)>(node, x); })};
}

namespace {

/// Softmax over the middle of [outer][length][inner], or its logarithm.
template <class T>
Tensor softmax_of(const Tensor& x, std::int64_t outer, std::int64_t length, std::int64_t inner,
                  bool logarithm) {
  Tensor result(x.type(), x.dims());
  for (std::int64_t row = 0; row < outer * inner; ++row) {
    const std::int64_t begin = row / inner * length * inner + row % inner;
    const T* from = x.values<T>() + begin;
    T* to = result.mutable_values<T>() + begin;
    T largest = -std::numeric_limits<T>::infinity();
    for (std::int64_t i = 0; i < length; ++i) largest = std::max(largest, from[i * inner]);
    double sum = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      to[i * inner] = std::exp(from[i * inner] - largest);
      sum += static_cast<double>(to[i * inner]);
    }
    const double log_sum = std::log(sum);
    for (std::int64_t i = 0; i < length; ++i) {
      const auto value = static_cast<double>(to[i * inner]);
      const auto distance = static_cast<double>(from[i * inner] - largest);
      to[i * inner] = static_cast<T>(logarithm ? distance - log_sum : value / sum);
    }
  }
  return result;
}

/// Of float32, to the bit as ONNX Runtime, which brings the axis to the end.
Tensor softmax_of_floats(const Tensor& x, std::int64_t outer, std::int64_t length,
                         std::int64_t inner, bool logarithm) {
  Tensor result(x.type(), x.dims());
  std::vector<float> row(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < outer * inner; ++i) {
    const std::int64_t begin = i / inner * length * inner + i % inner;
    const float* from = x.values<float>() + begin;
    float* to = result.mutable_values<float>() + begin;
    if (inner > 1) {
      for (std::int64_t at = 0; at < length; ++at)
        row[static_cast<std::size_t>(at)] = from[at * inner];
      from = row.data();
      to = row.data();
    }
    logarithm ? gemm64::log_softmax(from, to, length) : gemm64::softmax(from, to, length);
    if (inner > 1) {
      to = result.mutable_values<float>() + begin;
      for (std::int64_t at = 0; at < length; ++at)
        to[at * inner] = row[static_cast<std::size_t>(at)];
    }
  }
  return result;
}

Tensors softmax(const NodeContext& node, const Tensors& inputs, bool logarithm) {
  const Tensor& x = input(node, inputs, 0);
  // Before opset 13 all axes from `axis` on are one; since then it is one axis, the last by
  // default.
  const bool one_axis = node.opset >= 13;
  const std::int64_t axis_attribute =
      attribute(*node.node, "axis", std::int64_t{one_axis ? -1 : 1});
  const bool at_end = !one_axis && axis_attribute == static_cast<std::int64_t>(x.rank());
  const std::size_t axis = at_end ? x.rank() : checked_axis(node, axis_attribute, x.rank());
  const std::size_t end = one_axis ? axis + 1 : x.rank();
  const std::int64_t outer = product(x.dims(), 0, axis);
  const std::int64_t length = product(x.dims(), axis, end);
  const std::int64_t inner = product(x.dims(), end, x.rank());
  if (x.type() == onnx::TensorProto::FLOAT) {
    return {softmax_of_floats(x, outer, length, inner, logarithm)};
  }
  return {visit_floats(node, x.type(), [&](auto zero) {
    return softmax_of<decltype(zero)>(x, outer, length, inner, logarithm);
  })};
}

}  // namespace

Tensors softmax(const NodeContext& node, const Tensors& inputs) {
  return softmax(node, inputs, false);
}

Tensors log_softmax(const NodeContext& node, const Tensors& inputs) {
  return softmax(node, inputs, true);
}

}  // namespace host

}  // namespace gemm64
