// SPDX-License-Identifier: Apache-2.0
// Normalizations by the statistics of the values themselves: Layer, Instance, Group and RMS.
#include <fmt/format.h>

#include <cmath>

#include "host/kernels/float_rows.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// Mean and 1 / sqrt(variance + epsilon) of each row.
struct Statistics {
  std::vector<double> mean, inverse;
};

template <class T>
Statistics statistics_of(const Tensor& x, std::int64_t rows, double epsilon, bool centered) {
  Statistics result;
  const std::int64_t length = rows == 0 ? 0 : x.elements() / rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* from = x.values<T>() + row * length;
    double sum = 0;
    for (std::int64_t i = 0; centered && i < length; ++i) sum += static_cast<double>(from[i]);
    const double mean = centered ? sum / static_cast<double>(length) : 0;
    double squares = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      const double distance = static_cast<double>(from[i]) - mean;
      squares += distance * distance;
    }
    result.mean.push_back(mean);
    result.inverse.push_back(1 / std::sqrt(squares / static_cast<double>(length) + epsilon));
  }
  return result;
}

/// (x - mean) * inverse by rows.
template <class T>
Tensor normalized(const Tensor& x, const Statistics& statistics) {
  Tensor result(x.type(), x.dims());
  const auto rows = static_cast<std::int64_t>(statistics.mean.size());
  const std::int64_t length = rows == 0 ? 0 : x.elements() / rows;
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const auto row = static_cast<std::size_t>(i / length);
    const double value = static_cast<double>(x.values<T>()[i]);
    result.mutable_values<T>()[i] =
        static_cast<T>((value - statistics.mean[row]) * statistics.inverse[row]);
  }
  return result;
}

/// x * scale + bias, both seen with the strides given; the bias may be absent.
template <class T>
void scale_and_shift(Tensor& x, const Tensor& scale, const Dims& scale_strides, const Tensor& bias,
                     const Dims& bias_strides) {
  T* values = x.mutable_values<T>();
  for_each_row(Walk<3>{x.dims(), {row_major_strides(x.dims()), scale_strides, bias_strides}},
               [&](const auto& offsets, std::int64_t length, const auto& steps) {
                 for (std::int64_t i = 0; i < length; ++i) {
                   T& value = values[offsets[0] + i * steps[0]];
                   value *= scale.values<T>()[offsets[1] + i * steps[1]];
                   if (bias.present()) value += bias.values<T>()[offsets[2] + i * steps[2]];
                 }
               });
}

void require_dims(const NodeContext& node, const Tensor& parameter, const Tensor& x, bool fits) {
  require_same_type(node, x, parameter);
  if (fits) return;
  throw failure(node,
                fmt::format("its parameter {} does not fit {}", describe(parameter), describe(x)));
}

/// Of float32, with a scale, and a bias if any, for each value of a row: to the bit as ONNX
/// Runtime.
Tensors of_float_rows(const Tensor& x, const Dims& kept, const Tensor& scale, const Tensor& bias,
                      float epsilon, bool centered) {
  Tensors results{Tensor(x.type(), x.dims()), Tensor(x.type(), kept), Tensor(x.type(), kept)};
  const std::int64_t length = scale.elements();
  for (std::int64_t row = 0; row < results[1].elements(); ++row) {
    const float* const from = x.values<float>() + row * length;
    float* const to = results[0].mutable_values<float>() + row * length;
    const RowStatistics statistics =
        centered ? layer_normalize(from, to, length, scale.values<float>(),
                                   bias.present() ? bias.values<float>() : nullptr, epsilon)
                 : rms_normalize(from, to, length, scale.values<float>(), epsilon);
    results[1].mutable_values<float>()[row] = statistics.mean;
    results[2].mutable_values<float>()[row] = statistics.inverse;
  }
  return results;
}

/// Layer normalization and, without a mean, RMS normalization: over the axes from `axis` on.
Tensors over_last_axes(const NodeContext& node, const Tensors& inputs, bool centered) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& scale = input(node, inputs, 1);
  const Tensor bias = centered ? optional_input(inputs, 2) : Tensor();
  const auto axis = static_cast<std::ptrdiff_t>(
      checked_axis(node, attribute(*node.node, "axis", std::int64_t{-1}), x.rank()));
  const float epsilon = attribute(*node.node, "epsilon", 1e-5F);
  for (const Tensor* parameter : {&scale, &bias}) {
    if (!parameter->present()) continue;
    Dims dims;
    const bool fits = broadcast_dims(parameter->dims(), x.dims(), dims) && dims == x.dims();
    require_dims(node, *parameter, x, fits);
  }
  Dims kept(x.dims().begin(), x.dims().begin() + axis);
  std::int64_t rows = 1;
  for (const std::int64_t dim : kept) rows *= dim;
  kept.resize(x.rank(), 1);
  const std::int64_t length = rows == 0 ? 0 : x.elements() / rows;
  if (x.type() == onnx::TensorProto::FLOAT && length > 0 && scale.elements() == length &&
      (!bias.present() || bias.elements() == length)) {
    return of_float_rows(x, kept, scale, bias, epsilon, centered);
  }
  Tensors results(3);
  visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    const Statistics statistics = statistics_of<T>(x, rows, static_cast<double>(epsilon), centered);
    results[0] = normalized<T>(x, statistics);
    scale_and_shift<T>(results[0], scale, broadcast_strides(scale.dims(), x.dims()), bias,
                       broadcast_strides(bias.dims(), x.dims()));
    results[1] = Tensor::of<float>(kept, {statistics.mean.begin(), statistics.mean.end()});
    results[2] = Tensor::of<float>(kept, {statistics.inverse.begin(), statistics.inverse.end()});
    return 0;
  });
  return results;
}

/// Strides with which a vector of one value a channel is seen as `dims` [N x C x ...]; with
/// `repeat` channels for each value.
Tensor by_channel(const Tensor& parameter, std::int64_t repeat) {
  if (repeat == 1) return parameter;
  Dims indices;
  for (std::int64_t i = 0; i < parameter.elements() * repeat; ++i) indices.push_back(i / repeat);
  return select(parameter, std::vector<Selected>{indices});
}

Dims channel_strides(const Dims& dims) {
  Dims strides(dims.size(), 0);
  strides[1] = 1;
  return strides;
}

/// Over each of `groups` groups of channels.
Tensors over_groups(const NodeContext& node, const Tensors& inputs, std::int64_t groups) {
  const Tensor& x = inputs[0];
  const std::int64_t channels = x.dim(1);
  const double epsilon = static_cast<double>(attribute(*node.node, "epsilon", 1e-5F));
  Tensor parameters[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor& given = input(node, inputs, i + 1);
    // GroupNormalization had one for each group before opset 21.
    const bool by_group = given.dims() == Dims{groups};
    require_dims(node, given, x, by_group || given.dims() == Dims{channels});
    parameters[i] = by_channel(given, by_group ? channels / groups : 1);
  }
  return {visit_floats(node, x.type(), [&](auto zero) {
    using T = decltype(zero);
    Tensor result = normalized<T>(x, statistics_of<T>(x, x.dim(0) * groups, epsilon, true));
    const Dims strides = channel_strides(x.dims());
    scale_and_shift<T>(result, parameters[0], strides, parameters[1], strides);
    return result;
  })};
}

void require_channels(const NodeContext& node, const Tensor& x) {
  if (x.rank() < 2) throw failure(node, fmt::format("its input, {}, has no channels", describe(x)));
}

}  // namespace

Tensors layer_normalization(const NodeContext& node, const Tensors& inputs) {
  return over_last_axes(node, inputs, true);
}

Tensors rms_normalization(const NodeContext& node, const Tensors& inputs) {
  return {over_last_axes(node, inputs, false)[0]};
}

Tensors instance_normalization(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  require_channels(node, x);
  return over_groups(node, inputs, x.dim(1));
}

Tensors group_normalization(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  require_channels(node, x);
  const std::int64_t groups = attribute(*node.node, "num_groups", std::int64_t{0});
  if (groups < 1 || x.dim(1) % groups != 0) {
    throw failure(node,
                  fmt::format("{} groups do not divide the channels of {}", groups, describe(x)));
  }
  return over_groups(node, inputs, groups);
}

}  // namespace host
}  // namespace gemm64
