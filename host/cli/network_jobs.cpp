// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/device/commands.hpp"
#include "host/error.hpp"
#include "host/kernels/window.hpp"
#include "sim/platform/map.h"

namespace gemm64 {
namespace {

/// A tensor in the platform's memory, as the accelerator lays it out.
struct Region {
  TensorMap map;
  std::uint64_t address = 0;
  std::uint8_t rest = 0;  // what channels hold that there are not
};

/// Moves what a command addresses: activations by a distance of their own.
void relocate(Command& command, std::uint64_t base, std::uint64_t activations) {
  const Operand operand = operand_of(command);
  if (operand == Operand::kNone) return;
  command.set_address(command.address() + (operand == Operand::kActivations ? activations : base));
}

class Maker {
 public:
  Maker(const NetworkPlan& plan, const Geometry& geometry)
      : plan_(plan), geometry_(geometry), executor_(plan.model()) {}

  NetworkJobs make(const NamedTensors& inputs);

 private:
  void run(const NamedTensors& inputs);
  void add_program(std::size_t number);
  void add_pool(const onnx::NodeProto& node, const Region& source, const Region& results);
  void add_classes();
  Region need(const std::string& name, const DeviceLayer* reader);
  std::uint64_t allocate(std::uint64_t bytes);
  template <class Bytes>
  void put(std::uint64_t address, const Bytes& bytes);
  void add_job(FirmwareJob job, std::uint64_t results, const std::vector<std::uint8_t>& bytes);
  std::vector<std::uint8_t> bytes_of(const std::string& value, const Region& region) const {
    return map_bytes(values_.at(value), region.map, geometry_.n, region.rest);
  }

  const NetworkPlan& plan_;
  const Geometry& geometry_;
  const Executor executor_;
  std::map<std::string, Tensor> values_;   // of 8 bits, of a run on the host
  std::map<std::string, Region> regions_;  // of what jobs give
  NetworkJobs made_;
};

void Maker::run(const NamedTensors& inputs) {
  for (const auto& [name, tensor] : inputs) {
    if (tensor.element_size() == 1) values_[name] = tensor;
  }
  ExecutorHooks hooks;
  hooks.after = [this](const Step& step, const Tensors& outputs) {
    if (outputs.size() == 1 && outputs[0].present() && outputs[0].element_size() == 1) {
      values_[step.context.node->output(0)] = outputs[0];
    }
  };
  executor_.run(inputs, hooks);
}

std::uint64_t Maker::allocate(std::uint64_t bytes) {
  const std::uint64_t address = made_.memory.size();
  if (bytes > PLATFORM_MEMORY_MOST - address || page_up(address + bytes) > PLATFORM_MEMORY_MOST) {
    throw UsageError(fmt::format("{}: needs more than the {} bytes of the platform's memory",
                                 plan_.model().name(), PLATFORM_MEMORY_MOST));
  }
  made_.memory.resize(page_up(address + bytes));
  return address;
}

template <class Bytes>
void Maker::put(std::uint64_t address, const Bytes& bytes) {
  std::copy_n(bytes.data(), bytes.size(),
              made_.memory.begin() + static_cast<std::ptrdiff_t>(address));
}

void Maker::add_job(FirmwareJob job, std::uint64_t results,
                    const std::vector<std::uint8_t>& bytes) {
  job.results = results;
  job.result_bytes = bytes.size();
  job.crc = crc32(bytes.data(), bytes.size());
  job.check = true;
  made_.jobs.push_back(std::move(job));
}

/// Where a value lies when all jobs so far are done, those included that are added for it. What the
/// host computes is laid out for its reader.
Region Maker::need(const std::string& name, const DeviceLayer* reader) {
  const std::string root = plan_.root_of(name);
  const auto found = regions_.find(root);
  if (found != regions_.end()) return found->second;
  Region region;
  region.map = map_of(values_.at(root).dims());
  if (const onnx::NodeProto* const node = plan_.pool_of(root)) {
    const Region source = need(node->input(0), nullptr);
    region.rest = source.rest;
    const std::vector<std::uint8_t> bytes = bytes_of(root, region);
    region.address = allocate(bytes.size());
    add_pool(*node, source, region);
    return regions_[root] = region;
  }
  if (reader == nullptr || plan_.is_behind_layer(root)) {
    throw std::logic_error("'" + root + "' is read before its layer");
  }
  if (!reader->convolution) {
    const GemmShape& shape = reader->job.plan.shape;
    region.map = map_of({static_cast<std::int64_t>(shape.m), static_cast<std::int64_t>(shape.k)});
  }
  const std::vector<std::uint8_t> bytes = bytes_of(root, region);
  region.address = allocate(bytes.size());
  put(region.address, bytes);
  return region;
}

void Maker::add_pool(const onnx::NodeProto& node, const Region& source, const Region& results) {
  const Tensor& x = values_.at(plan_.root_of(node.input(0)));
  const NodeContext context{&node, plan_.label(node), plan_.model().opset()};
  if (x.rank() != 3 && x.rank() != 4) throw plan_.refusal(node, "its input is " + describe(x));
  const SpatialWindow window = make_window(context, x.dims(), kernel_shape(context, x.rank() - 2));
  const auto along = [&](const Dims& sizes, std::int64_t otherwise, std::size_t from_end) {
    const std::int64_t size = sizes.size() >= from_end ? sizes[sizes.size() - from_end] : otherwise;
    if (size > std::int64_t{WORK_MOST}) {
      throw plan_.refusal(node,
                          fmt::format("a size of {}; the firmware takes {}", size, WORK_MOST));
    }
    return static_cast<std::uint32_t>(size);
  };
  FirmwareJob job;
  processor_work& work = job.work;
  work.kind = WORK_MAX_POOL;
  work.source = source.address;
  work.pixel_bytes = geometry_.n;
  work.maps = (source.map.channels + geometry_.n - 1) / geometry_.n * source.map.images;
  work.height = source.map.height;
  work.width = source.map.width;
  work.out_height = results.map.height;
  work.out_width = results.map.width;
  work.kernel_height = along(window.kernel, 1, 2);
  work.kernel_width = along(window.kernel, 1, 1);
  work.stride_height = along(window.strides, 1, 2);
  work.stride_width = along(window.strides, 1, 1);
  work.dilation_height = along(window.dilations, 1, 2);
  work.dilation_width = along(window.dilations, 1, 1);
  work.pad_top = along(window.begin, 0, 2);
  work.pad_left = along(window.begin, 0, 1);
  add_job(std::move(job), results.address, bytes_of(node.output(0), results));
}

void Maker::add_program(std::size_t number) {
  const DeviceProgram& program = plan_.executable().plan.programs[number];
  const CompiledProgram& compiled = plan_.executable().programs[number];
  JobProgram list = compiled.list;
  // Activations first: the processor makes them before the program begins.
  std::vector<Region> activations(list.jobs.size());
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const DeviceLayer& layer = program.layers[i];
    const onnx::NodeProto& node = plan_.model().graph().node(layer.node);
    if (!layer.source) activations[i] = need(node.input(0), &layer);
  }
  const std::uint64_t base = allocate(list.end);
  std::vector<std::uint64_t> moves;
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    Job& job = list.jobs[i];
    const bool reads = job.source.has_value();
    moves.push_back(reads ? base : activations[i].address - job.layout.activations);
    for (Command& command : job.program) relocate(command, base, moves.back());
  }
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    relocate(list.program[i], base, moves[list.origins[i].job]);
    CommandOrigin origin = list.origins[i];
    origin.job += made_.layers.jobs.size();
    made_.layers.origins.push_back(origin);
    made_.layers.program.push_back(list.program[i]);
  }
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const Job& job = list.jobs[i];
    const DeviceLayer& layer = program.layers[i];
    const Step& step = executor_.steps()[static_cast<std::size_t>(layer.node)];
    const std::string& output = step.context.node->output(0);
    put(base + job.layout.weights, compiled.constants[i].weights);
    put(base + job.layout.parameters, compiled.constants[i].parameters);
    Region region;
    region.map = map_of(values_.at(output).dims());
    if (!layer.convolution) {
      const GemmShape& shape = job.plan.shape;
      region.map = map_of({static_cast<std::int64_t>(shape.m), static_cast<std::int64_t>(shape.n)});
    }
    const Output& format = job.plan.output;
    region.rest = static_cast<std::uint8_t>(std::clamp(format.zero, format.low, format.high));
    region.address = base + job.layout.results;
    regions_[output] = region;
    FirmwareJob to;
    if (i == 0) to.commands = list.program;
    add_job(std::move(to), region.address, bytes_of(output, region));
    made_.layers.jobs.push_back(job);
  }
}

void Maker::add_classes() {
  const auto& outputs = plan_.model().graph().output();
  const std::string root = outputs.empty() ? "" : plan_.root_of(outputs[0].name());
  const auto refuse = [&] {
    throw UsageError(
        fmt::format("{}: its first output has no row of values for each image, made "
                    "by a layer, so there are no classes",
                    plan_.model().name()));
  };
  if (!plan_.is_behind_layer(root)) refuse();
  const Region source = need(root, nullptr);
  const TensorMap& map = source.map;
  if (map.height * map.width != 1 || map.channels > WORK_MOST) refuse();
  const Tensor& scores = values_.at(root);
  const std::vector<std::uint8_t> rows = map_bytes(scores, map, map.channels, 0);
  for (std::uint32_t image = 0; image < map.images; ++image) {
    const auto* const row =
        reinterpret_cast<const std::int8_t*>(rows.data()) + std::size_t{image} * map.channels;
    made_.classes.push_back(
        static_cast<std::uint32_t>(std::max_element(row, row + map.channels) - row));
  }
  FirmwareJob job;
  job.work.kind = WORK_CLASSES;
  job.work.source = source.address;
  job.work.pixel_bytes = geometry_.n;
  job.work.maps = map.images;
  job.work.channels = map.channels;
  std::vector<std::uint8_t> bytes(made_.classes.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), made_.classes.data(), bytes.size());
  const std::uint64_t results = allocate(bytes.size());
  add_job(std::move(job), results, bytes);
}

NetworkJobs Maker::make(const NamedTensors& inputs) {
  run(inputs);
  const std::vector<CompiledProgram>& programs = plan_.executable().programs;
  std::size_t most = 0;
  for (const CompiledProgram& program : programs) {
    most = std::max(most, program.list.program.size());
  }
  made_.places = ring_places(most);
  made_.ring = allocate(std::uint64_t{made_.places} * kCommandBytes);
  for (std::size_t i = 0; i < programs.size(); ++i) add_program(i);
  add_classes();
  return std::move(made_);
}

}  // namespace

NetworkJobs make_network_jobs(const NetworkPlan& plan, const NamedTensors& inputs,
                              const Geometry& geometry) {
  return Maker(plan, geometry).make(inputs);
}

}  // namespace gemm64
