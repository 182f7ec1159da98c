// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/compile/device_layer.hpp"
#include "host/cycles/cycle_model.hpp"
#include "host/graph/onnx/checked.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/runtime/device_schedule.hpp"
#include "host/runtime/network_run.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

/// The cycle model follows each tile of weights, some million a second.
constexpr std::uint64_t kMostTiles = 100'000'000;

DeviceWork::Program program_of(const SumsProgram& sums, std::size_t number) {
  DeviceWork::Program program;
  program.jobs = sums.list;
  program.sums = sums;
  for (const Job& job : sums.list.jobs) {
    LayerReport layer = layer_of(job);
    layer.program = number;
    layer.published = published_cycles(job.plan);
    program.layers.push_back(std::move(layer));
  }
  return program;
}

/// A product by itself.
DeviceWork::Program program_of(Job job, const Geometry& geometry) {
  DeviceWork::Program program;
  program.layers.push_back(layer_of(job));
  program.layers.back().published = published_cycles(job.plan.shape, geometry.n);
  program.jobs.program = job.program;
  program.jobs.jobs.push_back(std::move(job));
  return program;
}

DeviceWork::Program program_of(const DeviceProgram& planned, const JobProgram& list,
                               std::size_t number) {
  DeviceWork::Program program;
  program.jobs = list;
  for (std::size_t i = 0; i < planned.layers.size(); ++i) {
    const DeviceLayer& from = planned.layers[i];
    LayerReport layer = layer_of(program.jobs.jobs[i]);
    layer.program = number;
    set_place(layer, list, i);
    layer.overlapped = list.is_in_stripes(i);
    layer.published = published_cycles(program.jobs.jobs[i].plan);
    describe_layer(from, layer);
    program.layers.push_back(std::move(layer));
  }
  return program;
}

void check_tiles(const DeviceWork& work) {
  std::uint64_t tiles = 0;
  for (const DeviceWork::Program& program : work.programs) {
    for (const LayerReport& layer : program.layers) tiles += layer.tiles;
  }
  if (tiles <= kMostTiles) return;
  throw UsageError(fmt::format("it takes {} tiles of weights; a prediction follows at most {}",
                               grouped(tiles), grouped(kMostTiles)));
}

/// A node with MACs on the host, as a run reports it.
void add_host_layer(const OnnxModel& model, int index, const DevicePlan& plan, DeviceWork& work) {
  const onnx::NodeProto& node = model.graph().node(index);
  const std::optional<Work> done = work_of(model, node);
  if (done && done->macs == 0) return;
  const auto planned = plan.on_host.find(index);
  HostLayer layer{node_label(node, index), node.op_type(), 0,
                  planned == plan.on_host.end() ? why_on_host(model, node) : planned->second};
  if (!done) {
    throw UsageError(fmt::format("{}: '{}': its MACs are not known", model.name(), layer.name));
  }
  layer.macs = done->macs * static_cast<std::uint64_t>(work.passes);
  work.host_layers.push_back(std::move(layer));
}

}  // namespace

DeviceWork plan_product(const std::string& name, const GemmShape& shape, const Geometry& geometry) {
  DeviceWork work;
  work.name = name;
  work.geometry = geometry;
  work.programs.push_back(
      program_of(make_job("gemm", shape, Accumulate::kDevice, geometry), geometry));
  check_tiles(work);
  return work;
}

DeviceWork plan_network(const OnnxModel& model, const Geometry& geometry, std::int64_t passes,
                        bool lanes, const MemoryTiming& memory) {
  require_supported(model);
  DeviceWork work;
  work.name = model.name();
  work.geometry = geometry;
  work.passes = passes;
  work.whole_network = true;
  CompileOptions options;
  options.lanes = lanes;
  options.rate = rate_of(memory);
  options.memory = memory;
  options.tensor_memory.reset();
  const Executable compiled = compile_in_integers(model, geometry, options);
  const DevicePlan& plan = compiled.plan;
  // Otherwise quantized on the way, a job by itself each.
  const auto own_products = [&](int i) {
    const bool host = plan.on_host.count(i) != 0;
    return host ? std::nullopt : linear_product(model, model.graph().node(i));
  };
  for (const PassItem& item : compiled.order) {
    const auto i = static_cast<int>(item.index);
    if (item.kind == PassItem::Kind::kSums) {
      work.programs.push_back(
          program_of(compiled.sums[item.index], compiled.number_of_sums(item.index)));
    } else if (item.kind == PassItem::Kind::kProgram) {
      work.programs.push_back(program_of(plan.programs[item.index],
                                         compiled.programs[item.index].list, 1 + item.index));
    } else if (const auto products = own_products(i)) {
      const ProductSizes& one = products->shape;
      const onnx::NodeProto& node = model.graph().node(i);
      work.programs.push_back(program_of(
          make_job(node_label(node, i), {one.m, one.k, one.n}, Accumulate::kDevice, geometry),
          geometry));
      if (products->count != 1) {
        throw UsageError(fmt::format("'{}' has {} blocks of K, too many to predict",
                                     node_label(node, i), grouped(products->count)));
      }
    }
  }
  for (int i = 0; i < model.graph().node_size(); ++i) {
    if (!plan.has(i) && !own_products(i)) {
      add_host_layer(model, i, plan, work);
    }
  }
  check_tiles(work);
  return work;
}

RunReport predict(const DeviceWork& work, const MemoryTiming& memory) {
  RunReport report;
  report.model = work.name;
  report.batch = work.batch;
  report.geometry = work.geometry;
  report.memory = memory;
  report.host_layers = work.host_layers;
  if (work.whole_network) report.host.emplace();
  std::vector<LayerReport> layers;
  for (const DeviceWork::Program& program : work.programs) {
    DramCounts dram;
    const std::vector<Counters> counters =
        predict_layers(program.jobs, work.geometry, memory, &dram);
    std::vector<LayerReport> own = program.layers;
    own.front().dram = own.front().predicted_dram = dram;
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i].counters = own[i].predicted = counters[i];
      set_utilization(own[i], work.geometry, memory);
    }
    if (program.sums) {
      const std::size_t number = own.front().program;
      own = layers_of(*program.sums, std::move(own), work.geometry, memory);
      for (LayerReport& layer : own) layer.program = number;
    }
    std::move(own.begin(), own.end(), std::back_inserter(layers));
  }
  for (std::int64_t pass = 1; pass < work.passes; ++pass) join(report.layers, layers);
  join(report.layers, std::move(layers));
  return report;
}

}  // namespace gemm64
