// SPDX-License-Identifier: Apache-2.0
// A network compiled for a device: programs of commands, its memory layout, and what
// the host does between them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "host/compile/device_plan.hpp"
#include "host/compile/pass_order.hpp"
#include "host/device/geometry.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/tiling/program_layer.hpp"

namespace gemm64 {

/// How a tensor is stored in memory, over an array of n columns.
enum class TensorLayout {
  kRows,        // [columns / n][rows][n] of int8: activations of a product, rows laid out by im2col
  kPlanes,      // [channels / n][images][height][width][n] of int8 or uint8
  kTiles,       // weights in their order of use: n columns (outputs) of n values a tile
  kTaps,        // weights for the lanes: [channels / n][tap rows][tap columns][n]
  kParameters,  // n biases (int32), then n scales (float32), for each n output channels
};

/// "rows", "planes", "tiles", "parameters".
const char* name(TensorLayout layout);

/// A tensor in the memory of a program.
struct TensorRef {
  std::string name;           // of the value in the graph
  std::uint64_t address = 0;  // counted from where the program's memory begins
  std::uint64_t bytes = 0;
  TensorLayout layout = TensorLayout::kRows;
  bool is_unsigned = false;  // uint8; else int8
  float scale = 1;           // of one value; parameters hold those of the results' channels
  int zero = 0;              // as stored in memory
};

/// What a layer reads and writes. Its input is the result of another layer where it has a source.
struct LayerTensors {
  TensorRef input, weights, parameters, result;
  TensorRef operand;  // the second one of its results, where they take one
};

struct LayerBuffers;

/// A program of the plan, lowered to commands.
struct CompiledProgram {
  JobProgram list;                    // laid out from address 0
  std::vector<LayerTensors> tensors;  // of each layer
  /// Of each layer; none until they are packed. Empty ones where the network computes
  /// the weights.
  std::vector<PackedLayer> constants;
  /// What each layer reads and writes (layer_buffers.hpp); nullptr until add_buffers().
  std::shared_ptr<const std::vector<LayerBuffers>> buffers;
};

/// Nodes whose int32 sums the device gives in one program, and the host does the rest.
struct SumsProgram {
  /// A node: its products are jobs of the list, where small ones share a tile: a job has
  /// `together` of them. Blocks of K lie one's rows below the other's, each with zeros where the
  /// weights of the others are. Groups and the matrices of a stack are next to each other, and
  /// zeros are in the weights.
  struct Node {
    std::size_t index = 0;  // of the graph
    std::string name;
    Products products;
    bool blocks = false;    // of K
    bool computed = false;  // are the second operands no weights of the file?
    std::size_t together = 1;
    std::size_t jobs = 0;
    GemmShape shape;  // of all products
  };
  std::vector<Node> nodes;
  JobProgram list;
};

struct CompileOptions {
  /// Convolutions stay on the host.
  bool convolutions = true;
  /// Depthwise convolutions run on the depthwise unit if it can; else on the array.
  bool lanes = true;
  /// Of the memory that the programs are to be best for. They run with any.
  MemoryRate rate = {};
  /// Do results that only the device reads stay in its tensor memory? The scratchpad is smaller
  /// then. Nothing: they do if the programs then take clearly fewer cycles with `memory`, and that
  /// is not one of ideal ports.
  std::optional<bool> tensor_memory = false;
  MemoryTiming memory = {};
  /// Does each part of a concatenation begin with a word of its own, so that it can stay in the
  /// tensor memory? Chosen with `tensor_memory`, if that is.
  bool whole_parts = false;
  /// Not empty: the device computes nothing but the int32 sums of Linear layers, and why.
  std::string why_sums;
  /// Linear layers of float32 in a file whose integers are the device's: the host's, as the file
  /// has them, or the device's in another arithmetic.
  enum class Floats { kAsTheFile, kOnDevice };
  Floats floats = Floats::kAsTheFile;
  /// Not empty: why all Linear layers of float32 are the host's.
  std::string why_no_floats;
  /// A program whose layers have more tiles of weights is not lowered: its list is empty.
  std::uint64_t most_tiles = std::numeric_limits<std::uint64_t>::max();
};

/// All that is known of a network on a device before anything runs. Made once, by compile(); read
/// by those who run it, predict it, draw it, or write it to a file.
struct Executable {
  Geometry geometry;
  CompileOptions options;                 // `tensor_memory` as it was chosen
  DevicePlan plan;                        // which layers run on the device, and why others do not
  std::vector<PassItem> order;            // of the host's nodes and the programs
  std::vector<CompiledProgram> programs;  // those of the plan
  std::vector<SumsProgram> sums;          // those of the order

  /// The number of a program of sums among all, after those of the plan.
  std::size_t number_of_sums(std::size_t index) const { return programs.size() + 1 + index; }

  bool has_constants() const;
};

/// Compiles a model in QOperator form (host/graph/passes/quantized_graph.hpp makes it of QDQ). From
/// only shapes and scales, so that a file without weights can be compiled.
Executable compile(const OnnxModel& model, const Geometry& geometry,
                   const CompileOptions& options = {});
/// As the file has it; where that leaves the device no layer of 8 bits, with floats on the device,
/// which run in integers.
Executable compile_in_integers(const OnnxModel& model, const Geometry& geometry,
                               CompileOptions options);

/// Throws UsageError where an executable is for another device, or was compiled with other options;
/// `model` is for the message.
void require_same(const Executable& executable, const Geometry& geometry,
                  const CompileOptions& options, const std::string& model);

/// Resolves what every layer reads and writes, so that a run needs no graph. `model`: the one that
/// was compiled. Throws UsageError if operands do not fit.
void add_buffers(Executable& executable, const OnnxModel& model);

/// Does that, and packs the weights and parameters of every layer. Throws UsageError where scales
/// cannot be packed.
void pack_constants(Executable& executable, const OnnxModel& model);

}  // namespace gemm64
