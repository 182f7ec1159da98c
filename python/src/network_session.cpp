// SPDX-License-Identifier: Apache-2.0
#include "python/src/network_session.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <utility>

#include "host/error.hpp"
#include "host/execute/memory_need.hpp"
#include "host/execute/network_run.hpp"
#include "host/onnx/quantized_graph.hpp"
#include "host/onnx/supported.hpp"
#include "host/run/job_runner.hpp"

namespace gemm64::python {
namespace {

using Json = nlohmann::ordered_json;

void refuse_unsupported(const OnnxModel& model) {
  const std::string why = why_not_run(model);
  if (!why.empty()) throw UnsupportedOperator(why);
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
      if (dim.has_dim_value()) {
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

/// What quantized layers give, where the settings leave a choice.
ResultCode results_of(const NetworkSettings& settings) {
  const bool on_device = settings.accumulate == Accumulate::kDevice;
  if (settings.results == ResultCode::kInt8 && !on_device) {
    throw UsageError(
        "results='int8' does not go with accumulate='host', which adds int32 sums; use 'device'");
  }
  return settings.results.value_or(on_device ? ResultCode::kInt8 : ResultCode::kInt32);
}

}  // namespace

OnnxModel ModelSource::load(const ImportOptions& import) const {
  try {
    return bytes ? OnnxModel::from_bytes(*bytes, file, import) : OnnxModel::load(file, import);
  } catch (const UsageError& error) {
    if (!import.input_shapes.empty()) throw;
    throw InvalidModel(error.what());
  }
}

NetworkSession::NetworkSession(ModelSource source, const NetworkSettings& settings)
    : source_(std::move(source)), settings_(settings), model_(source_.load({})) {
  results_of(settings_);
  refuse_unsupported(*model_);
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

void NetworkSession::import(const NamedTensors& inputs) {
  ImportOptions options;
  for (const auto& [name, tensor] : inputs) options.input_shapes[name] = tensor.dims();
  if (imported_ && shapes_ == options.input_shapes) return;
  imported_.reset();
  OnnxModel model = source_.load(options);
  refuse_unsupported(model);
  check_memory(model);
  imported_ = with_quantized_operators(std::move(model), options);
  shapes_ = options.input_shapes;
}

NetworkResult NetworkSession::run(SimulatedDevice& device, const NamedTensors& inputs) {
  import(inputs);
  RunOptions options;
  options.check = settings_.check;
  options.precision = settings_.precision;
  options.accumulate = settings_.accumulate;
  options.results = results_of(settings_);
  options.memory = device.memory();
  const Executor executor(*imported_);
  Driver driver(device.device(), device.patience());
  JobRunner runner(device.device(), driver, options);

  SignalCheck check;
  const NodeObserver after = [&check](const Step&, const Tensors&) { check(); };
  const RunProgress progress = [&check](const std::string&, double) { check(); };
  const NetworkInputs given = NetworkInputs::of(inputs);
  const std::string name = std::filesystem::path(source_.file).filename().string();
  const bool has_rows = !inputs.empty() && inputs.begin()->second.rank() != 0;
  RunReport report =
      runner.report(name, has_rows ? static_cast<std::uint64_t>(inputs.begin()->second.dim(0)) : 1);
  // The reference device has no time and would only cut into slices what float32 can do itself.
  const bool host_only =
      device.settings().device == "reference" && settings_.precision == Precision::kFloat32;
  if (host_only && settings_.check == CheckLevel::kOutputs) {
    throw UsageError(
        "check='outputs': the host alone runs the network, so there is no device to compare it "
        "with; use 'layers' or 'none'");
  }
  if (host_only) report.device = "host";
  NetworkRun run = host_only
                       ? run_on_host(executor, given, std::move(report), after, progress)
                       : run_network(executor, given, runner, std::move(report), after, progress);
  return {std::move(run.outputs), std::move(run.report)};
}

}  // namespace gemm64::python
