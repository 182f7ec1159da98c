// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "host/onnx/shape_rules.hpp"
#include "host/onnx/tensor.hpp"

namespace gemm64 {
namespace {

using Values = std::vector<std::int64_t>;
using Result = std::optional<std::int64_t>;

/// Results that 64 bits do not hold are not known, rather than wrong.
Result add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

Result subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a, b, &difference)) return std::nullopt;
  return difference;
}

Result multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

Result divide(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? std::nullopt : subtract(0, a);
  return a / b;  // towards zero, as ONNX Runtime does
}

Result equal(std::int64_t a, std::int64_t b) { return a == b; }
Result less(std::int64_t a, std::int64_t b) { return a < b; }
Result greater(std::int64_t a, std::int64_t b) { return a > b; }
Result largest(std::int64_t a, std::int64_t b) { return std::max(a, b); }
Result smallest(std::int64_t a, std::int64_t b) { return std::min(a, b); }

/// Operands of the same size, or one of a single value.
void binary(RuleNode& node, Result (*operation)(std::int64_t, std::int64_t)) {
  const Values* a = node.integers(0);
  const Values* b = node.integers(1);
  if (node.inputs() != 2 || a == nullptr || b == nullptr || a->empty() || b->empty()) return;
  if (a->size() != b->size() && a->size() != 1 && b->size() != 1) return;
  if (node.dims(0).size() > 1 || node.dims(1).size() > 1) return;
  Values result;
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const Result value = operation((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!value) return;
    result.push_back(*value);
  }
  node.set_integers(0, std::move(result));
}

/// The same values in the same order.
void keep(RuleNode& node) {
  if (const Values* values = node.integers(0)) node.set_integers(0, *values);
}

void cast(RuleNode& node) {
  const std::int64_t to = node.integer("to", 0);
  if (to == onnx::TensorProto::INT64) keep(node);
  if (to != onnx::TensorProto::INT32) return;
  const Values* values = node.integers(0);
  if (values == nullptr) return;
  for (const std::int64_t value : *values) {
    if (value != static_cast<std::int32_t>(value)) return;
  }
  keep(node);
}

void concat(RuleNode& node) {
  Values result;
  for (int i = 0; i < node.inputs(); ++i) {
    const Values* values = node.integers(i);
    if (values == nullptr || node.dims(i).size() != 1) return;
    result.insert(result.end(), values->begin(), values->end());
    if (result.size() > 4096) return;
  }
  node.set_integers(0, std::move(result));
}

void gather(RuleNode& node) {
  const Values* values = node.integers(0);
  const Values* indices = node.integers(1);
  if (values == nullptr || indices == nullptr || node.dims(0).size() != 1) return;
  const auto size = static_cast<std::int64_t>(values->size());
  Values result;
  for (const std::int64_t index : *indices) {
    node.require(index >= -size && index < size,
                 "index " + std::to_string(index) + " of " + std::to_string(size) + " values");
    result.push_back((*values)[static_cast<std::size_t>(index < 0 ? index + size : index)]);
  }
  node.set_integers(0, std::move(result));
}

void slice(RuleNode& node) {
  const Values* values = node.integers(0);
  if (values == nullptr || node.dims(0).size() != 1) return;
  const bool old = node.opset() < 10;
  const Values starts = old ? node.list("starts") : node.needed_integers(1);
  const Values ends = old ? node.list("ends") : node.needed_integers(2);
  const Values steps = !old && node.has(4) ? node.needed_integers(4) : Values{1};
  if (starts.size() != 1 || ends.size() != 1 || steps.size() != 1) return;
  const auto size = static_cast<std::int64_t>(values->size());
  const auto position = [size](std::int64_t at, std::int64_t least, std::int64_t most) {
    if (at < 0) at = at < -size ? -1 : at + size;
    return std::clamp(at, least, most);
  };
  // Steps beyond the size take the first value only.
  const std::int64_t step = std::clamp<std::int64_t>(steps[0], -size - 1, size + 1);
  Values result;
  if (step > 0) {
    const std::int64_t end = position(ends[0], 0, size);
    for (std::int64_t i = position(starts[0], 0, size); i < end; i += step) {
      result.push_back((*values)[static_cast<std::size_t>(i)]);
    }
  } else if (step < 0 && size > 0) {
    const std::int64_t end = position(ends[0], -1, size - 1);
    for (std::int64_t i = position(starts[0], -1, size - 1); i > end; i += step) {
      result.push_back((*values)[static_cast<std::size_t>(i)]);
    }
  }
  node.set_integers(0, std::move(result));
}

void where(RuleNode& node) {
  const Values* condition = node.integers(0);
  const Values* yes = node.integers(1);
  const Values* no = node.integers(2);
  if (condition == nullptr || yes == nullptr || no == nullptr) return;
  const std::size_t size = std::max({condition->size(), yes->size(), no->size()});
  Values result;
  for (std::size_t i = 0; i < size; ++i) {
    const auto pick = [i](const Values& values) -> Result {
      if (values.size() == 1) return values[0];
      if (i < values.size()) return values[i];
      return std::nullopt;
    };
    const Result selects = pick(*condition);
    const Result value = !selects ? selects : pick(*selects != 0 ? *yes : *no);
    if (!value) return;
    result.push_back(*value);
  }
  if (node.dims(0).size() <= 1 && node.dims(1).size() <= 1 && node.dims(2).size() <= 1) {
    node.set_integers(0, std::move(result));
  }
}

/// Of all values, as exporters multiply or add up the parts of a shape.
void fold(RuleNode& node, std::int64_t first, Result (*operation)(std::int64_t, std::int64_t)) {
  const Values* values = node.integers(0);
  if (values == nullptr || node.dims(0).size() != 1) return;
  if (node.integer("noop_with_empty_axes", 0) != 0) return;
  Result result = first;
  for (const std::int64_t value : *values) {
    result = operation(*result, value);
    if (!result) return;
  }
  node.set_integers(0, {*result});
}

}  // namespace

void propagate_integers(RuleNode& node) {
  using Handler = std::function<void(RuleNode&)>;
  static const std::map<std::string, Handler> handlers{
      {"Add", [](RuleNode& n) { binary(n, add); }},
      {"Sub", [](RuleNode& n) { binary(n, subtract); }},
      {"Mul", [](RuleNode& n) { binary(n, multiply); }},
      {"Div", [](RuleNode& n) { binary(n, divide); }},
      {"Max", [](RuleNode& n) { binary(n, largest); }},
      {"Min", [](RuleNode& n) { binary(n, smallest); }},
      {"Equal", [](RuleNode& n) { binary(n, equal); }},
      {"Less", [](RuleNode& n) { binary(n, less); }},
      {"Greater", [](RuleNode& n) { binary(n, greater); }},
      {"ReduceProd", [](RuleNode& n) { fold(n, 1, multiply); }},
      {"ReduceSum", [](RuleNode& n) { fold(n, 0, add); }},
      {"Identity", keep},
      {"Reshape", keep},
      {"Flatten", keep},
      {"Squeeze", keep},
      {"Unsqueeze", keep},
      {"Cast", cast},
      {"Concat", concat},
      {"Gather", gather},
      {"Slice", slice},
      {"Where", where},
  };
  if (node.outputs() != 1) return;
  const auto found = handlers.find(node.proto().op_type());
  if (found != handlers.end()) found->second(node);
}

}  // namespace gemm64
