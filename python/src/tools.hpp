// SPDX-License-Identifier: Apache-2.0
// What needs no device: predictions, analyses, quantized networks.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "host/device/memory_timing.hpp"
#include "host/graph/passes/quantize.hpp"
#include "host/runtime/named_tensors.hpp"
#include "host/runtime/narrowed_ranges.hpp"
#include "host/tiling/plan.hpp"
#include "python/src/network_session.hpp"

namespace gemm64::python {

/// The accelerator of a prediction.
struct Design {
  int array = 64;
  std::uint32_t scratchpad_words = 9216;
  std::uint32_t accumulator_rows = 128;
  MemoryTiming memory;
  Accumulate accumulate = Accumulate::kDevice;
};

/// What a product with int32 results takes: a layer of the report, without what only a run
/// measures. Throws UsageError where there is no such product or accelerator.
nlohmann::ordered_json predict_product(const GemmShape& shape, const Design& design);

/// As the program's `analyze --json`. Throws UsageError as that does.
nlohmann::ordered_json analyze_network(
    const std::string& file, std::int64_t batch,
    const std::map<std::string, std::vector<std::int64_t>>& input_shapes, int array,
    const MemoryTiming& memory);

/// What the scales of a quantized network come from: arrays by the names of the network's inputs
/// ("": the first), or files as the program's `--calibrate` takes them.
struct CalibrationData {
  NamedTensors arrays;
  std::vector<std::string> files;
  std::int64_t images = 0;    // of the files, the first ones; 0: all
  std::string preprocessing;  // of images; empty: as their number of channels asks
};

/// Writes the quantized network to `output`; returns the nodes by operator that were quantized,
/// those left in float, and why. Throws UsageError as the program's `quantize` does.
nlohmann::ordered_json quantize_network(const ModelSource& model, const std::string& output,
                                        const CalibrationData& calibration, QuantizeChoice choice,
                                        const RangeOptions& ranges);

}  // namespace gemm64::python
