// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "host/error.hpp"
#include "host/onnx/supported.hpp"

namespace gemm64 {
namespace {

/// Results in int8, where another layer or the processor reads them.
Output as_int8(Output output) {
  if (output.format.code() != ResultCode::kUint8) return output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.zero += move_to_int8(onnx::TensorProto::UINT8);
  output.low = output.format.least();
  output.high = output.format.largest();
  return output;
}

}  // namespace

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

NetworkPlan::NetworkPlan(const OnnxModel& model, const Geometry& geometry)
    : model_(model), plan_(plan_device(model, geometry)) {
  check_nodes();
  for (DeviceProgram& program : plan_.programs) {
    for (DeviceLayer& layer : program.layers) fit(layer, geometry);
  }
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
  for (const auto* const left : {&plan_.on_host, &plan_.sums}) {
    if (left->empty()) continue;
    throw refusal(nodes[left->begin()->first],
                  "the accelerator does not give its 8-bit results: " + left->begin()->second);
  }
  if (plan_.programs.empty()) {
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

/// Makes a layer's job anew: it reads a tensor as it lies, and gives int8.
void NetworkPlan::fit(DeviceLayer& layer, const Geometry& geometry) {
  const onnx::NodeProto& node = model_.graph().node(layer.node);
  const GemmShape shape = layer.job.plan.shape;
  const Output output = as_int8(layer.job.plan.output);
  const std::optional<std::size_t> source = layer.source;
  if (!source && is_behind_layer(node.input(0)) && !layer.convolution) {
    const auto type = model_.type(root_of(node.input(0)));
    const TensorMap map = map_of(type ? type->dims : Dims());
    const std::uint64_t area = std::uint64_t{map.height} * map.width;
    if (shape.m != map.images || shape.k != area * map.channels) {
      throw refusal(node, "its activations do not lie as the processor leaves them");
    }
    if (area != 1) {  // the whole map is its window
      Convolution window;
      window.images = map.images;
      window.channels = map.channels;
      window.height = window.kernel_height = map.height;
      window.width = window.kernel_width = map.width;
      window.out_channels = static_cast<std::uint32_t>(shape.n);
      layer.convolution = window;
    }
  }
  layer.packed = false;
  try {
    layer.job = layer.convolution
                    ? make_job(layer.job.name, *layer.convolution, geometry, output)
                    : make_job(layer.job.name, shape, Accumulate::kDevice, geometry, output);
  } catch (const UsageError& error) {
    throw refusal(node, error.what());
  }
  layer.job.source = source;
}

}  // namespace gemm64
