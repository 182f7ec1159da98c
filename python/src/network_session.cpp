// SPDX-License-Identifier: Apache-2.0
#include "python/src/network_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <utility>

#include "host/ep/network_session.hpp"
#include "host/ep/own_provider.hpp"
#include "host/graph/onnx/host_session.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/report/json.hpp"
#include "host/runtime/memory_need.hpp"

namespace gemm64::python {
namespace {

using Json = nlohmann::ordered_json;

/// Throws UnsupportedOperator if neither this program nor ONNX Runtime has an operator.
void refuse_unsupported(const OnnxModel& model) {
  const std::string why = why_not_run(model);
  if (why.empty()) return;
  try {
    host_session(ep::own_environment(), host_model(model, true, model.proto()));
  } catch (const ort::Error& error) {
    if (error.code() == ORT_NO_SUCHFILE) throw UsageError(error.what());
    throw UnsupportedOperator(why);
  }
}

/// "tensor(float)", as ONNX Runtime names types.
std::string type_name(int type) {
  std::string name = "undefined";
  if (onnx::TensorProto::DataType_IsValid(type)) {
    name = onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(type));
    for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  }
  return "tensor(" + name + ")";
}

Json describe(const onnx::ValueInfoProto& value, const OnnxModel& model) {
  const onnx::TypeProto::Tensor& tensor = value.type().tensor_type();
  int type = tensor.elem_type();
  Json shape = Json::array();
  if (tensor.has_shape()) {
    for (const auto& dim : tensor.shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() >= 0) {
        shape.push_back(dim.dim_value());
      } else if (!dim.dim_param().empty()) {
        shape.push_back(dim.dim_param());
      } else {
        shape.push_back(nullptr);
      }
    }
  } else if (const auto known = model.type(value.name())) {
    type = known->data_type;
    shape = known->dims;
  }
  return {{"name", value.name()}, {"type", type_name(type)}, {"shape", shape}};
}

void check_memory(const OnnxModel& model) {
  const double need = memory_need(model);
  if (need <= machine_memory()) return;
  const auto gib = [](double bytes) { return std::ceil(bytes / (1 << 30)); };
  throw UsageError(fmt::format("{} needs {} GiB of memory for its values; this machine has {} GiB",
                               model.name(), gib(need), gib(machine_memory())));
}

/// The report with its layers, the device's and the host's, in the order in which the network has
/// them.
Json in_order(Json report, const OnnxModel& model) {
  std::map<std::string, std::size_t> places;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    places.emplace(node_label(model.graph().node(i), i), places.size());
  }
  const auto place = [&places](const Json& layer) {
    const auto found = places.find(layer["name"].get<std::string>());
    return found == places.end() ? places.size() : found->second;
  };
  Json& layers = report["layers"];
  std::stable_sort(layers.begin(), layers.end(),
                   [&](const Json& one, const Json& other) { return place(one) < place(other); });
  return report;
}

}  // namespace

OnnxModel ModelSource::load(const ImportOptions& import) const {
  try {
    if (bytes) return OnnxModel::from_bytes(*bytes, file, import);
    return (is_torchscript() ? NetworkFile(file, shapes) : NetworkFile(file)).load(import);
  } catch (const UsageError& error) {
    if (!import.input_shapes.empty() || !shapes.empty()) throw;
    throw InvalidModel(error.what());
  }
}

NetworkSession::NetworkSession(ModelSource source, const RunSettings& settings)
    : source_(std::move(source)), settings_(settings) {
  if (!source_.shapes.empty() && !source_.is_torchscript()) {
    throw UsageError(
        "input_shapes is for TorchScript files; an ONNX file takes the shapes of its inputs");
  }
  model_ = source_.load({});
  settings_.check_together("", Spelling::kArgument);
  if (!waits_for_inputs(*model_)) refuse_unsupported(*model_);
}

Json NetworkSession::inputs() const {
  Json values = Json::array();
  for (const onnx::ValueInfoProto& value : model_->graph().input()) {
    if (model_->is_graph_input(value.name())) values.push_back(describe(value, *model_));
  }
  return values;
}

Json NetworkSession::outputs() const {
  Json values = Json::array();
  for (const onnx::ValueInfoProto& value : model_->graph().output()) {
    values.push_back(describe(value, *model_));
  }
  return values;
}

Json NetworkSession::metadata() const {
  const onnx::ModelProto& proto = model_->proto();
  Json own = Json::object();
  for (const auto& entry : proto.metadata_props()) own[entry.key()] = entry.value();
  return {{"producer_name", proto.producer_name()},
          {"graph_name", model_->graph().name()},
          {"domain", proto.domain()},
          {"description", proto.doc_string()},
          {"graph_description", model_->graph().doc_string()},
          {"version", proto.model_version()},
          {"custom_metadata_map", own}};
}

void NetworkSession::import(const NamedTensors& inputs) {
  ImportOptions options;
  for (const auto& [name, tensor] : inputs) options.input_shapes[name] = tensor.dims();
  if (imported_ && shapes_ == options.input_shapes) return;
  imported_.reset();
  OnnxModel model = source_.load(options);
  check_memory(model);
  imported_ = std::move(model);
  shapes_ = options.input_shapes;
}

NetworkResult NetworkSession::run(SimulatedDevice& device, const NamedTensors& inputs) {
  import(inputs);
  RunOptions options;
  options.memory = device.memory();
  options.investigate = [&device](const JobRun& run, Failure& failure) {
    device.look_again(run, failure);
  };
  Session session(device.device(), device.settings().device, device.timeouts(), settings_, options,
                  Spelling::kArgument);
  ep::NetworkSession network(session);
  network.open(*imported_, nullptr);

  SignalCheck check;
  const RunProgress progress = [&check](const std::string&, double) { check(); };
  const std::string name = std::filesystem::path(source_.file).filename().string();
  const bool has_rows = !inputs.empty() && inputs.begin()->second.rank() != 0;
  const auto rows = has_rows ? static_cast<std::uint64_t>(inputs.begin()->second.dim(0)) : 1;
  NetworkRun run = network.run(NetworkInputs::of(inputs), session.report(name, rows), progress);
  return {std::move(run.outputs), in_order(to_json(run.report), *imported_)};
}

}  // namespace gemm64::python
