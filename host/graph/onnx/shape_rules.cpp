// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/shape_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// A tensor of values that shapes are made of; beyond that it is data.
constexpr std::int64_t kMaxValues = 4096;

}  // namespace

const TensorType& RuleNode::input(int i) const {
  if (!has(i)) fail(fmt::format("input {} is missing", i));
  const auto found = facts_.types.find(node_.input(i));
  if (found != facts_.types.end()) return found->second;
  const auto why = facts_.unknown.find(node_.input(i));
  throw NotKnown{why != facts_.unknown.end()
                     ? why->second
                     : fmt::format("nothing is known of '{}'", printable(node_.input(i)))};
}

const std::vector<std::int64_t>* RuleNode::integers(int i) const {
  if (!has(i)) return nullptr;
  const auto found = facts_.integers.find(node_.input(i));
  return found == facts_.integers.end() ? nullptr : &found->second;
}

const std::vector<std::int64_t>& RuleNode::needed_integers(int i) const {
  const std::vector<std::int64_t>* values = integers(i);
  if (values != nullptr) return *values;
  input(i);  // throws where even its shape is unknown: that is the deeper reason
  throw NotKnown{fmt::format("the shape that {} makes depends on the values of '{}'",
                             printable(node_.op_type()), printable(node_.input(i)))};
}

std::vector<float> RuleNode::needed_floats(int i) const {
  if (has(i)) {
    const auto found = constants_.find(node_.input(i));
    const auto folded = facts_.values.find(node_.input(i));
    const onnx::TensorProto* tensor = found != constants_.end()       ? found->second
                                      : folded != facts_.values.end() ? &folded->second
                                                                      : nullptr;
    if (tensor != nullptr) {
      if (auto values = float_values(*tensor, kMaxValues)) return *values;
    }
  }
  input(i);
  throw NotKnown{fmt::format("the shape that {} makes depends on the values of '{}'",
                             printable(node_.op_type()), printable(node_.input(i)))};
}

bool RuleNode::has_attribute(const char* name) const {
  return std::any_of(
      node_.attribute().begin(), node_.attribute().end(),
      [name](const onnx::AttributeProto& attribute) { return attribute.name() == name; });
}

std::int64_t RuleNode::integer(const char* name, std::int64_t otherwise) const {
  return attribute(node_, name, otherwise);
}

std::string RuleNode::text(const char* name, const char* otherwise) const {
  return attribute(node_, name, std::string(otherwise));
}

Dims RuleNode::list(const char* name, const Dims& otherwise) const {
  return attribute(node_, name, otherwise);
}

std::size_t RuleNode::axis(std::int64_t axis, std::size_t rank) const {
  const auto dimensions = static_cast<std::int64_t>(rank);
  if (axis < -dimensions || axis >= dimensions) {
    fail(fmt::format("axis {} of a tensor of {}", axis,
                     counted(static_cast<std::uint64_t>(rank), "dimension")));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis);
}

void RuleNode::set(int i, int data_type, const Dims& dims) {
  if (i >= node_.output_size() || node_.output(i).empty()) return;
  facts_.types[node_.output(i)] =
      checked_type(data_type, dims, fmt::format("{}: output {}", where_, i));
}

void RuleNode::set_integers(int i, std::vector<std::int64_t> values) {
  if (i >= node_.output_size() || node_.output(i).empty()) return;
  facts_.keep_integers(node_.output(i), std::move(values));
}

void RuleNode::fail(const std::string& what) const {
  throw UsageError(fmt::format("{}: {}", where_, what));
}

void shapes::unknown(RuleNode& node) {
  const std::string& domain = node.proto().domain();
  throw NotKnown{fmt::format("the shapes that operator {}{}{} makes are not inferred",
                             printable(domain), domain.empty() ? "" : ".",
                             printable(node.proto().op_type()))};
}

Dims broadcast(const RuleNode& node, const Dims& a, const Dims& b) {
  Dims result = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  const std::size_t offset = result.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dim = result[offset + i];
    if (dim == shorter[i] || shorter[i] == 1) continue;
    node.require(dim == 1,
                 fmt::format("shapes {} and {} do not fit together", dims_text(a), dims_text(b)));
    dim = shorter[i];
  }
  return result;
}

}  // namespace gemm64
