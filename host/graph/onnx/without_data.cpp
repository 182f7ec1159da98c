// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/without_data.hpp"

#include <vector>

namespace gemm64 {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// Copies a field of a model or a graph: lists there are of messages, numbers of 64 bits.
void copy_field(const Message& from, const FieldDescriptor* field, Message& to) {
  const Reflection& fields = *from.GetReflection();
  if (field->is_repeated()) {
    for (int i = 0; i < fields.FieldSize(from, field); ++i) {
      fields.AddMessage(&to, field)->CopyFrom(fields.GetRepeatedMessage(from, field, i));
    }
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    fields.MutableMessage(&to, field)->CopyFrom(fields.GetMessage(from, field));
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    fields.SetString(&to, field, fields.GetString(from, field));
  } else {
    fields.SetInt64(&to, field, fields.GetInt64(from, field));
  }
}

/// Copies all fields but one.
void copy_but(const Message& from, int number, Message& to) {
  const Reflection& fields = *from.GetReflection();
  std::vector<const FieldDescriptor*> present;
  fields.ListFields(from, &present);
  for (const FieldDescriptor* field : present) {
    if (field->number() != number) copy_field(from, field, to);
  }
  fields.MutableUnknownFields(&to)->MergeFrom(fields.GetUnknownFields(from));
}

}  // namespace

onnx::ModelProto without_data(const onnx::ModelProto& model) {
  onnx::ModelProto copy;
  copy_but(model, onnx::ModelProto::kGraphFieldNumber, copy);
  onnx::GraphProto& graph = *copy.mutable_graph();
  copy_but(model.graph(), onnx::GraphProto::kInitializerFieldNumber, graph);
  for (const onnx::TensorProto& tensor : model.graph().initializer()) {
    onnx::TensorProto& empty = *graph.add_initializer();
    empty.set_name(tensor.name());
    empty.set_data_type(tensor.data_type());
    *empty.mutable_dims() = tensor.dims();
  }
  return copy;
}

}  // namespace gemm64
