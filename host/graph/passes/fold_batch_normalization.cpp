// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fold_batch_normalization.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

using Floats = std::optional<std::vector<float>>;

Floats constant(const OnnxModel& model, const std::string& name, std::int64_t most) {
  const onnx::TensorProto* tensor = model.constant(name);
  return tensor == nullptr ? std::nullopt : float_values(*tensor, most);
}

/// A Conv's weights and bias with what follows it.
struct Folded {
  std::vector<float> weights, bias;
};

std::optional<Folded> fold_into(const OnnxModel& model, const onnx::NodeProto& conv,
                                const onnx::NodeProto& normalization) {
  const auto type = model.type(conv.input(1));
  if (!type || type->dims.size() < 3 || type->dims[0] == 0) return std::nullopt;
  const std::int64_t channels = type->dims[0];
  const Floats weights = constant(model, conv.input(1), type->elements());
  const std::string bias_name = input_name(conv, 2);
  const Floats bias = bias_name.empty()
                          ? Floats(std::vector<float>(static_cast<std::size_t>(channels)))
                          : constant(model, bias_name, channels);
  std::vector<std::vector<float>> statistics;  // scale, bias, mean, variance
  for (int i = 1; i < 5; ++i) {
    const Floats values = constant(model, normalization.input(i), channels);
    if (!values || static_cast<std::int64_t>(values->size()) != channels) return std::nullopt;
    statistics.push_back(*values);
  }
  if (!weights || !bias || static_cast<std::int64_t>(bias->size()) != channels) return std::nullopt;
  const double epsilon = attribute(normalization, "epsilon", 1e-5F);
  Folded result{*weights, *bias};
  const std::size_t filter = weights->size() / static_cast<std::size_t>(channels);
  for (std::size_t c = 0; c < result.bias.size(); ++c) {
    const double factor = statistics[0][c] / std::sqrt(statistics[3][c] + epsilon);
    for (std::size_t i = c * filter; i < (c + 1) * filter; ++i) {
      result.weights[i] = static_cast<float>((*weights)[i] * factor);
    }
    result.bias[c] =
        static_cast<float>((double{(*bias)[c]} - statistics[2][c]) * factor + statistics[1][c]);
  }
  return result;
}

void add_floats(onnx::GraphProto& graph, const std::string& name,
                const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
  tensor.set_raw_data(values.data(), values.size() * sizeof(float));
}

}  // namespace

onnx::ModelProto fold_batch_normalization(const OnnxModel& model) {
  onnx::ModelProto proto = model.proto();
  onnx::GraphProto& graph = *proto.mutable_graph();
  GraphLinks links(model.graph());
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  std::map<std::string, int> places;  // in `nodes`, by output
  for (const onnx::NodeProto& node : model.graph().node()) {
    const onnx::NodeProto* conv = node.op_type() == "BatchNormalization" && node.domain().empty() &&
                                          node.input_size() == 5 && node.output_size() == 1 &&
                                          attribute(node, "training_mode", std::int64_t{0}) == 0
                                      ? links.producer(node.input(0))
                                      : nullptr;
    const bool follows = conv != nullptr && conv->op_type() == "Conv" && conv->domain().empty() &&
                         links.only_reader(conv->output(0)) == &node;
    const std::optional<Folded> folded = follows ? fold_into(model, *conv, node) : std::nullopt;
    if (!folded) {
      places[node.output_size() == 0 ? "" : node.output(0)] = nodes.size();
      *nodes.Add() = node;
      continue;
    }
    onnx::NodeProto& place = *nodes.Mutable(places.at(conv->output(0)));
    const std::string weights = links.new_name(conv->input(1) + "_folded");
    const std::string bias = links.new_name(weights + "_bias");
    add_floats(graph, weights, model.type(conv->input(1))->dims, folded->weights);
    add_floats(graph, bias, {static_cast<std::int64_t>(folded->bias.size())}, folded->bias);
    place.set_input(1, weights);
    if (place.input_size() < 3) place.add_input();
    place.set_input(2, bias);
    place.set_output(0, node.output(0));
  }
  graph.mutable_node()->Swap(&nodes);
  return proto;
}

}  // namespace gemm64
