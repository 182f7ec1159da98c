// SPDX-License-Identifier: Apache-2.0
#include "host/ort/run_node.hpp"

#include <map>
#include <string>

#include "host/ort/library.hpp"

namespace gemm64::ort {

std::vector<Tensor> run_node(onnx::NodeProto node, std::int64_t opset,
                             const std::vector<Tensor>& inputs) {
  onnx::ModelProto model;
  constexpr std::int64_t kVersion = 10;  // of the format
  model.set_ir_version(kVersion);
  model.add_opset_import()->set_version(opset);
  onnx::OperatorSetIdProto& own = *model.add_opset_import();
  own.set_domain("com.microsoft");
  own.set_version(1);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.set_name("node");
  std::map<std::string, Tensor> given;
  node.clear_input();
  for (const Tensor& tensor : inputs) {
    const std::string name = tensor.present() ? "x" + std::to_string(given.size()) : "";
    node.add_input(name);
    if (!tensor.present()) continue;
    onnx::ValueInfoProto& input = *graph.add_input();
    input.set_name(name);
    input.mutable_type()->mutable_tensor_type()->set_elem_type(tensor.type());
    given[name] = tensor;
  }
  std::vector<std::string> wanted;
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    node.set_output(i, "y" + std::to_string(i));
    graph.add_output()->set_name(node.output(i));
    wanted.push_back(node.output(i));
  }
  *graph.add_node() = node;
  const Environment environment(own_library());
  SessionOptions options(environment);
  options.set_log_level(ORT_LOGGING_LEVEL_FATAL);
  options.set_threads(1);
  const std::string bytes = model.SerializeAsString();
  const std::map<std::string, Tensor> found =
      Session(environment, std::string_view(bytes), options).run(given, wanted);
  std::vector<Tensor> outputs;
  for (const std::string& name : node.output()) {
    outputs.push_back(name.empty() ? Tensor() : found.at(name));
  }
  return outputs;
}

}  // namespace gemm64::ort
