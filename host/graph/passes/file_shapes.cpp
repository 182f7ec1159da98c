// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/file_shapes.hpp"

#include <algorithm>

#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/onnx/shapes.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {

using onnx::NodeProto;

namespace {

/// Is the word one of those in the list, which spaces part?
bool is_among(const std::string& word, const std::string& list) {
  return (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

/// Operators whose result is as large as their first input.
constexpr const char* kKeepSizes =
    "Abs BiasGelu Cast Ceil Clip Cos DequantizeLinear Dropout Elu Erf Exp FastGelu Floor Gelu "
    "HardSigmoid HardSwish Identity IsNaN LayerNormalization LeakyRelu Log LogSoftmax Neg Not "
    "QLinearLeakyRelu QLinearSigmoid QLinearSoftmax QuantizeLinear QuickGelu RMSNormalization "
    "Reciprocal Relu Sigmoid Sign SimplifiedLayerNormalization Sin SkipLayerNormalization Softmax "
    "Sqrt Tanh";

/// Operators all of whose inputs are broadcast against each other.
constexpr const char* kBroadcast =
    "Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Or Pow Sub Where";

/// Which inputs are broadcast against each other.
std::vector<int> operands(const NodeProto& node) {
  if (is_among(node.op_type(), "QLinearAdd QLinearMul")) return {0, 3};
  std::vector<int> all;
  for (int i = 0; is_among(node.op_type(), kBroadcast) && i < node.input_size(); ++i) {
    all.push_back(i);
  }
  return all;
}

/// Two sizes that broadcast against each other.
FileSize broadcast_size(const FileSize& a, const FileSize& b) {
  const auto is_one = [](const FileSize& size) { return size.number == std::int64_t{1}; };
  if (is_one(a)) return b;
  if (is_one(b)) return a;
  if (a.number || b.number) return a.number ? a : b;
  return a.name == b.name ? a : FileSize{};
}

FileDims broadcast_dims(const FileDims& a, const FileDims& b) {
  FileDims result = a.size() < b.size() ? b : a;
  const FileDims& shorter = a.size() < b.size() ? a : b;
  const std::size_t more = result.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    result[more + i] = broadcast_size(result[more + i], shorter[i]);
  }
  return result;
}

bool all_numbers(const FileDims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const FileSize& size) { return !!size.number; });
}

}  // namespace

FileShapes::FileShapes(const OnnxModel& model) : model_(model) {
  const onnx::GraphProto& graph = model.graph();
  for (const auto& value : graph.value_info()) declare(value);
  for (const auto& value : graph.output()) declare(value);
  for (const auto& value : graph.input()) declare(value);
  for (const auto& tensor : graph.initializer()) {
    FileDims dims;
    for (const std::int64_t dim : tensor.dims()) dims.push_back({dim});
    dims_[tensor.name()] = dims;
  }
  for (const auto& value : graph.input()) {
    if (!is_fixed(value.name())) open_.insert(value.name());
  }
  for (const NodeProto& node : graph.node()) follow(node);
}

const FileDims* FileShapes::dims(const std::string& value) const {
  const auto found = dims_.find(value);
  return found == dims_.end() ? nullptr : &found->second;
}

bool FileShapes::is_fixed(const std::string& value) const {
  const FileDims* const known = dims(value);
  return known != nullptr && all_numbers(*known);
}

void FileShapes::declare(const onnx::ValueInfoProto& value) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
  FileDims dims;
  for (const auto& dim : value.type().tensor_type().shape().dim()) {
    dims.push_back(dim.has_dim_value() ? FileSize{dim.dim_value()}
                                       : FileSize{std::nullopt, open_name(dim)});
  }
  dims_[value.name()] = dims;
}

void FileShapes::follow(const NodeProto& node) {
  const bool is_open = !tells_numbers(node) &&
                       std::any_of(node.input().begin(), node.input().end(),
                                   [this](const auto& name) { return open_.count(name) != 0; });
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string& output = node.output(i);
    if (is_open) open_.insert(output);
    std::optional<FileDims> found = is_open ? std::nullopt : fixed(output);
    if (!found && (i == 0 || node.op_type() == "Split")) found = result(node);
    if (!found) {
      const auto type = model_.type(output);
      if (dims(output) == nullptr && type) dims_[output] = FileDims(type->dims.size());
      continue;
    }
    // A number that follows counts for more than a name in the file, and this for more than one
    // that follows.
    const FileDims* const declared = dims(output);
    for (std::size_t d = 0; declared != nullptr && d < found->size(); ++d) {
      if (declared->size() == found->size() && !(*found)[d].number && (*declared)[d].is_known()) {
        (*found)[d] = (*declared)[d];
      }
    }
    dims_[output] = *std::move(found);
  }
}

/// Is it a Shape that returns only known sizes?
bool FileShapes::tells_numbers(const NodeProto& node) const {
  const FileDims* const of = node.op_type() == "Shape" ? input(node, 0) : nullptr;
  if (of == nullptr) return false;
  const auto rank = static_cast<std::int64_t>(of->size());
  const auto place = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t axis = attribute(node, name, otherwise);
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t start = place("start", 0), end = place("end", rank);
  return std::all_of(of->begin() + start, of->begin() + std::max(start, end),
                     [](const FileSize& size) { return size.number.has_value(); });
}

const FileDims* FileShapes::input(const NodeProto& node, int i) const {
  return dims(input_name(node, i));
}

std::optional<FileDims> FileShapes::fixed(const std::string& output) const {
  const auto type = model_.type(output);
  if (!type) return std::nullopt;
  FileDims result;
  for (const std::int64_t dim : type->dims) result.push_back({dim});
  return result;
}

std::optional<FileDims> FileShapes::result(const NodeProto& node) const {
  const std::string& type = node.op_type();
  if (is_among(type, kKeepSizes)) {
    const FileDims* const first = input(node, 0);
    return first == nullptr ? std::nullopt : std::optional<FileDims>(*first);
  }
  if (!operands(node).empty()) return broadcast(node);
  if (is_among(type, "MatMul MatMulInteger MatMulIntegerToFloat DynamicQuantizeMatMul")) {
    return product(input(node, 0), input(node, 1));
  }
  if (type == "QLinearMatMul") return product(input(node, 0), input(node, 3));
  if (type == "MatMulNBits" && input(node, 0) != nullptr && !input(node, 0)->empty()) {
    FileDims dims = *input(node, 0);
    dims.back() = FileSize{attribute(node, "N", std::int64_t{0})};
    return dims;
  }
  if (type == "Gemm" && attribute(node, "transA", std::int64_t{0}) == 0 &&
      input(node, 0) != nullptr && input(node, 1) != nullptr && input(node, 0)->size() == 2 &&
      input(node, 1)->size() == 2) {
    const bool turned = attribute(node, "transB", std::int64_t{0}) != 0;
    return FileDims{(*input(node, 0))[0], (*input(node, 1))[turned ? 0 : 1]};
  }
  if (type == "Reshape") return reshaped(node);
  if (type == "Transpose") return transposed(node);
  if (type == "Gather") return gathered(node);
  return along_an_axis(node);
}

std::optional<FileDims> FileShapes::broadcast(const NodeProto& node) const {
  std::optional<FileDims> result;
  for (const int i : operands(node)) {
    const FileDims* const each = input(node, i);
    if (each == nullptr) return std::nullopt;
    result = result ? broadcast_dims(*result, *each) : *each;
  }
  return result;
}

std::optional<FileDims> FileShapes::product(const FileDims* a, const FileDims* b) const {
  if (a == nullptr || b == nullptr || a->size() < 2 || b->size() < 2) return std::nullopt;
  FileDims result =
      broadcast_dims(FileDims(a->begin(), a->end() - 2), FileDims(b->begin(), b->end() - 2));
  result.push_back(*(a->end() - 2));
  result.push_back(b->back());
  return result;
}

std::optional<FileDims> FileShapes::reshaped(const NodeProto& node) const {
  const std::string shape = input_name(node, 1);
  const auto wanted = open_.count(shape) == 0 ? model_.integers(shape) : std::nullopt;
  const FileDims* const from = input(node, 0);
  if (!wanted || from == nullptr) return std::nullopt;
  const bool keeps = attribute(node, "allowzero", std::int64_t{0}) == 0;
  FileDims result;
  std::int64_t others = 1;      // the product of what is known of the result
  std::set<std::size_t> taken;  // sizes that both sides have, and are no numbers
  std::optional<std::size_t> rest;
  bool is_rest_known = true;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    const std::int64_t number = (*wanted)[i];
    if (number == 0 && keeps && i < from->size()) {
      result.push_back((*from)[i]);
      if (!(*from)[i].number) taken.insert(i);
    } else {
      result.push_back(number < 0 ? FileSize{} : FileSize{number});
      if (number < 0) rest = i;
    }
    if (result.back().number) others *= *result.back().number;
  }
  std::int64_t all = 1;
  for (std::size_t i = 0; i < from->size(); ++i) {
    if (taken.count(i) != 0) continue;
    is_rest_known = is_rest_known && (*from)[i].number;
    all *= (*from)[i].number.value_or(1);
  }
  if (rest && is_rest_known && others != 0) result[*rest] = {all / others};
  return result;
}

std::optional<FileDims> FileShapes::transposed(const NodeProto& node) const {
  const FileDims* const from = input(node, 0);
  if (from == nullptr) return std::nullopt;
  const auto perm = attribute(node, "perm", std::vector<std::int64_t>{});
  FileDims result(from->rbegin(), from->rend());
  for (std::size_t i = 0; i < perm.size() && perm.size() == from->size(); ++i) {
    result[i] = (*from)[static_cast<std::size_t>(perm[i])];
  }
  return result;
}

std::optional<FileDims> FileShapes::gathered(const NodeProto& node) const {
  const FileDims *const data = input(node, 0), *const indices = input(node, 1);
  if (data == nullptr || indices == nullptr || data->empty()) return std::nullopt;
  std::int64_t axis = attribute(node, "axis", std::int64_t{0});
  if (axis < 0) axis += static_cast<std::int64_t>(data->size());
  FileDims result(data->begin(), data->begin() + axis);
  result.insert(result.end(), indices->begin(), indices->end());
  result.insert(result.end(), data->begin() + axis + 1, data->end());
  return result;
}

/// Where one axis becomes another size, comes or goes.
std::optional<FileDims> FileShapes::along_an_axis(const NodeProto& node) const {
  const FileDims* const from = input(node, 0);
  if (from == nullptr || from->empty()) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(from->size());
  const std::string& type = node.op_type();
  FileDims result = *from;
  if (type == "Concat" || type == "Split") {
    std::int64_t axis = attribute(node, "axis", std::int64_t{0});
    axis = axis < 0 ? axis + rank : axis;
    FileSize& size = result[static_cast<std::size_t>(axis)];
    if (type == "Split") {
      const bool is_even =
          input_name(node, 1).empty() && size.number && *size.number % node.output_size() == 0;
      size = is_even ? FileSize{*size.number / node.output_size()} : FileSize{};
      return result;
    }
    for (int i = 1; i < node.input_size(); ++i) {
      const FileDims* const next = input(node, i);
      if (next == nullptr || next->size() != from->size()) return std::nullopt;
      const FileSize& more = (*next)[static_cast<std::size_t>(axis)];
      size = size.number && more.number ? FileSize{*size.number + *more.number} : FileSize{};
    }
    return result;
  }
  if (type != "Unsqueeze" && type != "Squeeze" && type != "ReduceMean") return std::nullopt;
  auto axes = attribute(node, "axes", std::vector<std::int64_t>{});
  if (!input_name(node, 1).empty()) {
    const auto given = model_.integers(node.input(1));
    if (!given) return std::nullopt;
    axes = *given;
  }
  if (axes.empty()) return std::nullopt;
  const std::int64_t to =
      type == "Unsqueeze" ? rank + static_cast<std::int64_t>(axes.size()) : rank;
  std::set<std::int64_t> places;
  for (const std::int64_t axis : axes) places.insert(axis < 0 ? axis + to : axis);
  result.clear();
  const bool goes = type == "Squeeze" ||
                    (type == "ReduceMean" && attribute(node, "keepdims", std::int64_t{1}) == 0);
  std::size_t next = 0;
  for (std::int64_t i = 0; i < to; ++i) {
    const bool here = places.count(i) != 0;
    if (type == "Unsqueeze" && here) {
      result.push_back({1});
      continue;
    }
    const FileSize& size = (*from)[next++];
    if (!here) {
      result.push_back(size);
    } else if (!goes) {
      result.push_back({1});
    }
  }
  return result;
}

}  // namespace gemm64
