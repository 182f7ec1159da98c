// SPDX-License-Identifier: Apache-2.0
#include "host/graph/proto/attribute.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// The attribute, or nullptr. A file may leave out an attribute's type; then it has none.
const onnx::AttributeProto* find(const onnx::NodeProto& node, const std::string& name,
                                 onnx::AttributeProto::AttributeType type) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.type() != type) {
      throw UsageError(
          fmt::format("node '{}' ({}): attribute '{}' is of type {}; it must be of type {}",
                      printable(node.name()), printable(node.op_type()), name,
                      onnx::AttributeProto::AttributeType_Name(attribute.type()),
                      onnx::AttributeProto::AttributeType_Name(type)));
    }
    return &attribute;
  }
  return nullptr;
}

}  // namespace

std::int64_t attribute(const onnx::NodeProto& node, const std::string& name,
                       std::int64_t otherwise) {
  const auto* found = find(node, name, onnx::AttributeProto::INT);
  return found == nullptr ? otherwise : found->i();
}

float attribute(const onnx::NodeProto& node, const std::string& name, float otherwise) {
  const auto* found = find(node, name, onnx::AttributeProto::FLOAT);
  return found == nullptr ? otherwise : found->f();
}

std::string attribute(const onnx::NodeProto& node, const std::string& name,
                      const std::string& otherwise) {
  const auto* found = find(node, name, onnx::AttributeProto::STRING);
  return found == nullptr ? otherwise : found->s();
}

std::vector<std::int64_t> attribute(const onnx::NodeProto& node, const std::string& name,
                                    const std::vector<std::int64_t>& otherwise) {
  const auto* found = find(node, name, onnx::AttributeProto::INTS);
  if (found == nullptr) return otherwise;
  return {found->ints().begin(), found->ints().end()};
}

bool has_subgraph(const onnx::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const onnx::AttributeProto& attribute) {
                       return attribute.has_g() || attribute.graphs_size() != 0;
                     });
}

}  // namespace gemm64
