// SPDX-License-Identifier: Apache-2.0
#include "python/src/tools.hpp"

#include <utility>

#include "host/analysis/analysis.hpp"
#include "host/analysis/analysis_report.hpp"
#include "host/analysis/open_model.hpp"
#include "host/cycles/cycle_model.hpp"
#include "host/cycles/published.hpp"
#include "host/device/array_geometry.hpp"
#include "host/graph/onnx/save.hpp"
#include "host/graph/passes/fold_batch_normalization.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/numerics/preprocessing.hpp"
#include "host/report/json.hpp"
#include "host/runtime/batched_model.hpp"
#include "host/runtime/calibration.hpp"
#include "host/tiling/job.hpp"
#include "host/torchscript/input_shapes.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/error.hpp"
#include "python/src/signals.hpp"

namespace gemm64::python {
namespace {

using Json = nlohmann::ordered_json;

Geometry geometry_of(const Design& design) {
  return gemm64::geometry_of({design.array, design.scratchpad_words, design.accumulator_rows});
}

/// The float model for as many rows as the calibration has, with these.
BatchedModel with_calibration(const OnnxModel& model, const CalibrationData& data) {
  const auto load = [&model](const ImportOptions& import) { return model.again(import); };
  const auto any = [](const OnnxModel&) {};
  InputOptions options;
  options.files = data.files;
  options.limit = data.images;
  if (!data.preprocessing.empty()) {
    options.pixels.values = preprocessing_named(data.preprocessing);
  }
  if (data.arrays.empty()) return load_with_inputs(load, options, any);
  return load_with_inputs(load, options, any,
                          [&data](const OnnxModel&, const InputOptions&, std::int64_t) {
                            InputSources sources;
                            for (const auto& [name, tensor] : data.arrays)
                              sources[name] = InputSource::of(tensor);
                            return sources;
                          });
}

/// The shapes of arrays, one row of each.
InputShapes shapes_of(const NamedTensors& arrays) {
  InputShapes shapes;
  for (const auto& [name, tensor] : arrays) {
    std::vector<std::int64_t>& shape = shapes[name];
    shape = tensor.dims();
    if (shape.size() > 1) shape[0] = 1;
  }
  return shapes;
}

/// With the model's own name for an array of its first input.
CalibrationData named(CalibrationData data, const OnnxModel& model) {
  const auto first = data.arrays.find("");
  if (first == data.arrays.end()) return data;
  if (model.inputs().empty()) throw UsageError(model.name() + ": has no inputs to calibrate");
  data.arrays[model.inputs().front()] = std::move(first->second);
  data.arrays.erase("");
  return data;
}

}  // namespace

Json predict_product(const GemmShape& shape, const Design& design) {
  const Geometry geometry = geometry_of(design);
  if (design.memory.latency == 0) throw UsageError("memory_latency is 0; it is at least 1 cycle");
  const Job job = make_job("matmul", shape, design.accumulate, geometry);
  LayerReport layer;
  layer.name = job.name;
  layer.shape = shape;
  const std::uint64_t n = geometry.n;
  layer.padded = {shape.m, job.plan.k_tiles * n, job.plan.n_tiles * n};
  layer.tiles = job.plan.tiles() * job.plan.row_blocks();
  layer.counters = predict_counters(job.program, geometry, design.memory, {job.layout.ring});
  layer.published = published_cycles(shape, geometry.n);
  set_utilization(layer, geometry, design.memory);
  RunReport report;
  report.geometry = geometry;
  report.memory = design.memory;
  report.layers = {layer};
  const Json whole = to_json(report);
  Json json = whole["layers"][0];
  for (const char* of_runs : {"name", "on", "predicted_cycles", "predicted_bytes",
                              "predicted_counters", "mismatches", "max_abs_error", "seconds"}) {
    json.erase(of_runs);
  }
  json["array"] = geometry.n;
  json["memory"] = whole["memory"];
  return json;
}

Json analyze_network(const std::string& file, std::int64_t batch,
                     const std::map<std::string, std::vector<std::int64_t>>& input_shapes,
                     int array, const MemoryTiming& memory) {
  DesignSizes sizes;
  sizes.array = array;
  ImportOptions import;
  import.shapes_only = true;
  import.batch = batch;
  import.input_shapes = input_shapes;
  const ModelSource source{file, std::nullopt, {}};
  const ModelLoader load = [&source](const ImportOptions& by) { return source.load(by); };
  OnnxModel read = source.is_torchscript() ? load(import) : load_to_analyze(load, import);
  const OnnxModel model = with_quantized_operators(std::move(read), import);
  return to_json(analyze(model, gemm64::geometry_of(sizes), memory));
}

Json quantize_network(const ModelSource& source, const std::string& output,
                      const CalibrationData& calibration, QuantizeChoice choice,
                      const RangeOptions& ranges) {
  ClaimedFiles files;
  if (!source.bytes) files.input("the model", source.file);
  for (const std::string& text : calibration.files) {
    for (const std::string& file : input_files(text)) files.input("calibrate", file);
  }
  files.output("output", output);
  OutputFile file(output, "the quantized model");
  ModelSource shaped = source;
  shaped.shapes = with_array_shapes(shapes_of(calibration.arrays), calibration.files);
  OnnxModel read = shaped.load({});
  for (const std::string& external : read.external_files()) {
    files.input("the model's external data,", external);
  }
  // What is written is for as many images as the file says, not as many as it is calibrated on.
  const OnnxModel model = read.rewritten(fold_batch_normalization(read));
  const BatchedModel batched = with_calibration(model, named(calibration, model));
  const ObservedNetwork network(batched.model);
  const Ranges extremes = calibrate(network, batched.inputs);
  choice.ranges = narrowed_ranges(network, batched.inputs, extremes, ranges);
  QuantizedModel quantized;
  try {
    quantized = quantize_model(model, extremes, choice);
  } catch (const UsageError& error) {
    throw with_infinities(error, batched.inputs);
  }
  save_model(quantized.proto, file);
  return {{"quantized", quantized.quantized},
          {"float", quantized.left},
          {"why_float", quantized.why_left}};
}

}  // namespace gemm64::python
