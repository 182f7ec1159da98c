// SPDX-License-Identifier: Apache-2.0
#include "host/compile/device_plan.hpp"

#include <algorithm>
#include <numeric>

#include "host/compile/planner.hpp"
#include "host/cycles/program_prediction.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/kernels/matmul_bits.hpp"

namespace gemm64 {
std::vector<int> DeviceLayer::nodes() const {
  std::vector<int> nodes = {node};
  nodes.insert(nodes.end(), fused.begin(), fused.end());
  if (part && part->node != node) nodes.push_back(part->node);
  return nodes;
}

std::uint64_t DeviceLayer::depth_of_products() const {
  if (view.empty()) return job.plan.shape.k - sum_columns;
  return view.size() * (convolution ? convolution->taps() : 1);
}

std::uint64_t DeviceLayer::products_of_stack() const {
  return std::accumulate(
      stack.begin(), stack.end(), std::uint64_t{1},
      [](std::uint64_t all, std::int64_t size) { return all * static_cast<std::uint64_t>(size); });
}

GemmShape DeviceLayer::products() const {
  GemmShape shape = job.plan.shape;
  shape.k = identity || factors ? 0 : depth_of_products();
  if (channels != 0) shape.n = channels;
  if (shared_tiles) {
    shape.m = shared_tiles->rows(job.plan);
    shape.n = shared_tiles->columns_of_each(job.plan);
  }
  if (!strips) return shape;
  shape.m = shape.m / strips->rows * strips->all_rows();
  shape.n /= strips->count;
  if (convolution->groups == 1) shape.k /= strips->count;  // else they have one channel each
  return shape;
}

std::optional<Convolution> DeviceLayer::own_convolution() const {
  std::optional<Convolution> own = convolution;
  if (channels != 0) {
    own->channels = own->out_channels = own->groups = static_cast<std::uint32_t>(channels);
  }
  if (!strips || packed) return own;
  own->height = source_strips->all_rows();
  own->out_height = strips->all_rows();
  own->channels /= strips->count;
  own->out_channels /= strips->count;
  if (own->groups != 1) own->groups /= strips->count;
  return own;
}

bool DevicePlan::has(int node) const {
  return std::any_of(programs.begin(), programs.end(), [node](const DeviceProgram& program) {
    return std::any_of(program.layers.begin(), program.layers.end(),
                       [node](const DeviceLayer& layer) {
                         const std::vector<int> nodes = layer.nodes();
                         return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
                       });
  });
}

DevicePlan plan_device(const OnnxModel& model, const Geometry& geometry,
                       const PlanOptions& options) {
  return Planner(model, geometry, options).run();
}

DevicePlan plan_sums(const OnnxModel& model, const std::string& why) {
  DevicePlan plan;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    QuantizedNode node = read_quantized_node(model, i);
    if (node.place == NodePlace::kHost) plan.on_host[i] = node.why;
    if (node.place != NodePlace::kSums && node.place != NodePlace::kLayer) continue;
    const bool on_host =
        node.convolution || node.computed || is_quantized_convolution(model.graph().node(i));
    const bool sums = node.place == NodePlace::kSums && !on_host;
    (on_host ? plan.on_host : plan.sums)[i] = sums ? node.why : why;
  }
  return plan;
}

void leave_floats_to_host(const OnnxModel& model, DevicePlan& plan, const std::string& why) {
  const bool has_integers = plan.has_integers();
  for (auto layer = plan.sums.begin(); layer != plan.sums.end();) {
    const onnx::NodeProto& node = model.graph().node(layer->first);
    if (!adds_in_lanes(node)) {
      ++layer;
      continue;
    }
    plan.on_host[layer->first] =
        "its blocks' sums are float32 in ONNX Runtime's order; --precision int8 takes them to the "
        "device, where they are exact";
    layer = plan.sums.erase(layer);
  }
  if (why.empty() && !has_integers) return;
  for (int i = 0; i < model.graph().node_size(); ++i) {
    const onnx::NodeProto& node = model.graph().node(i);
    if (!is_float_product(node)) continue;
    if (node.input_size() < 2 || !model.is_constant(node.input(1))) continue;
    plan.on_host[i] = why.empty() ? "they are float32 in the file; --precision float32 takes them "
                                    "to the device in slices, --precision int8 quantizes them on "
                                    "the way"
                                  : why;
  }
}

JobProgram make_program(const DeviceProgram& program, const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const DeviceLayer& layer : program.layers) jobs.push_back(layer.job);
  return make_job_program(jobs, geometry);
}

std::vector<Counters> predict_layers(const JobProgram& program, const Geometry& geometry,
                                     const MemoryTiming& memory, DramCounts* dram) {
  ProgramPrediction predicted = predict_program(program, geometry, memory);
  if (dram != nullptr) *dram += predicted.dram;
  return std::move(predicted.layers);
}

}  // namespace gemm64
