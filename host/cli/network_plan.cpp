// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "host/error.hpp"
#include "host/onnx/supported.hpp"

namespace gemm64 {
TensorMap map_of(const Dims& dims) {
  const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  TensorMap map;
  if (!dims.empty()) map.images = size(dims[0]);
  if (dims.size() > 1) map.channels = size(dims[1]);
  for (std::size_t axis = 2; axis + 1 < dims.size(); ++axis) map.height *= size(dims[axis]);
  if (dims.size() > 2) map.width = size(dims.back());
  return map;
}

std::vector<std::uint8_t> map_bytes(const Tensor& tensor, const TensorMap& map, std::uint32_t n,
                                    std::uint8_t rest) {
  const std::uint64_t planes = (map.channels + n - 1) / n;
  const std::uint64_t area = std::uint64_t{map.height} * map.width;
  if (static_cast<std::uint64_t>(tensor.elements()) != map.pixels() * map.channels) {
    throw std::invalid_argument("map_bytes: the tensor is " + describe(tensor));
  }
  std::vector<std::uint8_t> bytes(planes * map.pixels() * n, rest);
  const auto* from = reinterpret_cast<const std::uint8_t*>(tensor.raw());
  const std::uint8_t move = tensor.type() == onnx::TensorProto::UINT8 ? 0x80 : 0;
  for (std::uint64_t image = 0; image < map.images; ++image) {
    for (std::uint64_t channel = 0; channel < map.channels; ++channel) {
      const std::uint64_t first = (channel / n * map.images + image) * area;
      for (std::uint64_t pixel = 0; pixel < area; ++pixel) {
        bytes[(first + pixel) * n + channel % n] = static_cast<std::uint8_t>(*from++ ^ move);
      }
    }
  }
  return bytes;
}

CompileOptions NetworkPlan::in_place() {
  CompileOptions options;
  options.in_place = true;
  return options;
}

NetworkPlan::NetworkPlan(const OnnxModel& model, const Geometry& geometry,
                         const Executable* compiled)
    : model_(model) {
  if (compiled != nullptr) {
    CompileOptions options = in_place();
    options.lanes = compiled->options.lanes;
    require_same(*compiled, geometry, options, model.name());
    executable_ = *compiled;
  } else {
    executable_ = compile(model, geometry, in_place());
  }
  check_nodes();
  if (compiled == nullptr) pack_constants(executable_, Executor(model));
}

std::string NetworkPlan::label(const onnx::NodeProto& node) const {
  return node_label(node, makers_.at(node.output(0)));
}

UsageError NetworkPlan::refusal(const onnx::NodeProto& node, const std::string& why) const {
  return UsageError(fmt::format("{}: '{}': {}", model_.name(), label(node), why));
}

void NetworkPlan::check_nodes() {
  const auto& nodes = model_.graph().node();
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].output()) makers_[output] = i;
  }
  const DevicePlan& plan = executable_.plan;
  for (const auto* const left : {&plan.on_host, &plan.sums}) {
    if (left->empty()) continue;
    throw refusal(nodes[left->begin()->first],
                  "the accelerator does not give its 8-bit results: " + left->begin()->second);
  }
  if (plan.programs.empty()) {
    throw UsageError(fmt::format(
        "{}: has no quantized layer for the accelerator; give --calibrate, or quantize it by "
        "gemm64 quantize",
        model_.name()));
  }
  std::set<std::string> scores;  // behind a layer, and no longer of 8 bits
  for (int i = 0; i < nodes.size(); ++i) {
    const std::string name = operator_name(nodes[i]);
    const auto reads = [&](const std::set<std::string>& values) {
      return std::any_of(nodes[i].input().begin(), nodes[i].input().end(),
                         [&](const std::string& input) { return values.count(input) != 0; });
    };
    if (!is_layer(i) && !reads(behind_)) continue;  // the host's, before all
    const bool scored = reads(scores);
    const bool pools = name == "MaxPool" && nodes[i].output_size() == 1;
    const bool known =
        is_view(nodes[i]) || (!scored && (is_layer(i) || pools || name == "DequantizeLinear"));
    if (!known) {
      throw refusal(nodes[i], fmt::format("the firmware has no {} behind a layer; it has MaxPool, "
                                          "Flatten, Reshape, Squeeze and Unsqueeze",
                                          name));
    }
    behind_.insert(nodes[i].output().begin(), nodes[i].output().end());
    if (scored || name == "DequantizeLinear") {
      scores.insert(nodes[i].output().begin(), nodes[i].output().end());
    }
  }
}

std::string NetworkPlan::root_of(const std::string& name) const {
  std::string root = name;
  for (auto maker = makers_.find(root); maker != makers_.end(); maker = makers_.find(root)) {
    const onnx::NodeProto& node = model_.graph().node(maker->second);
    const std::string type = operator_name(node);
    if (node.input_size() == 0) break;
    if (!is_view(node) && (type != "DequantizeLinear" || !is_behind_layer(root))) break;
    root = node.input(0);
  }
  return root;
}

const onnx::NodeProto* NetworkPlan::pool_of(const std::string& root) const {
  if (!is_behind_layer(root)) return nullptr;
  const onnx::NodeProto& node = model_.graph().node(makers_.at(root));
  return operator_name(node) == "MaxPool" ? &node : nullptr;
}

}  // namespace gemm64
