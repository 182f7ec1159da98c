// SPDX-License-Identifier: Apache-2.0
#include "host/compile/vector_node.hpp"

#include <cmath>
#include <utility>

#include "host/device/command_rules.hpp"
#include "host/device/result_format.hpp"
#include "host/device/vector_path.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/float_bits.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

std::uint32_t byte_of(std::int32_t value) { return static_cast<std::uint32_t>(value) & 0xff; }

/// Is `b` one value for each index of an axis of `a`: each channel of maps (axis 1), or each column
/// of matrices (the last one)?
bool stretches(const std::vector<std::int64_t>& b, const std::vector<std::int64_t>& a,
               std::size_t of) {
  if (a.size() < 2 || a.size() > 4 || b.empty() || b.size() > a.size()) return false;
  const std::size_t lead = a.size() - b.size();
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    const std::int64_t size = axis < lead ? 1 : b[axis - lead];
    if (size != (axis == of ? a[axis] : 1)) return false;
  }
  return true;
}

/// How many images of maps `a` have a value of `b` for each channel of their own: 1 where one
/// serves all; nothing where `b` is not one value for each channel.
std::optional<std::uint32_t> stretched_images(const std::vector<std::int64_t>& b,
                                              const std::vector<std::int64_t>& a) {
  if (stretches(b, a, 1)) return 1;
  if (a.size() < 3 || b.size() != a.size() || b[0] != a[0]) return std::nullopt;
  std::vector<std::int64_t> of_one = b;
  of_one[0] = 1;
  if (!stretches(of_one, a, 1)) return std::nullopt;
  return static_cast<std::uint32_t>(b[0]);
}

/// QLinearAdd: rint(fma(a, sa / sy, fma(b, sb / sy, zy - fma(sa / sy, za, sb / sy * zb)))), as ONNX
/// Runtime's kernel has it.
void set_addition(StoreCommand& store, const Quantization& a, const Quantization& b,
                  const Quantization& y) {
  const float a_ratio = a.scale / y.scale, b_ratio = b.scale / y.scale;
  const auto a_zero = static_cast<float>(a.zero), b_zero = static_cast<float>(b.zero);
  store.add = 1;
  store.result_scale = bits_of(a_ratio);
  store.operand_scale = bits_of(b_ratio);
  store.offset = bits_of(static_cast<float>(y.zero) - std::fma(a_ratio, a_zero, b_ratio * b_zero));
}

/// QLinearMul: rint((a - za) * (b - zb) * (sa * sb / sy) + zy).
void set_product(StoreCommand& store, const Quantization& a, const Quantization& b,
                 const Quantization& y) {
  store.multiply = 1;
  store.result_zero = byte_of(a.zero);
  store.operand_zero = byte_of(b.zero);
  store.operand_scale = bits_of(a.scale * b.scale / y.scale);
  store.offset = bits_of(static_cast<float>(y.zero));
}

}  // namespace

std::optional<Quantization> constant_quantization(const OnnxModel& model,
                                                  const NodeContext& context, int scale,
                                                  DataType type) {
  Quantization result;
  for (const int input : {scale, scale + 1}) {
    const std::string& name = input_name(*context.node, input);
    if (name.empty() && input != scale) continue;
    if (!model.is_constant(name)) return std::nullopt;
    const TensorProto* const proto = model.constant(name);
    if (proto == nullptr || !has_data(*proto)) continue;
    const Tensor tensor = Tensor::from_proto(*proto);
    if (tensor.elements() != 1) return std::nullopt;
    if (input == scale) {
      result.scale = scales_of(context, tensor).front();
    } else {
      result.zero = zeros_of(context, tensor, type).front();
    }
  }
  return result;
}

StoreCommand VectorNode::swapped() const {
  StoreCommand other = settings;
  if (settings.add != 0) {
    other.swap ^= 1;
  } else {
    std::swap(other.result_zero, other.operand_zero);
  }
  return other;
}

std::optional<VectorNode> read_vector_node(const OnnxModel& model, int index,
                                           const Geometry& geometry, std::string& why) {
  why.clear();
  const onnx::NodeProto& node = model.graph().node(index);
  const std::string name = operator_name(node);
  const bool addition = name == "com.microsoft.QLinearAdd";
  if (!addition && name != "com.microsoft.QLinearMul") return std::nullopt;
  const auto refuse = [&why](const char* reason) {
    why = reason;
    return std::nullopt;
  };
  VectorNode result;
  const auto a = model.type(input_name(node, result.a));
  const auto b = model.type(input_name(node, result.b));
  if (!a || !b) return refuse("its shape is not known before it runs");
  if (a->dims != b->dims) {
    auto images = stretched_images(a->dims, b->dims);
    if (images) {
      std::swap(result.a, result.b);
    } else if (!(images = stretched_images(b->dims, a->dims))) {
      if (stretches(a->dims, b->dims, b->dims.size() - 1)) {
        std::swap(result.a, result.b);
      } else if (!stretches(b->dims, a->dims, a->dims.size() - 1)) {
        return refuse("one operand is stretched, and not one value for each channel");
      }
      result.by_columns = true;
    }
    result.stretched = true;
    result.images = images.value_or(1);
  }
  if (a->data_type != b->data_type ||
      (a->data_type != TensorProto::INT8 && a->data_type != TensorProto::UINT8)) {
    return refuse("its operands are not of one type of 8 bits");
  }
  result.type = static_cast<DataType>(a->data_type);
  const NodeContext context{&node, node_label(node, index), model.opset()};
  const auto of_a = constant_quantization(model, context, result.a + 1, result.type);
  const auto of_b = constant_quantization(model, context, result.b + 1, result.type);
  const auto of_y = constant_quantization(model, context, 6, result.type);
  if (!of_a || !of_b || !of_y) return refuse("its scales depend on the input");
  result.of_a = *of_a;
  result.of_b = *of_b;
  result.result = *of_y;
  StoreCommand& store = result.settings;
  store.flags = flag::kVector;
  const ResultFormat format(result.type == TensorProto::UINT8 ? ResultCode::kUint8
                                                              : ResultCode::kInt8);
  store.format = format.number();
  store.function_min = byte_of(format.least());
  store.function_max = byte_of(format.largest());
  store.broadcast = result.stretched ? 1 : 0;
  if (addition) {
    // The order of additions decides how a sum is rounded. It is that of the inputs, except where
    // ONNX Runtime swaps them, whichever of them the layer gives.
    const bool swapped = is_addition_swapped(a->dims, b->dims);
    const bool in_order = (result.a == 0) != swapped;
    set_addition(store, in_order ? *of_a : *of_b, in_order ? *of_b : *of_a, *of_y);
    store.swap = in_order ? 0 : 1;
  } else {
    set_product(store, *of_a, *of_b, *of_y);
  }
  why = rule_refusal(store, geometry, false);
  if (why.empty()) return result;
  why = "the element-wise unit does not take its scales: " + why;
  return std::nullopt;
}

}  // namespace gemm64
