// SPDX-License-Identifier: Apache-2.0
#include "host/dut/network_operands.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "host/graph/onnx/linear_layer.hpp"
#include "host/kernels/window.hpp"

namespace gemm64::dut {
namespace {

using Index = std::int64_t;

/// The values of a tensor as an operand holds them.
class Rounded {
 public:
  Rounded(const Tensor& tensor, const Operand& of) : of_(of) {
    switch (tensor.type()) {
      case onnx::TensorProto::FLOAT:
        read<float>(tensor);
        break;
      case onnx::TensorProto::FLOAT16:
        read<Eigen::half>(tensor);
        break;
      case onnx::TensorProto::BFLOAT16:
        read<Eigen::bfloat16>(tensor);
        break;
      case onnx::TensorProto::INT8:
        read<std::int8_t>(tensor);
        break;
      case onnx::TensorProto::UINT8:
        read<std::uint8_t>(tensor);
        break;
      default:
        return;
    }
    fit(tensor.type());
  }

  Index size() const { return static_cast<Index>(values_.size()); }
  std::int32_t operator[](Index i) const { return (*this)(values_[static_cast<std::size_t>(i)]); }
  std::int32_t operator()(float value) const {
    const float moved = std::nearbyint((value + offset_) * scale_);
    // A file may hold NaN, which becomes 0.
    return std::isfinite(moved) ? static_cast<std::int32_t>(std::clamp<std::int64_t>(
                                      static_cast<std::int64_t>(moved), of_.low(), of_.high()))
                                : 0;
  }

 private:
  template <class T>
  void read(const Tensor& tensor) {
    const T* const from = tensor.values<T>();
    values_.resize(static_cast<std::size_t>(tensor.elements()));
    std::transform(from, from + tensor.elements(), values_.begin(),
                   [](T value) { return static_cast<float>(value); });
  }

  void fit(DataType type) {
    constexpr float kByte = 128;
    if (type == onnx::TensorProto::INT8 || type == onnx::TensorProto::UINT8) {
      const bool is_signed = type == onnx::TensorProto::INT8;
      const bool fits = of_.high() >= (is_signed ? 127 : 255) && (of_.is_signed || !is_signed);
      if (fits) return;
      if (is_signed != of_.is_signed) offset_ = is_signed ? kByte : -kByte;
      if (of_.bits < 8) scale_ = std::ldexp(1.0F, of_.bits - 8);
      return;
    }
    float most = 0;
    for (const float value : values_) {
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
    }
    if (most > 0) scale_ = static_cast<float>(of_.high()) / most;
  }

  const Operand& of_;
  std::vector<float> values_;
  float offset_ = 0, scale_ = 1;
};

bool is_convolution(const onnx::NodeProto& node) {
  return node.op_type() == "Conv" || node.op_type() == "ConvInteger" ||
         node.op_type() == "QLinearConv";
}

bool is_product(const onnx::NodeProto& node) {
  static constexpr const char* kNames[] = {"Gemm", "MatMul", "MatMulInteger", "QLinearMatMul",
                                           "QGemm"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&node](const char* name) { return node.op_type() == name; });
}

bool has_flag(const onnx::NodeProto& node, const char* name) {
  return attribute(node, name, std::int64_t{0}) != 0;
}

/// Matrix `index` of a stack of `count`, or the one for all, as [rows x columns]. `transposed`: the
/// tensor holds it as [columns x rows].
std::optional<Operands> matrix(const Rounded& values, std::uint64_t count, std::uint64_t index,
                               Index rows, Index columns, bool transposed) {
  const Index size = rows * columns;
  const bool stack = values.size() == size * static_cast<Index>(count);
  if (!stack && values.size() != size) return std::nullopt;
  const Index first = stack ? static_cast<Index>(index) * size : 0;
  Operands matrix(rows, columns);
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < columns; ++column) {
      matrix(row, column) =
          values[first + (transposed ? column * rows + row : row * columns + column)];
    }
  }
  return matrix;
}

/// Calls `with` for each position of a box of `sizes`, the last axis fastest.
void for_each_position(const Dims& sizes, const std::function<void(const Dims&)>& with) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  Dims at(sizes.size(), 0);
  for (;;) {
    with(at);
    std::size_t axis = sizes.size();
    while (axis > 0 && ++at[axis - 1] == sizes[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

/// A row for each window of group `index`, channel after channel.
std::optional<Operands> windows(const NetworkProduct& product, const NodeContext& node,
                                const Tensors& inputs, std::uint64_t index, const Operand& of) {
  const Tensor& x = inputs[0];
  const Tensor& weights = inputs[static_cast<std::size_t>(weights_input(*node.node))];
  const Rounded values(x, of);
  if (values.size() == 0 || !weights.present() || x.rank() < 3) return std::nullopt;
  const SpatialWindow window =
      make_window(node, x.dims(), Dims(weights.dims().begin() + 2, weights.dims().end()));
  const Index channels = weights.dim(1);
  const std::size_t axes = x.rank() - 2;
  // What a quantized map has for 0.
  const bool has_zero = node.node->op_type() != "Conv" && inputs.size() > 2 && inputs[2].present();
  const std::int32_t padding = has_zero ? Rounded(inputs[2], of)[0] : values(0);
  Operands rows = Operands::Constant(product.shape.m, product.shape.k, padding);
  Index row = 0;
  Index column = 0;
  const auto copy = [&](Index image, Index channel, const Dims& out, const Dims& tap) {
    Index place = image * x.dim(1) + static_cast<Index>(index) * channels + channel;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const Index at = out[axis] * window.strides[axis] + tap[axis] * window.dilations[axis] -
                       window.begin[axis];
      if (at < 0 || at >= x.dim(axis + 2)) return;
      place = place * x.dim(axis + 2) + at;
    }
    rows(row, column) = values[place];
  };
  for (Index image = 0; image < x.dim(0); ++image) {
    for_each_position(window.output, [&](const Dims& out) {
      column = 0;
      for (Index channel = 0; channel < channels; ++channel) {
        for_each_position(window.kernel, [&](const Dims& tap) {
          copy(image, channel, out, tap);
          ++column;
        });
      }
      ++row;
    });
  }
  return row == rows.rows() && column == rows.cols() ? std::optional(rows) : std::nullopt;
}

}  // namespace

std::optional<Operands> activations_of(const NetworkProduct& product, const NodeContext& node,
                                       const Tensors& inputs, std::uint64_t index,
                                       const Operand& of) {
  if (product.node == nullptr || inputs.empty() || !inputs[0].present()) return std::nullopt;
  if (is_convolution(*product.node)) return windows(product, node, inputs, index, of);
  if (!is_product(*product.node)) return std::nullopt;
  return matrix(Rounded(inputs[0], of), product.count, index, product.shape.m, product.shape.k,
                has_flag(*product.node, "transA"));
}

std::optional<Operands> weights_of(const NetworkProduct& product, const Tensors& inputs,
                                   std::uint64_t index, const Operand& of) {
  if (product.node == nullptr) return std::nullopt;
  const auto input = static_cast<std::size_t>(weights_input(*product.node));
  if (input >= inputs.size() || !inputs[input].present()) return std::nullopt;
  const bool convolution = is_convolution(*product.node);
  if (!convolution && !is_product(*product.node)) return std::nullopt;
  return matrix(Rounded(inputs[input], of), product.count, index, product.shape.n, product.shape.k,
                !convolution && !has_flag(*product.node, "transB"));
}

}  // namespace gemm64::dut
