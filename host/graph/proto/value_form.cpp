// SPDX-License-Identifier: Apache-2.0
#include "host/graph/proto/value_form.hpp"

#include <google/protobuf/unknown_field_set.h>

#include <optional>
#include <string>

namespace gemm64 {
namespace {

// Fields of TypeProto, which onnx.proto omits since networks rarely have such values. Each is a
// message whose first field is the type of the elements.
constexpr int kSequenceType = 4;
constexpr int kOptionalType = 9;
constexpr int kElementType = 1;

/// The last field of that number, a message.
std::optional<std::string> message_in(const google::protobuf::UnknownFieldSet& fields, int number) {
  std::optional<std::string> found;
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    const bool is_message = field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (field.number() == number && is_message) found = field.length_delimited();
  }
  return found;
}

std::optional<onnx::TypeProto> element_type(const onnx::TypeProto& type, int number) {
  const auto message = message_in(type.GetReflection()->GetUnknownFields(type), number);
  google::protobuf::UnknownFieldSet fields;
  if (!message || !fields.ParseFromString(*message)) return std::nullopt;
  onnx::TypeProto element;
  const auto bytes = message_in(fields, kElementType);
  if (!bytes || !element.ParseFromString(*bytes)) return std::nullopt;
  return element;
}

}  // namespace

ValueForm value_form(const onnx::TypeProto& type) {
  if (const auto present = element_type(type, kOptionalType)) return value_form(*present);
  const auto element = element_type(type, kSequenceType);
  return {element.has_value(), (element ? *element : type).tensor_type()};
}

}  // namespace gemm64
