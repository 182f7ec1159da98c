// SPDX-License-Identifier: Apache-2.0
// Fourier transforms in double: DFT, STFT, and the windows that go with them.
#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <unsupported/Eigen/FFT>

#include "host/kernels/attention_heads.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/strided.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

using Signal = std::vector<std::complex<double>>;

constexpr double kPi = 3.14159265358979323846;
constexpr std::int64_t kMost = std::int64_t{1} << 24;  // values of a signal

/// The one number of an input that may be left out.
std::int64_t number_or(const NodeContext& node, const Tensor& given, std::int64_t otherwise) {
  if (!given.present()) return otherwise;
  const Dims values = integers(node, given.reshaped({given.elements()}));
  if (values.size() != 1) throw failure(node, fmt::format("{} is no number", describe(given)));
  return values[0];
}

/// A value of a tensor whose last axis holds real parts, or real and imaginary ones.
std::complex<double> value_at(const Doubles& values, std::int64_t at, std::int64_t parts) {
  const auto i = static_cast<std::size_t>(at * parts);
  return {values[i], parts == 2 ? values[i + 1] : 0};
}

void require_parts(const NodeContext& node, const Tensor& x) {
  if (x.rank() >= 2 && (x.dims().back() == 1 || x.dims().back() == 2)) return;
  throw failure(node, fmt::format("{} holds no real or complex numbers", describe(x)));
}

}  // namespace

Tensors dft(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  require_parts(node, x);
  const std::int64_t parts = x.dims().back();
  const std::int64_t given_axis = node.opset < 20 ? attribute(*node.node, "axis", std::int64_t{1})
                                                  : number_or(node, optional_input(inputs, 2), -2);
  const std::size_t axis = checked_axis(node, given_axis, x.rank());
  if (axis + 1 == x.rank()) throw failure(node, "its axis is that of real and imaginary parts");
  const bool inverse = attribute(*node.node, "inverse", std::int64_t{0}) != 0;
  const bool onesided = attribute(*node.node, "onesided", std::int64_t{0}) != 0;
  const std::int64_t size = x.dim(axis);
  const std::int64_t length =
      number_or(node, optional_input(inputs, 1), inverse && onesided ? 2 * (size - 1) : size);
  if (length < 1 || length > kMost) {
    throw failure(node, fmt::format("a length of {}; 1 to {} is supported", length, kMost));
  }
  Dims dims = x.dims();
  dims[axis] = onesided && !inverse ? length / 2 + 1 : length;
  dims.back() = onesided && inverse ? 1 : 2;
  const Tensor shape(onnx::TensorProto::BOOL, dims);  // refuses sizes beyond all memory
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i + 1 < dims.size(); ++i) inner *= dims[i];
  const std::int64_t outer = x.elements() / std::max<std::int64_t>(size * inner * parts, 1);
  const Doubles values = doubles_of(node, x);
  Doubles y(static_cast<std::size_t>(shape.elements()));
  Eigen::FFT<double> fft;
  const auto count = static_cast<std::size_t>(length);
  for (std::int64_t line = 0; line < outer * inner; ++line) {
    const auto place = [&](std::int64_t i, std::int64_t along) {
      return (line / inner * along + i) * inner + line % inner;
    };
    Signal from(count), to(count);
    const std::int64_t half = length / 2 + 1;
    const std::int64_t taken = std::min(size, onesided && inverse ? half : length);
    for (std::int64_t i = 0; i < taken; ++i) {
      from[static_cast<std::size_t>(i)] = value_at(values, place(i, size), parts);
    }
    if (onesided && inverse) {
      // The other half is this one's mirror, so that all values are real.
      for (std::int64_t i = half; i < length; ++i) {
        from[static_cast<std::size_t>(i)] = std::conj(from[static_cast<std::size_t>(length - i)]);
      }
      from[0] = from[0].real();
      if (length % 2 == 0) from[count / 2] = from[count / 2].real();
    }
    if (count == 1) {
      to = from;
    } else if (inverse) {
      fft.inv(to, from);
    } else {
      fft.fwd(to, from);
    }
    for (std::int64_t i = 0; i < dims[axis]; ++i) {
      const auto at = static_cast<std::size_t>(place(i, dims[axis]) * dims.back());
      y[at] = to[static_cast<std::size_t>(i)].real();
      if (dims.back() == 2) y[at + 1] = to[static_cast<std::size_t>(i)].imag();
    }
  }
  return {tensor_of(node, x.type(), dims, y)};
}

Tensors stft(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  require_parts(node, x);
  const Tensor& window = optional_input(inputs, 2);
  if (x.rank() != 3 || (window.present() && window.rank() != 1)) {
    throw failure(node, fmt::format("a signal of {}", describe(x)));
  }
  const std::int64_t parts = x.dim(2), size = x.dim(1);
  const std::int64_t step = number_or(node, input(node, inputs, 1), 0);
  const std::int64_t length =
      number_or(node, optional_input(inputs, 3), window.present() ? window.elements() : size);
  if (step < 1 || length < 1 || length > size || length > kMost ||
      (window.present() && window.elements() != length)) {
    throw failure(node, fmt::format("frames of {} every {} in {}", length, step, describe(x)));
  }
  const bool onesided = attribute(*node.node, "onesided", std::int64_t{1}) != 0;
  const Dims dims{x.dim(0), 1 + (size - length) / step, onesided ? length / 2 + 1 : length, 2};
  const Tensor shape(onnx::TensorProto::BOOL, dims);  // refuses sizes beyond all memory
  const Doubles values = doubles_of(node, x);
  const Doubles weights = window.present() ? doubles_of(node, window) : Doubles{};
  Doubles y;
  y.reserve(static_cast<std::size_t>(shape.elements()));
  Eigen::FFT<double> fft;
  for (std::int64_t frame = 0; frame < dims[0] * dims[1]; ++frame) {
    const std::int64_t first = frame / dims[1] * size + frame % dims[1] * step;
    Signal from, to;
    for (std::int64_t i = 0; i < length; ++i) {
      const double weight = weights.empty() ? 1 : weights[static_cast<std::size_t>(i)];
      from.push_back(weight * value_at(values, first + i, parts));
    }
    if (length == 1) {
      to = from;
    } else {
      fft.fwd(to, from);
    }
    for (std::int64_t i = 0; i < dims[2]; ++i) {
      y.push_back(to[static_cast<std::size_t>(i)].real());
      y.push_back(to[static_cast<std::size_t>(i)].imag());
    }
  }
  return {tensor_of(node, x.type(), dims, y)};
}

namespace {

/// a - b cos(angle) + c cos(2 angle), over one turn.
Tensors window(const NodeContext& node, const Tensors& inputs, double a, double b, double c) {
  const std::int64_t size = number_or(node, input(node, inputs, 0), 0);
  if (size < 0 || size > kMost) {
    throw failure(node, fmt::format("a size of {}; at most {} is supported", size, kMost));
  }
  const bool periodic = attribute(*node.node, "periodic", std::int64_t{1}) != 0;
  const auto turn = static_cast<double>(periodic ? size : size - 1);
  Doubles values;
  for (std::int64_t i = 0; i < size; ++i) {
    const double angle = 2 * kPi * static_cast<double>(i) / turn;
    values.push_back(a - b * std::cos(angle) + c * std::cos(2 * angle));
  }
  const auto type = static_cast<DataType>(
      attribute(*node.node, "output_datatype", std::int64_t{onnx::TensorProto::FLOAT}));
  return {tensor_of(node, type, {size}, values)};
}

}  // namespace

Tensors hann_window(const NodeContext& node, const Tensors& inputs) {
  return window(node, inputs, 0.5, 0.5, 0);
}

Tensors hamming_window(const NodeContext& node, const Tensors& inputs) {
  return window(node, inputs, 25.0 / 46, 21.0 / 46, 0);
}

Tensors blackman_window(const NodeContext& node, const Tensors& inputs) {
  return window(node, inputs, 0.42, 0.5, 0.08);
}

}  // namespace host
}  // namespace gemm64
