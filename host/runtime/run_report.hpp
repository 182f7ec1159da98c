// SPDX-License-Identifier: Apache-2.0
// What a run measured and checked: plain data, from which tables and JSON are made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/check/failure.hpp"
#include "host/cycles/published.hpp"
#include "host/device/counters.hpp"
#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/device/result_format.hpp"
#include "host/numerics/quality.hpp"
#include "host/runtime/classification.hpp"
#include "host/runtime/run_options.hpp"
#include "host/tiling/convolution.hpp"
#include "host/tiling/job_program.hpp"
#include "host/tiling/tile_walk.hpp"

namespace gemm64 {

/// What a layer's results on the device are.
enum class Arithmetic {
  kIntegers,          // of integers, as they were given
  kSlices,            // of float32, from exact products of slices
  kQuantizedOnTheWay  // of float32 in the file, quantized by the run
};

/// A fault that the device found in its own work on a layer, or the driver in its registers. The
/// program ran again.
struct LayerFault {
  static constexpr const char* kRegister = "REGISTER";  // the driver's error

  std::string error;        // name
  std::string memory;       // whose word was wrong, or register; empty: a row of sums was
  TileIndex tile;           // of the row
  std::uint64_t place = 0;  // row of the tile, or word of the memory
  std::uint64_t clock = 0;  // in which the program began again
  std::uint64_t found = 0;  // cycle in which the device reported it
};

/// One Linear layer, or one product.
struct LayerReport {
  std::string name;
  GemmShape shape;
  GemmShape padded;         // as the array sees it; M is never padded
  std::uint64_t tiles = 0;  // tiles of weights that were loaded, blocks of M counted
  ResultFormat results = ResultFormat::int32();
  Arithmetic arithmetic = Arithmetic::kIntegers;
  std::size_t program = 0;                 // it is a part of, from 1; 0: it ran by itself
  std::optional<Convolution> convolution;  // empty: a Linear layer, or products
  /// Products of equal height that share M, whose weights the network computes; 0: its weights are
  /// the model's.
  std::uint32_t products = 0;
  std::uint32_t strips = 1;               // of its map, in parallel lanes
  bool packed = false;                    // of a convolution: the host laid out its windows as rows
  std::uint64_t packed_bytes = 0;         // their bytes
  std::vector<std::string> vector_nodes;  // whose work the element-wise unit did on its results
  std::string why_sums;  // why a layer of 8-bit values has int32 results; empty: it has not
  // Other layers of its program ran in the cycles that its counters tell of, which go from fence to
  // fence: no figure of cycles is its own.
  bool overlapped = false;
  bool skipped = false;  // only another product runs: all below is zero
  Counters counters{};   // of the device; cycles are zero where it has no notion of time
  Counters predicted{};  // for a memory without stalls, otherwise the same
  // Of a DRAM channel, as counted and as predicted: of the whole program, at its first layer.
  DramCounts dram, predicted_dram;
  std::optional<Counters> on_device;  // predicted, had the device added the partial sums that the
                                      // host added
  PublishedCycles published;
  double utilization = 0;           // useful MACs / (N^2 x cycles)
  double roofline_utilization = 0;  // cycles that MACs or the busiest port need at least / cycles
  std::string place;               // of its results, of a program with a tensor memory: TensorPlace
  bool on_chip = false;            // they stay there, so that they are not compared themselves
  std::vector<LayerFault> faults;  // that the device found in itself
  Mismatches mismatches;           // of its results, where layers are compared
  double max_abs_error = 0;  // of the real-valued result: int8 against float32 weights' layer,
                             // float32 against double; 0 for a bare product of integers
  double error_bound = 0;    // what max_abs_error may be; 0: no bound is claimed
  double seconds = 0;        // of processor time, only of simulation
  std::uint64_t simulated_cycles = 0;  // by the simulator, register accesses included
};

/// How far the quantized network agrees with the float32 one.
struct NetworkQuality {
  std::uint64_t images = 0;
  std::uint64_t top1_equal = 0;  // images with the same largest output
  double top1_agreement() const {
    return static_cast<double>(top1_equal) / static_cast<double>(images);
  }
  double signal_to_noise_db = 0;  // of the network's output
  // The same without each output's mean over the batch, which biases dominate in an untrained
  // network: how well the outputs still tell one image from another.
  double centred_signal_to_noise_db = 0;
};

/// `exact` and `found`: the network's outputs, a row an image.
NetworkQuality network_quality(const MatrixF& exact, const MatrixF& found);

/// A node that ran on the host, and why.
struct HostLayer {
  std::string name;
  std::string op_type;
  std::uint64_t macs = 0;
  std::string reason;
  std::uint64_t values = 0;  // that it takes or gives, whichever are more; 0 where not known
  std::vector<std::size_t> programs = {};  // numbers of those that begin after it
};

/// What programs would wait for nodes of an operator if a unit of n lanes did them, a value each a
/// clock: a lower bound, as if it went over its values once and its way took no time.
struct HostWait {
  std::string op_type;
  std::uint64_t nodes = 0;
  std::uint64_t values = 0;
  std::uint64_t cycles = 0;
};

/// Those of nodes between programs, the longest first.
std::vector<HostWait> waits_for(const std::vector<HostLayer>& between, std::uint32_t n);

/// The host's part of a network.
struct HostWork {
  std::string runtime;  // "ONNX Runtime 1.31.1"; empty: the program itself
  std::uint64_t nodes = 0;
  double seconds = 0;  // of wall time, in which simulations may run on other cores
  /// Besides, waited for results that the device's are compared with.
  double reference_seconds = 0;
  std::map<std::string, std::uint64_t> operators;  // nodes of each kind; empty where all are
  std::vector<HostLayer> between;                  // nodes without MACs for which programs waited
};

/// A network's outputs against those of a run on the host.
struct OutputCheck {
  std::uint64_t values = 0;
  std::uint64_t mismatches = 0;
  std::string first;  // output with any
};

/// Adds what was compared of more images.
void add(OutputCheck& sum, const OutputCheck& more);

struct RunReport {
  std::string model;
  std::string device;
  CheckLevel check = CheckLevel::kLayers;
  OutputCheck outputs;  // where outputs are what was compared
  Precision precision = Precision::kFile;
  Accumulate accumulate = Accumulate::kDevice;
  std::uint64_t batch = 0;
  Geometry geometry;
  MemoryTiming memory;
  bool one_program = false;  // layers are parts of one program, from fence to fence
  bool chained = false;      // so are layers that take each other's 8-bit results
  std::vector<LayerReport> layers;
  std::optional<NetworkQuality> quality;
  std::optional<Classification> classification;
  std::optional<HostWork> host;
  std::vector<HostLayer> host_layers;
  std::string scales;                 // where those of activations come from; empty: from the file
  std::uint64_t images_at_once = 0;   // of a pass; 0: all images in one
  std::string why_in_turn;            // why images ran one after the other; empty: all ran together
  std::vector<std::string> warnings;  // of its inputs, a line each without a full stop
  std::vector<std::string> problems;  // what was asked for and did not come, a line each
  std::string error;                  // of the device, which ended the run; empty: none
  std::optional<Failure> failure;     // the first product that failed, looked at again
  bool host_only = false;  // the float path by itself: layers are compared with products in double

  /// Did the device count cycles?
  bool timed() const;
  /// Are predictions binding: does the device count cycles, with a memory that does not stall?
  bool predictable() const { return timed() && memory.predictable(); }
  /// Must this counter (gemm64::counter) be as predicted? Stalls cost cycles, never bytes.
  bool is_checked(std::size_t counter) const;
  /// Must it be in all layers together? In one program a layer's bytes depend on its cycles.
  bool is_checked_in_all(std::size_t counter) const;
  /// Is there nothing wrong of all that was compared: values, error bounds, the bytes over each
  /// port, bounds that no figure can pass and, where predictable, every counter? Not so where the
  /// device ran nothing.
  bool held() const;
  /// The same, and were values compared?
  bool verified() const { return check != CheckLevel::kNone && held(); }
  /// Figures that cannot be, a line each: more than all of the array's MACs, of a port's cycles or
  /// of an engine's.
  std::vector<std::string> impossible() const;
  /// Did the device, or only the host, compute in float32, and not on integers?
  bool in_float32() const;
  /// Layers of this arithmetic.
  std::uint64_t layers_of(Arithmetic arithmetic) const;
  /// MACs of all layers on the device, and of them and the host's.
  std::uint64_t device_macs() const;
  std::uint64_t all_macs() const;
  /// The sum of each program's layers, in the order of their first ones; of a layer by itself, that
  /// layer. A utilization is that of the program: its MACs and bytes together, since layers
  /// overlap.
  std::vector<LayerReport> programs() const;
  /// The sum of all programs (name "total"); its utilizations are of the whole.
  LayerReport total() const;
};

/// Adds cycles, bytes and the like; utilizations become those of both together.
void add(LayerReport& sum, const LayerReport& layer);

/// Adds what a layer did for one more image (rows below those of the others).
void add_image(LayerReport& images, const LayerReport& image);

/// What the jobs that a layer is made of took together, as one layer.
LayerReport layer_of(const RunReport& jobs, const std::string& name, const GemmShape& shape);

/// What is known of a job before it runs: its name, sizes and results.
LayerReport layer_of(const Job& job);

/// Notes where the results of a program's job are.
void set_place(LayerReport& layer, const JobProgram& list, std::size_t job);

/// Says that a layer's map is folded into strips, and what is published of its products without
/// them.
void set_strips(LayerReport& layer, std::uint32_t strips, std::uint32_t array);

/// Sets the utilizations of `layer` from its shape and counters.
void set_utilization(LayerReport& layer, const Geometry& geometry, const MemoryTiming& memory);

}  // namespace gemm64
