// SPDX-License-Identifier: Apache-2.0
// What QuantizeLinear and DequantizeLinear nodes say: scale, zero point and type.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"

namespace gemm64 {

bool is_quantize(const onnx::NodeProto& node);
bool is_dequantize(const onnx::NodeProto& node);

/// Input `i` of a node, empty where it is left out.
std::string input_name(const onnx::NodeProto& node, int i);

/// A quantized value and what makes it a float one: the inputs of a DequantizeLinear.
struct Dequantized {
  std::string values, scale, zero;
  int type = 0;           // of the values
  std::int64_t axis = 1;  // of the scales, where there are many
  bool in_blocks = false;
};

/// One scale and zero point for all values, both constant.
struct ScalarQuantization {
  float scale = 1;
  std::int64_t zero = 0;
  int type = 0;

  bool operator==(const ScalarQuantization& other) const {
    return scale == other.scale && zero == other.zero && type == other.type;
  }
};

/// Reads scales and zero points of a graph's constants.
class QuantizationReader {
 public:
  explicit QuantizationReader(const OnnxModel& model) : model_(model) {}

  /// Reads this constant, too, which a rewrite added and which must outlive the reader.
  void add(const onnx::TensorProto& constant) { added_[constant.name()] = &constant; }

  /// The type that a QuantizeLinear gives.
  int result_type(const onnx::NodeProto& quantize) const;
  Dequantized read(const onnx::NodeProto& dequantize) const;
  /// Of a scale and a zero point (which may be absent: 0 of `type`); empty where they are no
  /// constants, or more than one value.
  std::optional<ScalarQuantization> scalar(const std::string& scale, const std::string& zero,
                                           int type) const;
  /// A constant of float32, all of it; empty where it is none.
  std::optional<std::vector<float>> floats(const std::string& name) const;
  bool is_scalar(const std::string& name) const;
  /// Does a QuantizeLinear give one scale and zero point, the value's own?
  bool same_scale(const Dequantized& value, const onnx::NodeProto& quantize) const;
  /// The smallest and the largest number of an integer type.
  static std::pair<std::int64_t, std::int64_t> range(int type);

 private:
  std::optional<TensorType> type(const std::string& name) const;
  const onnx::TensorProto* constant(const std::string& name) const;

  const OnnxModel& model_;
  std::map<std::string, const onnx::TensorProto*> added_;
};

}  // namespace gemm64
