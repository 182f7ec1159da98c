// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/builder.hpp"

#include <Eigen/Core>
#include <stdexcept>

namespace gemm64 {
namespace {

onnx::AttributeProto& add_attribute(onnx::NodeProto& node, const std::string& name,
                                    onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

// raw_data is little-endian, as every machine is that this program runs on.
template <class T>
void set_raw(onnx::TensorProto& tensor, const T* values, std::size_t count) {
  tensor.set_raw_data(values, count * sizeof(T));
}

}  // namespace

void set_attribute(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  add_attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

void set_attribute(onnx::NodeProto& node, const std::string& name, float value) {
  add_attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}

void set_attribute(onnx::NodeProto& node, const std::string& name,
                   const std::vector<std::int64_t>& values) {
  onnx::AttributeProto& attribute = add_attribute(node, name, onnx::AttributeProto::INTS);
  for (const std::int64_t value : values) attribute.add_ints(value);
}

void declare(onnx::ValueInfoProto& value, const std::string& name,
             const std::vector<std::int64_t>& dims) {
  value.set_name(name);
  onnx::TypeProto_Tensor& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  onnx::TensorShapeProto& shape = *type.mutable_shape();
  for (const std::int64_t dim : dims) {
    onnx::TensorShapeProto::Dimension& dimension = *shape.add_dim();
    if (dim == 0) {
      dimension.set_dim_param("batch");
    } else {
      dimension.set_dim_value(dim);
    }
  }
}

onnx::NodeProto& GraphBuilder::add_node(const std::string& op_type, const std::string& name,
                                        const std::vector<std::string>& inputs,
                                        const std::vector<std::string>& outputs) {
  onnx::NodeProto& node = *graph_.add_node();
  node.set_op_type(op_type);
  node.set_name(name);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

onnx::TensorProto& GraphBuilder::add_initializer(const std::string& name, int data_type,
                                                 const std::vector<std::int64_t>& dims) {
  onnx::TensorProto& tensor = *graph_.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(data_type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

std::string GraphBuilder::add_integers(const std::string& name,
                                       const std::vector<std::int64_t>& values) {
  set_raw(
      add_initializer(name, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())}),
      values.data(), values.size());
  return name;
}

std::string GraphBuilder::add_scalar(const std::string& name, int data_type, double value) {
  onnx::TensorProto& tensor = add_initializer(name, data_type, {});
  const auto narrow = static_cast<float>(value);
  if (data_type == onnx::TensorProto::DOUBLE) {
    set_raw(tensor, &value, 1);
  } else if (data_type == onnx::TensorProto::FLOAT) {
    set_raw(tensor, &narrow, 1);
  } else if (data_type == onnx::TensorProto::FLOAT16) {
    const Eigen::half half(narrow);
    set_raw(tensor, &half, 1);
  } else if (data_type == onnx::TensorProto::BFLOAT16) {
    const Eigen::bfloat16 half(narrow);
    set_raw(tensor, &half, 1);
  } else {
    throw std::invalid_argument("GraphBuilder::add_scalar: not a floating-point type");
  }
  return name;
}

float* GraphBuilder::add_floats(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  std::string& bytes = *add_initializer(name, onnx::TensorProto::FLOAT, dims).mutable_raw_data();
  bytes.resize(count * sizeof(float));
  return reinterpret_cast<float*>(&bytes[0]);
}

}  // namespace gemm64
