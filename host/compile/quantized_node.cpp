// SPDX-License-Identifier: Apache-2.0
#include "host/compile/quantized_node.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>

#include "host/device/depthwise.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/broadcast.hpp"
#include "host/kernels/window.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

/// Inputs of a node by what they mean; -1: it has none.
struct Roles {
  int x_scale = 1, weights = 3, weight_scale = 4, weight_zero = 5, bias = -1, y_scale = 6;
};

std::optional<Roles> roles_of(const std::string& name) {
  if (name == "QLinearConv") return Roles{1, 3, 4, 5, 8, 6};
  if (name == "QLinearMatMul") return Roles{};
  if (name == "com.microsoft.QGemm") return Roles{1, 3, 4, 5, 6, 7};
  return std::nullopt;
}

bool is_byte(int type) { return type == TensorProto::INT8 || type == TensorProto::UINT8; }

/// One node, and the constants that it reads.
class Reader {
 public:
  Reader(const OnnxModel& model, int index)
      : model_(model),
        node_(model.graph().node(index)),
        context_{&node_, node_label(node_, index), model.opset()} {}

  QuantizedNode read();

 private:
  std::string why_no_layer(const Roles& roles) const;
  std::string why_scales(const Roles& roles) const;
  std::int32_t weights_zero(const Roles& roles) const;
  bool has_constant_scales(const Roles& roles) const;
  bool is_of_computed(const Roles& roles) const;
  std::string read_weights_zero(const Roles& roles, QuantizedNode& result) const;
  std::string read_computed(const Roles& roles, QuantizedNode& result) const;
  std::string read_convolution(const Roles& roles, QuantizedNode& result) const;
  bool is_view_of_values() const;
  std::optional<SpatialWindow> pool_window(const TensorType& x) const;
  void read_maximum(QuantizedNode& result) const;
  void read_average(QuantizedNode& result) const;
  static bool meets_border(const SpatialWindow& window, const Dims& x);
  static void set_pool(QuantizedNode& result, LaneSum sum, Convolution c);
  Convolution convolution_of(const Dims& x, const SpatialWindow& window) const;
  std::optional<Tensor> constant(int input) const;
  Quantization quantization(int scale, DataType type) const;

  const OnnxModel& model_;
  const onnx::NodeProto& node_;
  const NodeContext context_;
};

/// An input's value; empty where it is left out, or the file lacks it.
std::optional<Tensor> Reader::constant(int input) const {
  const TensorProto* proto = model_.constant(input_name(node_, input));
  if (proto == nullptr || !has_data(*proto)) return std::nullopt;
  return Tensor::from_proto(*proto);
}

/// What inputs `scale` and `scale + 1` say of a tensor; what the file lacks is 1 and 0.
Quantization Reader::quantization(int scale, DataType type) const {
  Quantization result;
  if (const auto factor = constant(scale)) result.scale = scales_of(context_, *factor).front();
  if (const auto zero = constant(scale + 1)) result.zero = zeros_of(context_, *zero, type).front();
  return result;
}

/// Why scales do not turn the device's sums into results.
std::string Reader::why_scales(const Roles& roles) const {
  const auto x = constant(roles.x_scale);
  const auto weights = constant(roles.weight_scale);
  const auto y = constant(roles.y_scale);
  if (!x || !weights || !y) return "";
  const std::vector<float> scales = scales_of(context_, *weights);
  const float x_scale = scales_of(context_, *x).front() * attribute(node_, "alpha", 1.0F);
  const float y_scale = scales_of(context_, *y).front();
  const bool positive = std::all_of(scales.begin(), scales.end(), [&](float scale) {
    const float factor = x_scale * scale / y_scale;
    return std::isfinite(factor) && !std::signbit(factor);
  });
  return positive ? "" : "its scales are not positive numbers";
}

bool Reader::has_constant_scales(const Roles& roles) const {
  for (int i = 1; i < node_.input_size(); ++i) {
    if (i == roles.weights || node_.input(i).empty()) continue;
    if (!model_.is_constant(node_.input(i))) return false;
  }
  return true;
}

/// Why the device does not give 8-bit results; empty where it does, shapes apart.
std::string Reader::why_no_layer(const Roles& roles) const {
  const bool float_results = node_.op_type() == "QGemm" && input_name(node_, roles.y_scale).empty();
  if (float_results) return "its results are not of 8 bits";
  if (!model_.is_constant(input_name(node_, roles.weights))) {
    return "its weights depend on the input";
  }
  if (!has_constant_scales(roles)) return "its scales depend on the input";
  const auto weights = model_.type(input_name(node_, roles.weights));
  if (!weights || !is_byte(weights->data_type)) return "its weights are not of 8 bits";
  if (const auto zero = constant(roles.weight_zero)) {
    const DataType type = zero->type();
    const std::vector<std::int32_t> zeros = zeros_of(context_, *zero, type);
    if (std::any_of(zeros.begin(), zeros.end(),
                    [&zeros](std::int32_t value) { return value != zeros.front(); })) {
      return "its weights have more than one zero point";
    }
  }
  return why_scales(roles);
}

/// The zero point of the weights as int8.
std::int32_t Reader::weights_zero(const Roles& roles) const {
  const auto weights = model_.type(input_name(node_, roles.weights));
  const auto type = static_cast<DataType>(weights->data_type);
  const auto given = constant(roles.weight_zero);
  if (given) return zeros_of(context_, *given, type).front() + move_to_int8(type);
  return input_name(node_, roles.weight_zero).empty() ? move_to_int8(type) : 0;
}

bool fits(std::int64_t size) {
  return size >= 1 && size <= std::numeric_limits<std::int32_t>::max();
}

bool fit(const Dims& sizes) { return std::all_of(sizes.begin(), sizes.end(), fits); }

bool window_fits(const SpatialWindow& window) {
  return fit(window.kernel) && fit(window.strides) && fit(window.dilations) && fit(window.output) &&
         *std::max_element(window.begin.begin(), window.begin.end()) <=
             std::numeric_limits<std::int32_t>::max();
}

/// Sizes and steps over an input [N, C, spatial...] of one or two axes; of one, it is the width.
Convolution Reader::convolution_of(const Dims& x, const SpatialWindow& window) const {
  const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const auto height = [&](const Dims& sizes, std::uint32_t otherwise) {
    return x.size() == 4 ? size(sizes.at(sizes.size() - 2)) : otherwise;
  };
  const auto width = [&](const Dims& sizes) { return size(sizes.back()); };
  Convolution c;
  c.images = size(x[0]);
  c.channels = size(x[1]);
  c.height = height(x, 1);
  c.width = width(x);
  c.out_height = height(window.output, 1);
  c.out_width = width(window.output);
  c.kernel_height = height(window.kernel, 1);
  c.kernel_width = width(window.kernel);
  c.stride_height = height(window.strides, 1);
  c.stride_width = width(window.strides);
  c.dilation_height = height(window.dilations, 1);
  c.dilation_width = width(window.dilations);
  c.pad_top = height(window.begin, 0);
  c.pad_left = width(window.begin);
  return c;
}

/// The window of a pool over an input of its own type; nothing where it is none that a device may
/// have.
std::optional<SpatialWindow> Reader::pool_window(const TensorType& x) const {
  const std::size_t rank = x.dims.size();
  if (!is_byte(x.data_type) || !fit(x.dims) || rank < 3 || rank > 4 ||
      attribute(node_, "channels_last", std::int64_t{0}) != 0) {
    return std::nullopt;
  }
  SpatialWindow window;
  if (node_.op_type() == "QLinearGlobalAveragePool") {
    const Dims ones(rank - 2, 1), none(rank - 2, 0);
    window = {Dims(x.dims.begin() + 2, x.dims.end()), ones, ones, none, none, ones};
  } else {
    window = make_window(context_, x.dims, kernel_shape(context_, rank - 2));
  }
  if (!window_fits(window)) return std::nullopt;
  return window;
}

/// A MaxPool of 8-bit values.
void Reader::read_maximum(QuantizedNode& result) const {
  const auto x = model_.type(node_.input(0));
  const bool indices = node_.output_size() > 1 && !node_.output(1).empty();
  if (!x || indices) return;
  const auto window = pool_window(*x);
  if (!window) return;
  result.type = static_cast<DataType>(x->data_type);
  result.result.zero = -move_to_int8(result.type);
  Convolution c = convolution_of(x->dims, *window);
  c.zero = std::numeric_limits<std::int8_t>::min();  // nothing is less
  set_pool(result, LaneSum::kMaximum, c);
}

/// An average of 8-bit values: of windows that have one number of values, and whose sums have one
/// mean each.
void Reader::read_average(QuantizedNode& result) const {
  const auto x = model_.type(node_.input(0));
  if (!x || !model_.is_constant(node_.input(1)) || !model_.is_constant(node_.input(3))) return;
  const auto window = pool_window(*x);
  if (!window) return;
  const auto type = static_cast<DataType>(x->data_type);
  Convolution c = convolution_of(x->dims, *window);
  result.input = quantization(1, type);
  result.input.zero += move_to_int8(type);
  result.result = quantization(3, type);
  c.zero = static_cast<std::int8_t>(result.input.zero);
  std::optional<AverageFactors> factors;
  if (window->is_whole_map(x->dims)) {
    factors = whole_map_factors(result.input, result.result, c.taps());
    if (!factors) result.why = "its scales are not positive numbers";
  } else {
    const bool with_padding = attribute(node_, "count_include_pad", std::int64_t{0}) != 0;
    if (!with_padding && meets_border(*window, x->dims)) {
      result.why = "its windows have fewer values at the border";
      return;
    }
    if (c.taps() > kLaneWindow * kLaneWindow) {
      result.why = "its window is larger than the lanes'";
      return;
    }
    // With padding, the last window of ceil_mode counts as the others do.
    factors = window_factors(result.input, result.result, c.taps(), type);
    if (!factors) result.why = "float32 rounds some of its sums in two ways";
  }
  if (!factors) return;
  result.average = *factors;
  result.type = type;
  set_pool(result, LaneSum::kValues, c);
}

/// Does a window reach beyond the input?
bool Reader::meets_border(const SpatialWindow& window, const Dims& x) {
  for (std::size_t axis = 0; axis < window.kernel.size(); ++axis) {
    const std::int64_t span = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    const std::int64_t end =
        (window.output[axis] - 1) * window.strides[axis] - window.begin[axis] + span;
    if (window.begin[axis] != 0 || end > x[axis + 2]) return true;
  }
  return false;
}

void Reader::set_pool(QuantizedNode& result, LaneSum sum, Convolution c) {
  c.groups = c.out_channels = c.channels;
  result.place = NodePlace::kLayer;
  result.sum = sum;
  result.convolution = c;
  result.shape = {c.out_pixels(), 0, c.channels};
}

/// Sizes and steps of a QLinearConv; returns why they are not the device's.
std::string Reader::read_convolution(const Roles& roles, QuantizedNode& result) const {
  const auto x = model_.type(node_.input(0));
  const auto weights = model_.type(input_name(node_, roles.weights));
  const auto y = model_.type(node_.output(0));
  if (!x || !weights || !y) return "its shape is not known before it runs";
  if (!is_byte(x->data_type) || !is_byte(y->data_type)) return "its operands are not of 8 bits";
  const std::size_t rank = x->dims.size();
  if (rank > 4) return "it has more than two spatial axes";
  const std::int64_t groups = attribute(node_, "group", std::int64_t{1});
  if (!fit(x->dims) || !fit(y->dims) || !fits(groups)) return "a size is 0, or too large";
  if (rank < 3 || weights->dims.size() != rank || y->dims.size() != rank ||
      attribute(node_, "channels_last", std::int64_t{0}) != 0 ||
      weights->dims[1] * groups != x->dims[1] || weights->dims[0] % groups != 0) {
    return "its shapes do not fit";  // the host will tell more
  }
  const SpatialWindow window =
      make_window(context_, x->dims, Dims(weights->dims.begin() + 2, weights->dims.end()));
  if (!window_fits(window)) return "a size is too large";
  Convolution c = convolution_of(x->dims, window);
  c.out_channels = static_cast<std::uint32_t>(weights->dims[0]);
  c.groups = static_cast<std::uint32_t>(groups);
  const auto type = static_cast<DataType>(x->data_type);
  const auto zero = constant(roles.x_scale + 1);
  c.zero = static_cast<std::int8_t>((zero ? zeros_of(context_, *zero, type).front() : 0) +
                                    move_to_int8(type));
  result.convolution = c;
  result.shape = {std::uint64_t{c.images} * c.out_height * c.out_width,
                  std::uint64_t{c.channels / c.groups} * c.kernel_height * c.kernel_width,
                  c.out_channels};
  return "";
}

/// Is it a product whose second operand is no matrix of weights in the file?
bool Reader::is_of_computed(const Roles& roles) const {
  if (node_.op_type() != "QLinearMatMul") return false;
  const std::string& name = input_name(node_, roles.weights);
  if (!model_.is_constant(name)) return true;
  const auto type = model_.type(name);
  return type && type->dims.size() > 2;
}

/// Sizes of a product of two computed tensors; returns why it is none for the device.
std::string Reader::read_computed(const Roles& roles, QuantizedNode& result) const {
  const auto a = model_.type(node_.input(0));
  const auto b = model_.type(input_name(node_, roles.weights));
  const auto y = model_.type(node_.output(0));
  if (!a || !b || !y) return "its shape is not known before it runs";
  if (!is_byte(a->data_type) || !is_byte(b->data_type) || !is_byte(y->data_type)) {
    return "its operands are not of 8 bits";
  }
  if (!has_constant_scales(roles)) return "its scales depend on the input";
  const auto one_value = [this](int input) {
    const auto type = model_.type(input_name(node_, input));
    return !type || type->elements() == 1;
  };
  if (!one_value(roles.weight_scale) || !one_value(roles.weight_zero)) {
    return "its second operand has more than one scale";
  }
  if (a->dims.size() < 2 || b->dims.size() < 2) return "an operand is a vector";
  if (!fit(a->dims) || !fit(b->dims)) return "an operand is empty, or too large";
  const Dims a_stack(a->dims.begin(), a->dims.end() - 2),
      b_stack(b->dims.begin(), b->dims.end() - 2);
  Dims stack;
  const std::int64_t rows = a->dims[a->dims.size() - 2], k = a->dims.back(), n = b->dims.back();
  if (b->dims[b->dims.size() - 2] != k || !broadcast_dims(a_stack, b_stack, stack)) {
    return "its shapes do not fit";  // the host will tell more
  }
  const auto product = [](const Dims& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
  };
  const std::int64_t all = product(stack), products = product(b_stack) == 1 ? 1 : all;
  if (!fits(all) || !fits(rows * all)) return "a size is too large";
  const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  result.computed = true;
  result.products = static_cast<std::uint32_t>(products);
  if (products != 1) result.stack = std::move(stack);
  result.shape = {size(rows * all), size(k), size(n)};
  return why_scales(roles);
}

/// What the zero point of the weights takes; returns why it cannot be.
std::string Reader::read_weights_zero(const Roles& roles, QuantizedNode& result) const {
  const std::int32_t zero = weights_zero(roles);
  if (zero == 0) return "";
  // The parts of a row's sum are those of a number of 32 bits.
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 17) - 1;
  if (result.shape.k > kMost) return "its weights have a zero point, and its sums may be too large";
  if (result.convolution && result.convolution->groups != 1) {
    return "its weights have a zero point, and it has groups";
  }
  result.sum_columns = sum_columns(result.shape.k, zero);
  return "";
}

/// A QLinearAveragePool of single values whose results have their input's scale: an adaptive pool
/// of as many outputs as inputs becomes one.
bool Reader::is_view_of_values() const {
  const auto x = model_.type(node_.input(0));
  const auto given = [this](int input) { return constant(input).has_value(); };
  if (!x || !is_byte(x->data_type) || !fit(x->dims) || x->dims.size() < 3) return false;
  if (!given(1) || !given(3) || attribute(node_, "channels_last", std::int64_t{0}) != 0)
    return false;
  const Dims ones(x->dims.size() - 2, 1), none(x->dims.size() - 2, 0);
  if (kernel_shape(context_, ones.size()) != ones) return false;
  const SpatialWindow window = make_window(context_, x->dims, ones);
  const auto type = static_cast<DataType>(x->data_type);
  const Quantization from = quantization(1, type), to = quantization(3, type);
  return window.strides == ones && window.begin == none &&
         window.output == Dims(x->dims.begin() + 2, x->dims.end()) && from.scale == to.scale &&
         from.zero == to.zero;
}

QuantizedNode Reader::read() {
  QuantizedNode result;
  const std::string name = operator_name(node_);
  if (name == "MaxPool") {
    read_maximum(result);
    return result;
  }
  if (name == "com.microsoft.QLinearAveragePool" && is_view_of_values()) {
    result.place = NodePlace::kView;
    return result;
  }
  if (name == "com.microsoft.QLinearAveragePool" ||
      name == "com.microsoft.QLinearGlobalAveragePool") {
    read_average(result);
    return result;
  }
  const std::optional<Roles> roles = roles_of(name);
  const bool convolution = is_quantized_convolution(node_);
  if (convolution) {
    result.why = roles ? why_no_layer(*roles) : "its results are not of 8 bits";
    if (result.why.empty()) result.why = read_convolution(*roles, result);
    if (result.why.empty()) result.why = read_weights_zero(*roles, result);
    result.place = result.why.empty() ? NodePlace::kLayer : NodePlace::kHost;
    const auto product = result.why.empty() ? std::nullopt : linear_product(model_, node_);
    if (product) {
      result.place = NodePlace::kSums;
      result.convolution.reset();
      result.shape = {product->shape.m, product->shape.k, product->shape.n};
    }
  } else if (roles && is_of_computed(*roles)) {
    result.why = read_computed(*roles, result);
    if (result.why.empty()) result.why = read_weights_zero(*roles, result);
    result.place = result.why.empty() ? NodePlace::kLayer : NodePlace::kHost;
  } else {
    const bool integers = roles || name == "MatMulInteger" ||
                          name == "com.microsoft.DynamicQuantizeMatMul" ||
                          name == "com.microsoft.MatMulIntegerToFloat" ||
                          name == "com.microsoft.MatMulNBits" || name == "com.microsoft.QAttention";
    if (!integers) return result;
    result.why = why_on_host(model_, node_);
    const auto product = linear_product(model_, node_);
    if (!product) {
      result.place = NodePlace::kHost;
      return result;
    }
    result.shape = {product->shape.m, product->shape.k, product->shape.n};
    result.why = roles ? why_no_layer(*roles) : "its results are not of 8 bits";
    if (result.why.empty() && roles->bias >= 0) {
      const auto bias = model_.type(input_name(node_, roles->bias));
      const auto n = static_cast<std::int64_t>(product->shape.n);
      if (bias && (bias->elements() != n || bias->dims.empty() || bias->dims.back() != n)) {
        result.why = "its bias is not one for each column";
      }
    }
    if (result.why.empty()) result.why = read_weights_zero(*roles, result);
    result.place = result.why.empty() ? NodePlace::kLayer : NodePlace::kSums;
  }
  if (result.place != NodePlace::kLayer) return result;
  const auto y = model_.type(node_.output(0));
  if (!y || !is_byte(y->data_type)) {
    result.place = convolution ? NodePlace::kHost : NodePlace::kSums;
    result.why = "its results are not of 8 bits";
    return result;
  }
  result.type = static_cast<DataType>(y->data_type);
  result.result = quantization(roles->y_scale, result.type);
  const auto x = model_.type(node_.input(0));
  if (x && is_byte(x->data_type)) {
    const auto type = static_cast<DataType>(x->data_type);
    result.input = quantization(roles->x_scale, type);
    result.input.zero += move_to_int8(type);
  }
  return result;
}

}  // namespace

std::uint64_t sum_columns(std::uint64_t k, std::int32_t zero) {
  if (zero == 0) return 0;
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int8_t>::max());
  return divide_up(k * static_cast<std::uint64_t>(std::abs(zero)), largest) + 1;
}

std::int32_t move_to_int8(DataType type) { return type == TensorProto::UINT8 ? -128 : 0; }

QuantizedNode read_quantized_node(const OnnxModel& model, int index) {
  try {
    return Reader(model, index).read();
  } catch (const UsageError& error) {  // where it runs, the host will tell of it
    QuantizedNode result;
    result.place = NodePlace::kHost;
    result.why = error.what();
    return result;
  }
}

}  // namespace gemm64
