// SPDX-License-Identifier: Apache-2.0
#include "host/cli/firmware_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "host/cli/network_source.hpp"
#include "host/cycles/program_prediction.hpp"
#include "host/device/reference_device.hpp"
#include "host/ep/network_session.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/runtime/session.hpp"
#include "host/tiling/packing.hpp"
#include "host/util/error.hpp"
#include "sim/integrations/systemc/cosim_sides.hpp"

namespace gemm64 {
namespace {

const onnx::NodeProto& node_of(const OnnxModel& model, std::size_t node) {
  return model.graph().node(static_cast<int>(node));
}

/// The value that a layer of the program gives, or some channels of it.
const std::string& result_of(const OnnxModel& model, const DeviceLayer& layer) {
  return model.graph().node(layer.gives()).output(0);
}

/// Follows `name` to the value whose bytes it has, through those of `makers` that only give it
/// another shape.
std::string root_of(const OnnxModel& model, const std::map<std::string, std::size_t>& makers,
                    std::string name) {
  for (auto maker = makers.find(name); maker != makers.end(); maker = makers.find(name)) {
    const onnx::NodeProto& node = node_of(model, maker->second);
    if (!is_view(node) || node.input_size() == 0) break;
    name = node.input(0);
  }
  return name;
}

/// Why the second program does not follow the first one by itself.
std::string between_programs(const Executable& executable, const OnnxModel& model) {
  std::map<std::string, std::size_t> makers;  // of values that the host gives in between
  bool between = false;
  for (const PassItem& item : executable.order) {
    if (item.kind == PassItem::Kind::kProgram) {
      if (between) break;
      between = true;
    } else if (between) {
      for (const std::string& output : node_of(model, item.index).output()) {
        makers[output] = item.index;
      }
    }
  }
  const std::vector<DeviceLayer>& first = executable.plan.programs[0].layers;
  for (const DeviceLayer& layer : executable.plan.programs[1].layers) {
    const std::string* const read[] = {
        layer.source ? nullptr : &layer.input_value, layer.operand ? nullptr : &layer.second,
        layer.weights_value.empty() ? nullptr : &layer.weights_value};
    for (const std::string* const name : read) {
      if (name == nullptr) continue;
      const std::string root = root_of(model, makers, *name);
      const auto maker = makers.find(root);
      if (maker != makers.end()) {
        const onnx::NodeProto& node = node_of(model, maker->second);
        const auto index = static_cast<int>(maker->second);
        const DevicePlan& plan = executable.plan;
        const auto why = plan.between.find(index);
        return fmt::format("'{}': {} gives '{}' on the host, between programs 1 and 2: {}",
                           node_label(node, index), operator_name(node), root,
                           why == plan.between.end() ? plan.on_host.at(index) : why->second);
      }
      if (std::any_of(first.begin(), first.end(),
                      [&](const DeviceLayer& other) { return result_of(model, other) == root; })) {
        return fmt::format("'{}': the host lays out '{}' for it, between programs 1 and 2",
                           layer.job.name, *name);
      }
    }
  }
  throw std::logic_error("the second program of " + model.name() + " waits for nothing");
}

/// The layer whose results are a value for each class of each image of the first output, if one is.
std::optional<std::size_t> layer_of_classes(const OnnxModel& model, const Executable& executable) {
  if (model.graph().output_size() == 0) return std::nullopt;
  std::string name = model.graph().output(0).name();
  for (int i = model.graph().node_size() - 1; i >= 0; --i) {  // each after what it reads
    const onnx::NodeProto& node = model.graph().node(i);
    const std::string type = operator_name(node);
    const bool keeps_order = is_view(node) || type == "DequantizeLinear" || type == "Softmax";
    if (node.output_size() == 1 && node.output(0) == name && keeps_order && node.input_size() != 0)
      name = node.input(0);
  }
  const std::vector<DeviceLayer>& layers = executable.plan.programs[0].layers;
  const auto images = model.type(model.graph().output(0).name());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const DeviceLayer& layer = layers[i];
    if (result_of(model, layer) == name && !layer.part && layer.result_order.empty() && images &&
        !images->dims.empty() &&
        layer.job.plan.shape.m == static_cast<std::uint64_t>(images->dims[0])) {
      return i;
    }
  }
  return std::nullopt;
}

/// Makes the firmware tell of classes, and finds those of the images; others fill up the batch.
void add_classes(FirmwareNetwork& network, std::size_t layer, const NetworkInputs& inputs) {
  const Job& job = network.work.jobs[layer];
  const auto images =
      inputs.at_once == 0 ? static_cast<std::int64_t>(job.plan.shape.m) : inputs.images_of(0);
  FirmwareJob& to = network.jobs[layer];
  to.classes = static_cast<std::uint32_t>(job.plan.shape.n);
  to.is_unsigned = job.plan.results().code() == ResultCode::kUint8;
  const auto* const begin = network.expected.memory.data() + job.layout.results;
  const MatrixI32 scores =
      unpack_results(job, result_values(job.plan.results(), {begin, begin + to.result_bytes}));
  for (std::int64_t image = 0; image < images; ++image) {
    const std::int32_t* const row = scores.row(image).data();
    network.classes.push_back(
        static_cast<std::uint32_t>(std::max_element(row, row + scores.cols()) - row));
  }
}

}  // namespace

void require_one_program(const Executable& executable, const OnnxModel& model) {
  const DevicePlan& plan = executable.plan;
  if (!plan.sums.empty()) {
    const auto& [index, why] = *plan.sums.begin();
    const onnx::NodeProto& node = model.graph().node(index);
    throw UsageError(fmt::format(
        "{}: '{}': {} gives '{}' by int32 sums of the device's, with which the host goes on: {}; "
        "the firmware runs one program",
        model.name(), node_label(node, index), operator_name(node), node.output(0), why));
  }
  if (plan.programs.empty()) {
    throw UsageError(fmt::format("{}: {}", model.name(), why_no_program(executable, model)));
  }
  if (executable.programs[0].list.tensor_memory) {
    throw UsageError(fmt::format(
        "{}: its programs keep results in the tensor memory, which the firmware does not enable; "
        "give the ONNX file",
        model.name()));
  }
  if (plan.programs.size() == 1) return;
  throw UsageError(fmt::format("{}: {}; the firmware runs one program", model.name(),
                               between_programs(executable, model)));
}

FirmwareNetwork make_firmware_network(const OnnxModel& model, const Executable& executable,
                                      const NetworkInputs& inputs, const MemoryTiming& memory) {
  const JobProgram& program = executable.programs.at(0).list;
  FirmwareNetwork network;
  CosimWork& work = network.work;
  CosimOutcome& expected = network.expected;
  work = make_fenced_work(program);
  work.exact = memory.predictable();
  work.random_stalls = !work.exact;

  ReferenceDevice device(executable.geometry, work.memory.size());
  RunSettings settings;
  settings.convolutions = executable.options.convolutions;
  settings.lanes = executable.options.lanes;
  RunOptions options;
  options.memory = memory;
  Session session(device, "reference", {}, settings, options);
  ep::NetworkSession in_onnxruntime(session);
  in_onnxruntime.open(model, nullptr, {}, &executable);
  network.report = in_onnxruntime.run(inputs, session.report(model.name(), 0), nullptr).report;
  if (!network.report.held()) {
    throw DeviceError(model.name() + ": the reference device's results are not the host's");
  }

  expected.side = expected.family = "prediction";
  expected.interrupts = {"done"};
  expected.memory.resize(work.memory.size());
  device.read_memory(0, expected.memory.data(), expected.memory.size());
  take_snapshots(work, expected);
  work.memory = expected.memory;
  for (const CosimProgram& layer : work.programs) {
    std::fill_n(work.memory.begin() + static_cast<std::ptrdiff_t>(layer.results),
                layer.result_bytes, std::uint8_t{0});
  }
  if (work.exact) {
    Counters sum{};
    expected.snapshots.clear();
    for (const Counters& layer :
         predict_program(program, executable.geometry, memory).between_fences) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += layer[i];
      expected.snapshots.push_back(sum);
    }
    expected.snapshots.pop_back();  // the last layer ends with the program
    expected.counters = sum;
  }
  network.jobs = firmware_jobs(work, &expected);
  const auto classes = layer_of_classes(model, executable);
  if (classes) add_classes(network, *classes, inputs);
  return network;
}

}  // namespace gemm64
