// SPDX-License-Identifier: Apache-2.0
// Which layers of a quantized network run on the device, as what, and in which programs: from
// only shapes and constants, so that it is known before anything runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/compile/channel_function.hpp"
#include "host/compile/channel_order.hpp"
#include "host/compile/quantized_node.hpp"
#include "host/compile/strips.hpp"
#include "host/device/counters.hpp"
#include "host/device/memory_timing.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/job_program.hpp"
#include "host/tiling/shared_tiles.hpp"

namespace gemm64 {

/// What a layer gives of a QLinearConcat: some of its channels.
struct ConcatPart {
  int node = 0;                // of the graph
  int input = 0;               // which of the node's inputs
  std::uint64_t first = 0;     // channel of the concatenation
  std::uint64_t place = 0;     // of that channel where they lie
  std::uint64_t channels = 0;  // of the concatenation
  std::uint64_t columns = 0;  // of all parts where they lie; more than channels if gaps are between
};

/// What a layer gives of a map, of one strip of what it reads: rows [first, end).
struct MapRows {
  std::uint32_t strip = 0;
  std::uint32_t first = 0, end = 0;
};

/// A layer on the device, from 8-bit values to 8-bit values.
struct DeviceLayer {
  /// Of the graph. A layer that copies a value for a concatenation has the node of that.
  int node = 0;
  std::string input_value;  // what it reads as its activations
  /// Nodes of the element-wise unit after it, in order: those that a table stands for, then at most
  /// one that takes a second operand.
  std::vector<int> fused;
  /// What becomes of each of the 256 results; empty where nothing does.
  std::vector<std::uint8_t> table;
  Job job;  // its results are int8 where another layer of the program reads them
  /// A convolution, or a Linear layer whose window is the whole map that it reads.
  std::optional<Convolution> convolution;
  LaneSum sum = LaneSum::kProducts;  // of the values under its window; else it is a pool
  bool is_pool() const { return sum != LaneSum::kProducts; }
  AverageFactors average;  // of a pool that adds values
  /// A map that it copies is enlarged: the repetitions of each pixel, vertically and horizontally.
  std::pair<std::uint32_t, std::uint32_t> repeats = {1, 1};
  bool identity = false;  // its weights are ones on the diagonal: it copies a map to other lanes
  /// It computes a function of each value and its channel, by these.
  std::optional<ChannelFactors> factors;
  /// Has its node no weights and no scale that it computes with?
  bool has_no_constants() const {
    return identity || factors.has_value() || sum == LaneSum::kMaximum;
  }
  /// The host lays out the values under each window as a row; the job is their product.
  bool packed = false;
  /// The second operand of a product of two tensors that the network computes: the host packs it as
  /// weights when it is there. Empty: the weights are constants of the file.
  std::string weights_value;
  Dims stack;  // the sizes of a stack of such products; empty where there is one
  std::uint64_t products_of_stack() const;
  /// Products of the stack that share tiles.
  std::optional<SharedTiles> shared_tiles;
  /// Columns of its activations for a zero point of its weights (sum_columns()).
  std::uint64_t sum_columns = 0;
  /// Where the channels of its activations lie among the columns that its job reads, and of its
  /// results among its own.
  ChannelOrder input_order, result_order;
  /// Where all channels of its source's tensor lie, of which its input value may have some: `view`,
  /// empty where it has all. Its job reads from tile `source_tile` of them on.
  ChannelOrder source_order;
  std::vector<std::uint32_t> view;
  std::uint32_t source_tile = 0;
  /// Channels of a pool's results, if its job has columns between them; else 0.
  std::uint64_t channels = 0;
  Quantization input;   // of its activations, as int8
  Quantization result;  // of its results, as stored in memory
  /// The layer of the same program whose results it reads as they lie.
  std::optional<std::size_t> source;
  /// Where its results take a second operand: that value, and the layer of the program that gives
  /// it, if one does.
  std::string second;
  std::optional<std::size_t> operand;
  Quantization second_quantization;  // as stored in memory

  /// Where its results are a part of a concatenation's, in the steps of that.
  std::optional<ConcatPart> part;

  /// What it reads and what it gives, where that is a map in strips. One that gives some rows of
  /// the map reads the channels of one strip (`view`).
  std::optional<Strips> source_strips, strips;
  std::optional<MapRows> rows;
  /// The rows of its source's strips that are those that it gives.
  std::uint32_t first_row_read() const { return rows->first - rows->strip * source_strips->step; }

  /// K of the network's products, and those of its products that it computes, each once.
  std::uint64_t depth_of_products() const;
  GemmShape products() const;
  /// The convolution as the network says it.
  std::optional<Convolution> own_convolution() const;
  /// Is it not the first of those that give its node's results together?
  bool is_later_part() const { return part ? part->first != 0 : rows && rows->first != 0; }
  /// The last node that it computes by itself.
  int last() const { return fused.empty() ? node : fused.back(); }
  /// The node whose results it writes, or some of them.
  int gives() const { return part ? part->node : last(); }
  /// All nodes that it computes, in order, then the one that it gives a part of.
  std::vector<int> nodes() const;
};

/// Layers that the device runs as one program, in its order.
struct DeviceProgram {
  std::vector<DeviceLayer> layers;
};

/// A network on the device.
///
/// A layer belongs to a level: that of the layer whose results it reads, one more than it where
/// the host computes something from them in between. Layers of a level are one program. Those that
/// wait for fewer others of it come first, so that layers stand apart from those that they read.
struct DevicePlan {
  std::vector<DeviceProgram> programs;
  std::map<int, std::string> on_host;  // nodes with products: why the host has them
  std::map<int, std::string> sums;     // Linear layers by themselves: why with int32 results
  /// Other nodes that the host computes between programs, from the results of one to what another
  /// one reads, and why the device does not. What moves nothing is none.
  std::map<int, std::string> between;
  /// Of these nodes, the numbers, from 1, of the programs that cannot join an earlier one because
  /// they read, through other nodes of the host at most, what the node makes.
  std::map<int, std::vector<std::size_t>> splits;

  std::vector<std::size_t> programs_after(int node) const {
    const auto found = splits.find(node);
    return found == splits.end() ? std::vector<std::size_t>() : found->second;
  }
  bool has(int node) const;
  /// Has the device layers of 8-bit values?
  bool has_integers() const { return !programs.empty() || !sums.empty(); }
};

struct PlanOptions {
  bool convolutions = true;  // may the device have them?
  bool lanes = true;         // may depthwise ones run on the depthwise unit?
  bool whole_parts = false;  // see CompileOptions
  MemoryRate rate = {};      // of the memory that the plan is to be best for
};

/// Plans a model in QOperator form (host/graph/passes/quantized_graph.hpp makes it of QDQ).
DevicePlan plan_device(const OnnxModel& model, const Geometry& geometry,
                       const PlanOptions& options = {});

/// The plan of a run whose options leave the device nothing but sums of Linear layers: `why`.
DevicePlan plan_sums(const OnnxModel& model, const std::string& why);

/// Leaves Linear layers of float32 to the host, as a quantized file has them: where the device has
/// layers of 8-bit values, or `why` says another reason. So does it with integers in blocks whose
/// sums are float32 in the file's arithmetic.
void leave_floats_to_host(const OnnxModel& model, DevicePlan& plan, const std::string& why = "");

/// The program's jobs, laid out, and its commands.
JobProgram make_program(const DeviceProgram& program, const Geometry& geometry);

/// Counters of each of a program's layers (host/cycles/program_prediction.hpp), as a run has them
/// with a memory that does not stall. `dram`, where given: adds what its channel counts.
std::vector<Counters> predict_layers(const JobProgram& program, const Geometry& geometry,
                                     const MemoryTiming& memory, DramCounts* dram = nullptr);

}  // namespace gemm64
