// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/host_session.hpp"

#include <fmt/format.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <atomic>
#include <optional>
#include <regex>
#include <set>

#include "host/graph/onnx/graph_links.hpp"
#include "host/graph/onnx/unshare.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

std::atomic<int> threads_of_sessions = 0;

/// Do sums of products of uint8 with int8 saturate in ONNX Runtime? They do without VNNI.
bool saturates() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_avx512_vnni = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 11 & 1) != 0;
  const bool has_avx_vnni = __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
  return !has_avx512_vnni && !has_avx_vnni;
#else
  return false;
#endif
}

/// Do types, shapes and what nodes are not depend on the tensor's data, which are large?
bool are_weights(const onnx::TensorProto& tensor) {
  constexpr std::size_t kLeast = 4096;  // bytes
  return tensor.raw_data().size() >= kLeast && element_bytes(tensor.data_type()) != 0 &&
         tensor.data_type() != onnx::TensorProto::INT64 &&
         tensor.data_type() != onnx::TensorProto::INT32;
}

/// The values that nodes read, or that are outputs.
std::set<std::string> read_values(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const onnx::NodeProto& node : graph.node()) {
    names.insert(node.input().begin(), node.input().end());
    add_inner_reads(node, names);
  }
  for (const onnx::ValueInfoProto& output : graph.output()) names.insert(output.name());
  return names;
}

/// Copies a model, but for its weights: a message holds at most 2 GiB, and ONNX Runtime would copy
/// them twice more. It takes no data of initializers that nothing reads.
HostModel without_weights(const onnx::ModelProto& model) {
  HostModel own;
  own.proto.set_ir_version(model.ir_version());
  *own.proto.mutable_opset_import() = model.opset_import();
  *own.proto.mutable_functions() = model.functions();
  const onnx::GraphProto& from = model.graph();
  onnx::GraphProto& graph = *own.proto.mutable_graph();
  graph.set_name(from.name());
  *graph.mutable_node() = from.node();
  *graph.mutable_input() = from.input();
  *graph.mutable_output() = from.output();
  *graph.mutable_value_info() = from.value_info();
  *graph.mutable_sparse_initializer() = from.sparse_initializer();
  const std::set<std::string> read = read_values(from);
  std::set<std::string> inputs;  // an initializer is the default of one of its name
  for (const onnx::ValueInfoProto& input : from.input()) inputs.insert(input.name());
  for (const onnx::TensorProto& tensor : from.initializer()) {
    const bool is_read = read.count(tensor.name()) != 0;
    if (!is_read && inputs.count(tensor.name()) == 0) continue;
    const bool shared = is_read && are_weights(tensor);
    if (shared) own.weights.push_back(&tensor);
    *graph.add_initializer() = shared ? ort::refer_to_data(tensor) : tensor;
  }
  return own;
}

/// Sets the sizes of an input; returns whether a size is another one than in the file. Those that
/// stay open get names if they have none.
bool set_sizes(onnx::ValueInfoProto& input, const std::vector<std::int64_t>& sizes, bool open,
               std::map<std::string, std::int64_t>& named) {
  bool any_other = false;
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  const auto rank = static_cast<int>(sizes.size());
  if (shape.dim_size() != rank) shape.clear_dim();
  while (shape.dim_size() < rank) shape.add_dim();
  for (int i = 0; i < rank; ++i) {
    auto& dim = *shape.mutable_dim(i);
    const std::int64_t size = sizes[static_cast<std::size_t>(i)];
    const bool stays = open && (!dim.has_dim_value() || dim.dim_value() < 0);
    std::string name = dim.dim_param();
    if (name.empty()) name = fmt::format("{}.{}", input.name(), i);
    if (stays && named.emplace(name, size).first->second == size) {
      dim.set_dim_param(name);
    } else {
      any_other = any_other || !dim.has_dim_value() || dim.dim_value() != size;
      dim.set_dim_value(size);
    }
  }
  return any_other;
}

/// Gives nodes without a name the one that messages have for them. Functions and bodies that were
/// put in place may have brought a name twice.
void name_nodes_apart(onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (int at = 0; at < graph.node_size(); ++at) {
    onnx::NodeProto& node = *graph.mutable_node(at);
    if (node.name().empty()) node.set_name(node_label(node, at));
    const std::string own = node.name();
    for (int i = 2; !names.insert(node.name()).second; ++i) {
      node.set_name(fmt::format("{}.{}", own, i));
    }
  }
}

}  // namespace

UsageError onnxruntime_error(const std::string& model, const ort::Error& error) {
  std::string message = error.what();
  while (!message.empty() && message.back() == '\n') message.pop_back();
  // "Non-zero status code returned while running Gather node. Name:'pick' Status Message: ..."
  static const std::regex at_node(
      R"(Non-zero status code returned while running (\S+) node\. Name:'([^']*)' Status Message: )");
  std::smatch found;
  if (!std::regex_search(message, found, at_node)) {
    return UsageError(fmt::format("{}: ONNX Runtime: {}", model, printable(message, kMostMessage)));
  }
  return UsageError(fmt::format(
      "{}: {} ({}) failed in ONNX Runtime: {}; check the shapes and values that it reads", model,
      printable(found[2].str()), printable(found[1].str()),
      printable(found.suffix().str(), kMostMessage)));
}

HostModel host_model(const OnnxModel& model, bool open, const onnx::ModelProto& proto) {
  HostModel own = without_weights(proto);
  onnx::GraphProto& graph = *own.proto.mutable_graph();
  bool any_other = false;
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  for (onnx::ValueInfoProto& input : *graph.mutable_input()) {
    if (!model.is_graph_input(input.name())) continue;
    if (const std::optional<TensorType> type = model.type(input.name())) {
      any_other = set_sizes(input, type->dims, open, own.sizes) || any_other;
    }
    inputs.Add()->Swap(&input);
  }
  graph.mutable_input()->Swap(&inputs);
  if (any_other) {
    graph.clear_value_info();
    for (onnx::ValueInfoProto& output : *graph.mutable_output()) {
      if (!output.type().has_tensor_type()) continue;  // a sequence
      output.mutable_type()->mutable_tensor_type()->clear_shape();
    }
  }
  name_nodes_apart(graph);
  // Before its fourth version, constants had to be inputs; ONNX Runtime refuses versions that it
  // does not know, though they differ in nothing that is here.
  own.proto.set_ir_version(std::clamp<std::int64_t>(own.proto.ir_version(), 4, 10));
  return own;
}

void set_host_threads(int threads) { threads_of_sessions = threads; }

namespace {

/// What a session's sums of products of uint8 with int8 are made of.
enum class Sums {
  kAsTheyAre,         // ONNX Runtime's kernels for the weights of the file: may saturate
  kOfUnsigned,        // weights made uint8 by "session.x64quantprecision"
  kOfUnsignedOpset20  // of QLinearMatMul, too, of which the option knows the version of opset 10
};

/// Has a graph, or a body in it, a node of a type?
bool has_node(const onnx::GraphProto& graph, const char* type) {
  return std::any_of(graph.node().begin(), graph.node().end(), [&](const onnx::NodeProto& node) {
    return node.op_type() == type ||
           std::any_of(node.attribute().begin(), node.attribute().end(),
                       [&](const onnx::AttributeProto& attribute) {
                         return attribute.has_g() && has_node(attribute.g(), type);
                       });
  });
}

/// Declares opset 20 for a network of a later one, and returns whether it did. Nodes keep their
/// meaning, but for GroupNormalization; types and attributes that opset 20 has not are rejected
/// when the session is created.
bool declare_opset_20(onnx::ModelProto& model) {
  if (has_node(model.graph(), "GroupNormalization")) return false;
  for (onnx::OperatorSetIdProto& opset : *model.mutable_opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") continue;
    if (opset.version() <= 20) return false;
    opset.set_version(20);
    return true;
  }
  return false;
}

ort::Session make_session(const ort::Environment& environment, const HostModel& model,
                          const HostProvider& provider, Sums sums) {
  const bool converts = sums != Sums::kAsTheyAre;
  onnx::ModelProto converted;
  if (converts) {
    converted = model.proto;
    unshare_int8(*converted.mutable_graph(), model.weights);
    if (sums == Sums::kOfUnsignedOpset20 && !declare_opset_20(converted)) sums = Sums::kOfUnsigned;
  }
  ort::SessionOptions options(environment);
  options.set_log_level(ORT_LOGGING_LEVEL_FATAL);  // errors are exceptions
  options.set_entry("session.qdqisint8allowed", "1");
  if (converts) options.set_entry("session.x64quantprecision", "1");
  // Its threads would take processors from simulations.
  options.set_entry("session.intra_op.allow_spinning", "0");
  options.set_threads(threads_of_sessions);
  if (!provider.devices.empty()) options.add_provider(provider.devices, provider.options);
  options.add_initializers(model.weights);
  std::string bytes;
  if (!(converts ? converted : model.proto).SerializeToString(&bytes)) {
    throw ort::Error(ORT_INVALID_ARGUMENT, "the network without its weights exceeds 2 GiB");
  }
  try {
    return {environment, std::string_view(bytes), options};
  } catch (const ort::Error& error) {
    if (sums == Sums::kOfUnsignedOpset20) {
      return make_session(environment, model, provider, Sums::kOfUnsigned);
    }
    // Of int8 activations, which do not saturate, ONNX Runtime makes nodes that it has not.
    if (!converts || error.code() != ORT_NOT_IMPLEMENTED) throw;
    return make_session(environment, model, provider, Sums::kAsTheyAre);
  }
}

}  // namespace

ort::Session host_session(const ort::Environment& environment, const HostModel& model,
                          const HostProvider& provider) {
  return make_session(environment, model, provider,
                      saturates() ? Sums::kOfUnsignedOpset20 : Sums::kAsTheyAre);
}

}  // namespace gemm64
