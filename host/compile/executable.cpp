// SPDX-License-Identifier: Apache-2.0
#include "host/compile/executable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "host/compile/layer_buffers.hpp"
#include "host/device/array_geometry.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/tiling/packing.hpp"
#include "host/util/divide.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

TensorRef input_of(const DeviceLayer& layer, const Job& job) {
  TensorRef ref;
  ref.name = layer.input_value;
  ref.address = job.layout.activations;
  ref.bytes = job.plan.activation_bytes();
  ref.layout = job.plan.convolution() != nullptr ? TensorLayout::kPlanes : TensorLayout::kRows;
  ref.scale = layer.input.scale;
  ref.zero = layer.input.zero;
  return ref;
}

TensorRef result_of(const OnnxModel& model, const DeviceLayer& layer, const Job& job) {
  TensorRef ref;
  ref.name = model.graph().node(layer.gives()).output(0);
  ref.address = job.layout.results;
  ref.bytes = job.plan.result_bytes();
  ref.layout = layer.convolution ? TensorLayout::kPlanes : TensorLayout::kRows;
  ref.is_unsigned = job.plan.results().code() == ResultCode::kUint8;
  ref.scale = layer.result.scale;
  ref.zero = layer.result.zero;
  return ref;
}

LayerTensors tensors_of(const OnnxModel& model, const DeviceLayer& layer, const Job& job) {
  const onnx::NodeProto& node = model.graph().node(layer.node);
  LayerTensors tensors{input_of(layer, job), {}, {}, result_of(model, layer, job), {}};
  if (job.plan.output.takes_operands()) {
    tensors.operand.name = layer.second;
    tensors.operand.address = job.layout.operands;
    tensors.operand.bytes = job.plan.operand_bytes();
    tensors.operand.layout = tensors.result.layout;
    tensors.operand.scale = layer.second_quantization.scale;
    tensors.operand.zero = layer.second_quantization.zero;
  }
  tensors.weights.name = tensors.parameters.name =
      layer.has_no_constants() || layer.is_pool() ? layer.job.name : node.input(3);
  tensors.weights.address = job.layout.weights;
  tensors.weights.bytes = job.plan.weight_bytes();
  tensors.weights.layout = job.plan.lanes ? TensorLayout::kTaps : TensorLayout::kTiles;
  tensors.parameters.address = job.layout.parameters;
  tensors.parameters.bytes = job.plan.parameter_bytes();
  tensors.parameters.layout = TensorLayout::kParameters;
  return tensors;
}

/// Approximate cycles of a job of parallel products: its tiles, or its results where these take
/// more.
double cycles_beside(const ProductSizes& one, std::uint64_t count, std::uint32_t n) {
  const auto rows = static_cast<double>(one.m);
  const auto tiles = static_cast<double>(divide_up(one.k * count, n));
  const double beats = ResultFormat::int32().beats_per_row();
  return static_cast<double>(divide_up(one.n * count, n)) *
         std::max(tiles * std::max(rows, static_cast<double>(n)), beats * rows);
}

/// Products of a node that a job takes: blocks of K as many as the array has rows for; of groups
/// and of the matrices of a stack, at most as many as it has columns for, those that take the
/// fewest cycles.
std::uint64_t products_together(const onnx::NodeProto& node, const Products& products,
                                const Geometry& geometry) {
  const ProductSizes& one = products.shape;
  if (blocks_of_k(node) != 1) {
    return std::clamp<std::uint64_t>(geometry.n / one.k, 1, products.count);
  }
  const auto cycles = [&](std::uint64_t together) {
    const std::uint64_t rest = products.count % together;
    const std::uint64_t whole = products.count / together;
    return static_cast<double>(whole) * cycles_beside(one, together, geometry.n) +
           (rest == 0 ? 0 : cycles_beside(one, rest, geometry.n));
  };
  std::uint64_t best = 1;
  for (std::uint64_t i = 2; i <= std::min(geometry.n / one.n, products.count); ++i) {
    if (cycles(i) <= cycles(best)) best = i;
  }
  return best;
}

/// The job of several products of a node.
GemmShape shape_together(const onnx::NodeProto& node, const ProductSizes& one,
                         std::uint64_t count) {
  if (blocks_of_k(node) != 1) return {one.m * count, one.k * count, one.n};
  return {one.m, one.k * count, one.n * count};
}

/// Tiles of the weights of the nodes of sums that programs have; others run by themselves.
std::map<std::size_t, std::uint64_t> tiles_of_sums(const OnnxModel& model, const DevicePlan& plan,
                                                   const Geometry& geometry) {
  constexpr std::uint64_t kMostJobs = 1024;  // of a node
  std::map<std::size_t, std::uint64_t> tiles;
  for (const auto& [index, why] : plan.sums) {
    const onnx::NodeProto& node = model.graph().node(index);
    const auto products = linear_product(model, node);
    if (!products) continue;
    const std::uint64_t together = products_together(node, *products, geometry);
    const std::uint64_t jobs = divide_up(products->count, together);
    if (jobs > kMostJobs) continue;
    try {
      const Plan cut =
          make_plan(shape_together(node, products->shape, together), Accumulate::kDevice, geometry);
      tiles[static_cast<std::size_t>(index)] = cut.tiles() * jobs;
    } catch (const UsageError&) {  // reported when it runs
    }
  }
  return tiles;
}

SumsProgram make_sums(const OnnxModel& model, const PassItem& item, const Geometry& geometry,
                      std::uint64_t most_tiles) {
  SumsProgram made;
  std::vector<Job> jobs;
  std::uint64_t tiles = 0;
  for (const std::size_t index : item.nodes) {
    const onnx::NodeProto& node = model.graph().node(static_cast<int>(index));
    const Products products = linear_product(model, node).value();
    const std::uint64_t together = products_together(node, products, geometry);
    const std::string name = node_label(node, static_cast<int>(index));
    const std::size_t before = jobs.size();
    for (std::uint64_t first = 0; first < products.count; first += together) {
      const std::uint64_t count = std::min(together, products.count - first);
      jobs.push_back(
          make_job(products.count <= together ? name : fmt::format("{}/{}", name, first / together),
                   shape_together(node, products.shape, count), Accumulate::kDevice, geometry));
      jobs.back().ready = true;
      tiles += jobs.back().plan.tiles() * jobs.back().plan.row_blocks();
    }
    const ProductSizes all = size_of_layer(node, products);
    made.nodes.push_back({index,
                          name,
                          products,
                          blocks_of_k(node) != 1,
                          multiplies_computed(model, node),
                          together,
                          jobs.size() - before,
                          {all.m, all.k, all.n}});
  }
  if (tiles <= most_tiles) made.list = make_job_program(jobs, geometry);
  return made;
}

/// Tiles that a program loads; as many as there can be where the sum is more.
std::uint64_t tiles_of(const DeviceProgram& program) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t tiles = 0;
  for (const DeviceLayer& layer : program.layers) {
    const std::uint64_t each = layer.job.plan.tiles(), blocks = layer.job.plan.row_blocks();
    if (blocks != 0 && each > (kMost - tiles) / blocks) return kMost;
    tiles += each * blocks;
  }
  return tiles;
}

}  // namespace

const char* name(TensorLayout layout) {
  constexpr std::array kNames{"rows", "planes", "tiles", "taps", "parameters"};
  return kNames.at(static_cast<std::size_t>(layout));
}

bool Executable::has_constants() const {
  return std::all_of(programs.begin(), programs.end(), [](const CompiledProgram& program) {
    return program.constants.size() == program.tensors.size();
  });
}

namespace {

/// As the options have it; `tensor_memory` is known.
Executable compile_as_chosen(const OnnxModel& model, const Geometry& geometry,
                             const CompileOptions& options) {
  Executable made;
  made.geometry = geometry;
  made.options = options;
  const Geometry own = *options.tensor_memory ? geometry.with_tensor_memory() : geometry;
  made.plan =
      options.why_sums.empty()
          ? plan_device(model, own,
                        {options.convolutions, options.lanes, options.whole_parts, options.rate})
          : plan_sums(model, options.why_sums);
  if (options.floats == CompileOptions::Floats::kAsTheFile) {
    leave_floats_to_host(model, made.plan, options.why_no_floats);
  }
  std::map<std::size_t, std::uint64_t> sums;
  if (options.why_sums.empty()) sums = tiles_of_sums(model, made.plan, geometry);
  made.order = pass_order(model, made.plan, sums);
  for (const PassItem& item : made.order) {
    if (item.kind != PassItem::Kind::kSums) continue;
    made.sums.push_back(make_sums(model, item, geometry, options.most_tiles));
  }
  for (const DeviceProgram& program : made.plan.programs) {
    CompiledProgram& compiled = made.programs.emplace_back();
    if (tiles_of(program) > options.most_tiles) continue;
    compiled.list = make_program(program, own);
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
      compiled.tensors.push_back(tensors_of(model, program.layers[i], compiled.list.jobs[i]));
    }
  }
  return made;
}

/// May a result of the programs stay in the tensor memory?
bool has_internal_results(const Executable& made) {
  return std::any_of(made.programs.begin(), made.programs.end(),
                     [](const CompiledProgram& program) {
                       return std::any_of(program.list.jobs.begin(), program.list.jobs.end(),
                                          [](const Job& job) { return job.internal; });
                     });
}

/// Has a word channels of several parts of a concatenation?
bool has_shared_words(const Executable& made) {
  const auto shares = [](const Job& job) {
    const Plan& plan = job.plan;
    const auto& part = plan.output.part;
    return part && part->has_shared_tiles(plan.shape.n, plan.array);
  };
  return std::any_of(made.programs.begin(), made.programs.end(),
                     [&shares](const CompiledProgram& program) {
                       const std::vector<Job>& jobs = program.list.jobs;
                       return std::any_of(jobs.begin(), jobs.end(), shares);
                     });
}

/// Cycles of all programs of the plan.
std::uint64_t predicted_cycles(const Executable& made) {
  std::uint64_t cycles = 0;
  for (const CompiledProgram& program : made.programs) {
    for (const Counters& layer : predict_layers(program.list, made.geometry, made.options.memory)) {
      cycles += layer[counter::kTotalClocks];
    }
  }
  return cycles;
}

}  // namespace

Executable compile(const OnnxModel& model, const Geometry& geometry,
                   const CompileOptions& options) {
  CompileOptions chosen = options;
  chosen.tensor_memory = options.tensor_memory.value_or(false);
  Executable made = compile_as_chosen(model, geometry, chosen);
  const auto is_lowered = [](const Executable& one) {
    return std::all_of(one.programs.begin(), one.programs.end(),
                       [](const CompiledProgram& program) { return !program.list.jobs.empty(); });
  };
  const MemoryTiming& memory = options.memory;
  const bool is_ideal =
      memory.sharing == MemorySharing::kIndependent && memory.bytes_per_cycle == 0;
  if (options.tensor_memory || is_ideal || !is_lowered(made) || !geometry.has_tensor_memory() ||
      !has_internal_results(made)) {
    return made;
  }
  chosen.tensor_memory = true;
  Executable with = compile_as_chosen(model, geometry, chosen);
  const auto same_nodes = [&](const Executable& other) {
    return is_lowered(other) && other.plan.on_host == made.plan.on_host &&
           other.plan.between == made.plan.between && other.programs.size() == made.programs.size();
  };
  if (has_shared_words(with)) {
    chosen.whole_parts = true;
    Executable whole = compile_as_chosen(model, geometry, chosen);
    const bool better = same_nodes(whole) && predicted_cycles(whole) < predicted_cycles(with);
    if (better) with = std::move(whole);
  }
  // The host cannot read, and thus not compare, what stays there. That has to be worth it.
  constexpr std::uint64_t kParts = 16;
  const bool fewer =
      same_nodes(with) && predicted_cycles(with) * kParts <= predicted_cycles(made) * (kParts - 1);
  return fewer ? with : made;
}

Executable compile_in_integers(const OnnxModel& model, const Geometry& geometry,
                               CompileOptions options) {
  Executable made = compile(model, geometry, options);
  if (made.plan.has_integers()) return made;
  options.floats = CompileOptions::Floats::kOnDevice;
  return compile(model, geometry, options);
}

void require_same(const Executable& executable, const Geometry& geometry,
                  const CompileOptions& options, const std::string& model) {
  if (executable.geometry.n != geometry.n) {
    throw UsageError(
        fmt::format("{}: was compiled for an array of {} columns; the device has {}: "
                    "give --array {}, or compile it again",
                    model, executable.geometry.n, geometry.n, executable.geometry.n));
  }
  if (!(executable.geometry == geometry)) {
    throw UsageError(
        fmt::format("{0}: was compiled for memories of {1}; the device has {2}: give --design {1}, "
                    "or compile it "
                    "again",
                    model, design_text(executable.geometry), design_text(geometry)));
  }
  const CompileOptions& own = executable.options;
  if (!options.why_sums.empty()) {
    throw UsageError(
        fmt::format("{}: is compiled, and {}: run the ONNX file", model, options.why_sums));
  }
  if (own.floats != options.floats) {
    throw UsageError(fmt::format(
        "{}: is compiled in the file's own arithmetic; for another --precision, run the "
        "ONNX file",
        model));
  }
  if (own.lanes != options.lanes) {
    throw UsageError(
        fmt::format("{}: was compiled with --depthwise {}: give that, or run the ONNX file", model,
                    own.lanes ? "window" : "array"));
  }
  if (own.convolutions != options.convolutions) {
    throw UsageError(fmt::format("{}: was compiled with convolutions on the {}: run the ONNX file",
                                 model, own.convolutions ? "device" : "host"));
  }
}

void add_buffers(Executable& executable, const OnnxModel& model) {
  for (std::size_t i = 0; i < executable.programs.size(); ++i) {
    executable.programs[i].buffers = std::make_shared<const std::vector<LayerBuffers>>(
        layer_buffers(model, executable.plan.programs[i]));
  }
}

void pack_constants(Executable& executable, const OnnxModel& model) {
  add_buffers(executable, model);
  for (std::size_t i = 0; i < executable.programs.size(); ++i) {
    const DeviceProgram& plan = executable.plan.programs[i];
    CompiledProgram& program = executable.programs[i];
    program.constants.clear();
    for (std::size_t j = 0; j < plan.layers.size(); ++j) {
      PackedLayer& packed = program.constants.emplace_back();
      const DeviceLayer& layer = plan.layers[j];
      if (!layer.weights_value.empty()) continue;
      const LayerWeights& weights = (*program.buffers)[j].constants;
      packed = {pack_weights(layer.job, weights.w),
                pack_parameters(layer.job, weights.bias, weights.scale, layer.table)};
    }
  }
}

}  // namespace gemm64
