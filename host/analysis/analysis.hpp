// SPDX-License-Identifier: Apache-2.0
// What an architect asks of a network: parameters, memory, multiply-accumulates and traffic, layer
// by layer and in all. Plain data, from which tables, files and plots are made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/analysis/array_cost.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// One node of the graph.
///
/// Conventions: parameters are what was trained (the mean and variance of BatchNormalization are
/// `statistics`), each counted in the first layer that reads it. Activations are what a layer
/// writes: Reshape, Flatten, Squeeze, Unsqueeze, Identity and Constant write none. Traffic is
/// what moves without any on-chip buffer: each node reads all its operands and writes all its
/// outputs; Constant and Identity move nothing, and neither do scalar constants, shapes, axes and
/// bounds. Nodes that make only constants are `folded`: computed before the network runs, without
/// activations, traffic and MACs. A parameter that reaches its reader through them is counted as
/// the file holds it.
struct LayerAnalysis {
  std::string name;
  std::string op_type;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<std::string> inputs;  // shapes of the operands that count, "?" where unknown
  std::vector<std::string> outputs;
  std::uint64_t parameters = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t weight_bytes = 0;  // parameters without biases
  std::uint64_t statistic_bytes = 0;
  std::uint64_t macs = 0;
  std::uint64_t bias_adds = 0;
  std::uint64_t activation_bytes = 0;
  std::uint64_t activation_values = 0;
  std::uint64_t in_and_out_bytes = 0;  // activations that the layer reads and writes
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  /// MACs for each value read or written, biases left out of both; 0 where there are no MACs.
  double intensity = 0;
  /// What its products cost on the array, wherever they run.
  std::optional<ArrayCost> array;
  /// What it costs where it is a pool that the device computes.
  struct Pool {
    std::size_t program = 0;  // of `run`, from 1
    std::uint64_t cycles = 0;
  };
  std::optional<Pool> pool;
  /// Where its results are (TensorPlace), if a program has a tensor memory.
  std::string results_in;
  /// Of a layer with MACs, or a pool on the device: why `gemm64 run` computes it on the host; empty
  /// where it computes it on the device.
  std::optional<std::string> on_host;
  bool folded = false;
  /// What could not be known, and why. Figures that depend on it are missing from the sums:
  std::string unknown;
  bool parameters_known = true;
  bool macs_known = true;
  bool bytes_known = true;  // of activations and traffic
};

/// All nodes of one kind of operator.
struct OperatorKind {
  struct Attribute {
    std::uint64_t count = 0;                         // nodes that have it
    std::optional<std::pair<double, double>> range;  // of numbers, lists included
    std::vector<std::string> values;                 // distinct ones, at most kMaxValues
    bool more = false;                               // are there others?
  };
  static constexpr std::size_t kMaxValues = 8;

  std::uint64_t count = 0;
  std::uint64_t parameters = 0;
  std::uint64_t macs = 0;
  std::uint64_t bias_adds = 0;
  std::uint64_t activation_bytes = 0;
  std::uint64_t traffic_bytes = 0;
  bool parameters_known = true;  // of each of the nodes?
  bool macs_known = true;
  bool bytes_known = true;
  std::map<std::string, Attribute> attributes;
};

/// Layers that `run` gives the device as one program.
struct ProgramAnalysis {
  std::vector<std::string> layers;  // in the device's order
  std::vector<std::string> places;  // of their results (TensorPlace), with a tensor memory
  std::uint64_t cycles = 0;
  std::uint64_t macs = 0;
};

/// Sums over all layers.
struct AnalysisTotals {
  std::uint64_t parameters = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t statistic_bytes = 0;
  std::uint64_t macs = 0;
  std::uint64_t bias_adds = 0;
  std::uint64_t activation_bytes = 0;
  std::uint64_t activation_values = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  double intensity = 0;                // MACs for each value read or written, of the whole
  double intensity_sum = 0;            // of the layers' intensities
  std::uint64_t peak_layer_bytes = 0;  // the largest in_and_out_bytes
  std::string peak_layer;
  std::uint64_t peak_live_bytes = 0;  // of activations alive at a time, in the file's order
  std::string peak_live_layer;
  /// Of layers with products: on the device in `gemm64 run`, or predicted as if they were.
  struct Place {
    std::uint64_t layers = 0;
    std::uint64_t macs = 0;
    std::uint64_t tiles = 0;
    std::uint64_t cycles = 0;
  };
  Place on_device, if_on_device;
  // Where false, the sums lack what some layers would add.
  bool parameters_known = true;
  bool macs_known = true;
  bool bytes_known = true;
  bool array_known = true;
  // Of the layers that the array carries: sums; cycles are those of layers whose cycles are known.
  std::uint64_t array_layers = 0;
  std::uint64_t array_unpredicted = 0;
  std::uint64_t array_macs = 0;
  std::uint64_t tiles = 0;
  std::uint64_t cycles = 0;
  std::uint64_t roof_cycles = 0;
  PublishedCycles published;
  double utilization = 0;
};

/// Activations as hooks on modules count them, where node names tell of modules ("/a/b/Conv").
struct ModuleActivations {
  std::uint64_t leaf_bytes = 0;       // outputs of modules that contain no other
  std::uint64_t container_bytes = 0;  // outputs of the others, the whole model included
  std::uint64_t leaves = 0;
  std::uint64_t containers = 0;
};

struct Analysis {
  std::string model;
  std::string graph;
  std::optional<std::int64_t> opset;  // of ONNX's own operators; empty where the file names none
  std::string opsets;                 // all that the file names, in words
  Geometry geometry;
  MemoryTiming memory;
  std::vector<std::pair<std::string, std::string>> inputs;  // of the graph: name, type and shape
  std::vector<std::pair<std::string, std::string>> outputs;
  std::vector<LayerAnalysis> layers;      // in the order in which they run
  std::vector<ProgramAnalysis> programs;  // of a quantized network
  Counters counters{};                    // of these together
  std::uint64_t entered_tiles = 0;        // of weights, into the array, likewise
  DramCounts dram;                        // and of the DRAM channel, where memory is one
  /// Cycles of the programs, compiled for ideal ports and for a DRAM channel; 0: not predicted.
  std::uint64_t compute_bound = 0, dram_cycles = 0;
  MemoryTiming dram_memory;        // of these
  std::vector<HostLayer> between;  // nodes without MACs for which they wait
  std::map<std::string, OperatorKind> kinds;
  AnalysisTotals totals;
  std::optional<ModuleActivations> modules;
  std::vector<std::string> unknown;  // what could not be known, a line each
  /// Are the layers on the device of float32, and their cycles those of --precision int8?
  bool quantizes = false;
  std::vector<std::string> open_inputs;  // what --input-shape would tell of each open input
  std::string why_not_run;               // why `gemm64 run` refuses the network
};

/// Analyses a model for an accelerator and its memory, whose bytes per cycle are those of a port.
/// `lanes`: depthwise convolutions may run next to the array. The cycle model follows each tile of
/// weights, some million a second: `max_tiles` of them over all layers. Throws UsageError if counts
/// are beyond 63 bits.
Analysis analyze(const OnnxModel& model, const Geometry& geometry, const MemoryTiming& memory,
                 bool lanes = true, std::uint64_t max_tiles = 20'000'000);

}  // namespace gemm64
