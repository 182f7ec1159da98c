// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/calibration.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

/// The least and the greatest of `count` values, at least one; NaNs are passed over, unless the
/// first is one.
std::pair<float, float> extremes(const float* values, std::int64_t count) {
  // In parallel lanes, which the compiler needs spelled out: the order of comparisons shows in
  // NaNs.
  constexpr std::int64_t kLanes = 32;
  std::array<float, kLanes> least;
  std::array<float, kLanes> greatest;
  least.fill(values[0]);
  greatest.fill(values[0]);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const float* const from = values + std::min(i, std::max<std::int64_t>(count - kLanes, 0));
    const std::int64_t lanes = std::min(count, kLanes);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto at = static_cast<std::size_t>(lane);
      least[at] = from[lane] < least[at] ? from[lane] : least[at];
      greatest[at] = from[lane] > greatest[at] ? from[lane] : greatest[at];
    }
  }
  return {*std::min_element(least.begin(), least.end()),
          *std::max_element(greatest.begin(), greatest.end())};
}

void widen(Ranges& ranges, const std::string& name, const float* values, std::int64_t count) {
  const auto [least, greatest] = extremes(values, count);
  const auto [found, is_new] = ranges.try_emplace(name, least, greatest);
  if (is_new) return;
  found->second.first = std::min(found->second.first, least);
  found->second.second = std::max(found->second.second, greatest);
}

/// How many numbers of a value belong to `images` images, where it has a row for each of `rows`.
std::int64_t numbers_of(const Tensor& tensor, std::int64_t images, std::int64_t rows) {
  const bool by_row = images < rows && !tensor.dims().empty() && tensor.dim(0) == rows;
  return by_row ? tensor.elements() / rows * images : tensor.elements();
}

/// May the value be a tensor of float32?
bool may_be_float(const OnnxModel& model, const onnx::NodeProto& node, const std::string& name) {
  if (name.empty() || model.constant(name) != nullptr) return false;
  if (const auto type = model.type(name)) return type->data_type == onnx::TensorProto::FLOAT;
  return node.op_type().find("Sequence") == std::string::npos &&
         node.op_type().find("Optional") == std::string::npos;
}

/// Opens the first size of each input: a network of one image is calibrated on many.
void open_first_sizes(onnx::GraphProto& graph) {
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    if (shape.dim_size() != 0) shape.mutable_dim(0)->set_dim_param(input.name() + ".0");
  }
  graph.clear_value_info();
  for (onnx::ValueInfoProto& output : *graph.mutable_output()) {
    output.mutable_type()->mutable_tensor_type()->clear_shape();
  }
}

std::uint64_t bytes_of(const OnnxModel& model, const std::string& name) {
  const auto type = model.type(name);
  if (!type) return 0;
  std::uint64_t bytes = sizeof(float);
  for (const std::int64_t size : type->dims) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

}  // namespace

ObservedNetwork::ObservedNetwork(const OnnxModel& model, std::uint64_t most_bytes)
    : model_(model), environment_([]() -> const ort::Library& {
        try {
          return ort::own_library();
        } catch (const ort::Error& error) {
          throw UsageError(error.what());
        }
      }()) {
  HostModel own = host_model(model, true, model.proto());
  onnx::GraphProto& graph = *own.proto.mutable_graph();
  open_first_sizes(graph);
  std::set<std::string> outputs;
  for (const auto& output : graph.output()) outputs.insert(output.name());
  std::set<std::string> read;
  std::uint64_t bytes = 0;
  for (const onnx::NodeProto& node : model.graph().node()) {
    read.insert(node.input().begin(), node.input().end());
    for (const std::string& name : node.output()) {
      if (!may_be_float(model, node, name)) continue;
      const std::uint64_t more = bytes_of(model, name);
      if (shown_.empty() || bytes + more > most_bytes) {
        shown_.emplace_back();
        bytes = 0;
      }
      bytes += more;
      shown_.back().push_back(name);
      if (!outputs.insert(name).second) continue;
      onnx::ValueInfoProto& output = *graph.add_output();
      output.set_name(name);
      if (!model.type(name)) continue;
      output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    }
  }
  for (const std::string& name : model.inputs()) {
    if (read.count(name) != 0) inputs_.push_back(name);
  }
  try {
    session_.emplace(host_session(environment_, own));
  } catch (const ort::Error& error) {
    throw onnxruntime_error(model.name(), error);
  }
}

void ObservedNetwork::observe(const NetworkInputs& inputs, const ValueObserver& observer) const {
  for (std::int64_t pass = 0; pass < inputs.passes(); ++pass) {
    const std::int64_t images = inputs.images_of(pass);
    const auto show = [&](const std::string& name, const Tensor& tensor) {
      if (tensor.type() != onnx::TensorProto::FLOAT || tensor.elements() == 0) return;
      observer(name, tensor.values<float>(), numbers_of(tensor, images, inputs.at_once));
    };
    const NetworkInputs given = inputs.pass(pass);
    const NamedTensors values = given.take(0, given.images);
    for (const std::string& name : inputs_) show(name, values.at(name));
    for (const Names& names : shown_) {
      try {
        for (const auto& [name, tensor] : session_->run(values, names)) show(name, tensor);
      } catch (const ort::Error& error) {
        throw onnxruntime_error(model_.name(), error);
      }
    }
  }
}

Ranges calibrate(const ObservedNetwork& network, const NetworkInputs& inputs) {
  if (!inputs.nans.empty()) {
    throw UsageError(inputs.nans.front() + "; calibrate on inputs without NaN");
  }
  Ranges ranges;
  for (const onnx::TensorProto& tensor : network.model().graph().initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT || !has_data(tensor)) continue;
    const Tensor values = Tensor::from_proto(tensor);
    if (values.elements() != 0) {
      widen(ranges, tensor.name(), values.values<float>(), values.elements());
    }
  }
  network.observe(inputs, [&](const std::string& name, const float* values, std::int64_t count) {
    widen(ranges, name, values, count);
  });
  return ranges;
}

UsageError with_infinities(const UsageError& error, const NetworkInputs& inputs) {
  return inputs.infinities.empty() ? error
                                   : UsageError(error.what() + ("; " + inputs.infinities.front()));
}

}  // namespace gemm64
