// SPDX-License-Identifier: Apache-2.0
// A sweep: designs x networks x batches, as a small JSON file describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/memory_timing.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// An accelerator, its memory, and whether its lanes next to the array have the depthwise
/// convolutions that they can.
struct SweepDesign {
  Geometry geometry;
  MemoryTiming memory;
  bool lanes = true;
};

/// One of the program's own networks, an ONNX file, or one product.
struct SweepNetwork {
  std::string name;  // as the sweep has it
  bool built_in = false;
  std::optional<GemmShape> product;

  bool is_file() const { return !built_in && !product; }
};

/// Indices into a sweep's lists.
struct SweepPoint {
  std::size_t network = 0;
  std::size_t design = 0;
  std::int64_t batch = 1;
};

struct Sweep {
  bool runs = false;           // on `device`; otherwise points are predicted
  std::string device = "rtl";  // or "tlm"
  std::uint32_t seed = 1;      // of weights and inputs
  bool quantize = false;       // float files, before they are predicted or run
  std::vector<SweepNetwork> networks;
  std::vector<std::int64_t> batches;
  std::vector<SweepDesign> designs;

  std::size_t size() const { return networks.size() * batches.size() * designs.size(); }
  /// By network, then batch, then design. Throws std::out_of_range from size() on.
  SweepPoint point(std::size_t index) const;
};

/// Reads a sweep (host/sweep/README.md has the format). `file` is named in messages. Throws
/// UsageError, which names the key, its value and what would be right.
Sweep parse_sweep(const std::string& text, const std::string& file);

/// The columns that name a point, in a row's order: network, m, k, n, batch and the design's keys.
nlohmann::ordered_json describe(const Sweep& sweep, const SweepPoint& point);

/// Returns the value of one of these columns in which designs differ: tiles of weights, which are
/// larger on a larger array, in words.
nlohmann::ordered_json varied_value(const nlohmann::ordered_json& row, const std::string& key);

/// "point 3 (alexnet, batch 1, array 64, memory_latency 50)": of the design what differs between
/// designs.
std::string label(const Sweep& sweep, std::size_t index);

}  // namespace gemm64
