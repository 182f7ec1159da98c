// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/qdq_values.hpp"

#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

bool is_called(const onnx::NodeProto& node, const char* name) {
  return node.op_type() == name && (node.domain().empty() || node.domain() == "com.microsoft");
}

/// The one value of a constant of 8, 16 or 32 bits.
std::optional<std::int64_t> one_integer(const TensorProto& tensor) {
  if (tensor.int32_data_size() == 1) return tensor.int32_data(0);
  const std::string& raw = tensor.raw_data();
  const auto byte = [&raw](std::size_t i) { return static_cast<unsigned char>(raw.at(i)); };
  switch (tensor.data_type()) {
    case TensorProto::INT8:
      return raw.size() == 1 ? std::optional<std::int64_t>(static_cast<std::int8_t>(byte(0)))
                             : std::nullopt;
    case TensorProto::UINT8:
      return raw.size() == 1 ? std::optional<std::int64_t>(byte(0)) : std::nullopt;
    case TensorProto::INT32:
      if (raw.size() != 4) return std::nullopt;
      return static_cast<std::int32_t>(byte(0) | byte(1) << 8 | byte(2) << 16 |
                                       static_cast<std::uint32_t>(byte(3)) << 24);
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_quantize(const onnx::NodeProto& node) { return is_called(node, "QuantizeLinear"); }
bool is_dequantize(const onnx::NodeProto& node) { return is_called(node, "DequantizeLinear"); }

std::string input_name(const onnx::NodeProto& node, int i) {
  return i < node.input_size() ? node.input(i) : std::string();
}

std::pair<std::int64_t, std::int64_t> QuantizationReader::range(int type) {
  return type == TensorProto::INT8 ? std::pair<std::int64_t, std::int64_t>{-128, 127}
                                   : std::pair<std::int64_t, std::int64_t>{0, 255};
}

std::optional<TensorType> QuantizationReader::type(const std::string& name) const {
  if (auto known = model_.type(name)) return known;
  const auto found = added_.find(name);
  if (found == added_.end()) return std::nullopt;
  return TensorType{found->second->data_type(),
                    {found->second->dims().begin(), found->second->dims().end()}};
}

const TensorProto* QuantizationReader::constant(const std::string& name) const {
  const auto found = added_.find(name);
  return found == added_.end() ? model_.constant(name) : found->second;
}

int QuantizationReader::result_type(const onnx::NodeProto& quantize) const {
  if (const auto zero = type(input_name(quantize, 2))) return zero->data_type;
  return static_cast<int>(attribute(quantize, "output_dtype", std::int64_t{TensorProto::UINT8}));
}

Dequantized QuantizationReader::read(const onnx::NodeProto& dequantize) const {
  Dequantized result{dequantize.input(0),
                     input_name(dequantize, 1),
                     input_name(dequantize, 2),
                     0,
                     attribute(dequantize, "axis", std::int64_t{1}),
                     attribute(dequantize, "block_size", std::int64_t{0}) != 0};
  // Values that a rewrite added have no type yet; they are what their zero point is.
  result.type = TensorProto::UINT8;
  for (const std::string& name : {result.values, result.zero}) {
    const auto known = type(name);
    if (!known) continue;
    result.type = known->data_type;
    break;
  }
  return result;
}

bool QuantizationReader::is_scalar(const std::string& name) const {
  const auto known = type(name);
  return known && known->dims.size() < 2 && known->elements() == 1;
}

bool QuantizationReader::same_scale(const Dequantized& value,
                                    const onnx::NodeProto& quantize) const {
  const auto before = scalar(value.scale, value.zero, value.type);
  const auto after =
      scalar(input_name(quantize, 1), input_name(quantize, 2), result_type(quantize));
  return before && after && *before == *after;
}

std::optional<std::vector<float>> QuantizationReader::floats(const std::string& name) const {
  const TensorProto* const tensor = constant(name);
  constexpr std::int64_t kMost = 1 << 20;
  return tensor == nullptr ? std::nullopt : float_values(*tensor, kMost);
}

std::optional<ScalarQuantization> QuantizationReader::scalar(const std::string& scale,
                                                             const std::string& zero,
                                                             int type) const {
  const auto scales = is_scalar(scale) ? floats(scale) : std::nullopt;
  if (!scales) return std::nullopt;
  ScalarQuantization result{scales->front(), 0, type};
  if (zero.empty()) return result;
  const TensorProto* const tensor = constant(zero);
  const auto value = tensor != nullptr && is_scalar(zero) ? one_integer(*tensor) : std::nullopt;
  if (!value) return std::nullopt;
  result.zero = *value;
  return result;
}

}  // namespace gemm64
