// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/device_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "host/compile/device_layer.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/runtime/float_gemm.hpp"

namespace gemm64 {
namespace {

/// Why the options leave the device nothing but sums of Linear layers; empty where they do not.
std::string why_sums(const RunOptions& options) {
  if (options.precision == Precision::kFloat32) {
    return "with --precision float32, the device computes only products of float32";
  }
  constexpr const char* kAlone = "the device computes only Linear layers";
  if (options.one_program) return std::string("with --one-program, ") + kAlone;
  if (options.accumulate == Accumulate::kHost) {
    return std::string("with --accumulate host, ") + kAlone;
  }
  return options.results == ResultCode::kInt32 ? std::string("with --results int32, ") + kAlone
                                               : "";
}

/// "conv1/2", or the layer's name if its K has one block.
std::string job_name(const onnx::NodeProto& node, const std::string& layer, std::size_t block) {
  return blocks_of_k(node) == 1 ? layer : fmt::format("{}/{}", layer, block);
}

/// The jobs of a Linear layer by itself. With the file's own arithmetic, a layer of float32 for
/// which the device has no space is the host's.
std::vector<Job> jobs_alone(const OnnxModel& model, const JobRunner& runner, int index) {
  const onnx::NodeProto& node = model.graph().node(index);
  const std::optional<Products> found = linear_product(model, node);
  if (!found) return {};
  const GemmShape shape{found->shape.m, found->shape.k, found->shape.n};
  const std::string layer = node_label(node, index);
  const Precision precision = runner.options().precision;
  if (is_float_product(node)) {
    try {
      return float_jobs(runner, precision, layer, shape);
    } catch (const UsageError&) {
      if (precision != Precision::kFile) throw;
      return {};
    }
  }
  if (precision == Precision::kFloat32) return {};
  std::vector<Job> jobs;
  while (jobs.size() < found->count) {
    jobs.push_back(runner.job(job_name(node, layer, jobs.size()), shape));
  }
  return jobs;
}

}  // namespace

CompileOptions compile_options(const RunOptions& options) {
  CompileOptions result;
  result.convolutions = options.convolutions;
  result.lanes = options.lanes;
  result.rate = rate_of(options.memory);
  result.memory = options.memory;
  result.tensor_memory.reset();
  result.why_sums = why_sums(options);
  if (options.precision != Precision::kFile) {
    result.floats = CompileOptions::Floats::kOnDevice;
  } else if (options.one_program) {
    result.why_no_floats =
        "they are float32 in the file, and with --one-program the device computes only integers; "
        "--precision int8 quantizes them on the way";
  }
  return result;
}

std::vector<Job> jobs_of(const OnnxModel& model, const JobRunner& runner,
                         const Executable& executable) {
  std::vector<Job> jobs;
  const auto add = [&](const JobProgram& program) {
    runner.check_fits(program);
    jobs.insert(jobs.end(), program.jobs.begin(), program.jobs.end());
  };
  for (const PassItem& item : executable.order) {
    if (item.kind == PassItem::Kind::kSums) {
      add(executable.sums[item.index].list);
    } else if (item.kind == PassItem::Kind::kProgram) {
      add(executable.programs[item.index].list);
    } else if (executable.plan.on_host.count(static_cast<int>(item.index)) == 0) {
      for (Job& job : jobs_alone(model, runner, static_cast<int>(item.index))) {
        jobs.push_back(std::move(job));
      }
    }
  }
  return jobs;
}

std::string why_product_on_host(const OnnxModel& model, const Executable& executable,
                                const RunOptions& options, int node, const Tensors& arguments) {
  const onnx::NodeProto& proto = model.graph().node(node);
  const auto& on_host = executable.plan.on_host;
  const auto planned = on_host.find(node);
  const int weights = weights_input(proto);
  const bool has_weights = weights < proto.input_size() && model.is_constant(proto.input(weights));
  const std::string reason = why_on_host(proto, has_weights, [&arguments](int input) {
    const auto i = static_cast<std::size_t>(input);
    return i < arguments.size() && arguments[i].present()
               ? std::optional<TensorType>({arguments[i].type(), arguments[i].dims()})
               : std::nullopt;
  });
  if (!is_float_product(proto)) {
    if (planned != on_host.end()) return planned->second;
    return reason.empty() && options.precision == Precision::kFloat32
               ? "with --precision float32, the device computes only products of float32"
               : reason;
  }
  if (!reason.empty()) return reason;
  if (planned != on_host.end()) return planned->second;
  const auto is_finite = [](const Tensor& tensor) {
    const float* const values = tensor.values<float>();
    return std::all_of(values, values + tensor.elements(),
                       [](float value) { return std::isfinite(value); });
  };
  if (options.precision == Precision::kFile &&
      !(is_finite(arguments[0]) && is_finite(arguments[1]))) {
    return "an operand is not finite, and has no slices";
  }
  return "";
}

std::optional<HostLayer> host_layer(const OnnxModel& model, int node, std::string reason) {
  const onnx::NodeProto& proto = model.graph().node(node);
  const std::optional<Work> work = work_of(model, proto);
  if (work && work->macs == 0) return std::nullopt;
  if (!work) reason += "; its MACs are not known";
  return HostLayer{node_label(proto, node), proto.op_type(), work ? work->macs : 0,
                   std::move(reason)};
}

void describe_layers(const OnnxModel& model, const Executable& executable, std::size_t program,
                     std::vector<LayerReport>& reports) {
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const DeviceLayer& layer = executable.plan.programs[program].layers[i];
    reports[i].program = program + 1;
    describe_layer(layer, reports[i]);
    for (const int node : layer.nodes()) {
      if (node == layer.node) continue;
      reports[i].vector_nodes.push_back(node_label(model.graph().node(node), node));
    }
  }
}

void describe_layer(const DeviceLayer& layer, LayerReport& report) {
  const Plan& plan = layer.job.plan;
  report.convolution = layer.own_convolution();
  report.packed = layer.packed;
  report.packed_bytes = layer.packed ? plan.activation_bytes() : 0;
  if (!layer.weights_value.empty()) {
    report.products = static_cast<std::uint32_t>(layer.products_of_stack());
  }
  report.shape = layer.products();
  if (layer.strips) set_strips(report, layer.strips->count, plan.array);
}

std::vector<LayerReport> layers_of(const SumsProgram& program, std::vector<LayerReport> jobs,
                                   const Geometry& geometry, const MemoryTiming& memory) {
  std::vector<LayerReport> layers;
  auto next = std::make_move_iterator(jobs.begin());
  for (const SumsProgram::Node& node : program.nodes) {
    const auto first = std::exchange(next, next + static_cast<std::ptrdiff_t>(node.jobs));
    const auto products = static_cast<std::uint32_t>(node.computed ? node.products.count : 0);
    if (node.products.count == 1) {
      layers.push_back(*first);
      layers.back().products = products;
      continue;
    }
    RunReport own;
    own.geometry = geometry;
    own.memory = memory;
    own.layers.assign(first, next);
    layers.push_back(layer_of(own, node.name, node.shape));
    layers.back().products = products;
    if (!node.blocks) {
      GemmShape& padded = layers.back().padded;
      padded.k = own.layers[0].padded.k;
      if (!node.computed) {
        padded.n = std::accumulate(
            own.layers.begin(), own.layers.end(), std::uint64_t{0},
            [](std::uint64_t sum, const LayerReport& job) { return sum + job.padded.n; });
      }
    }
    layers.back().overlapped = std::any_of(own.layers.begin(), own.layers.end(),
                                           [](const LayerReport& job) { return job.overlapped; });
  }
  return layers;
}

}  // namespace gemm64
