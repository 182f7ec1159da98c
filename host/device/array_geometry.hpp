// SPDX-License-Identifier: Apache-2.0
// The accelerator that the RTL makes of its parameters.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/device/geometry.hpp"

namespace gemm64 {

/// The sizes that a design may choose.
struct DesignSizes {
  std::int64_t array = 64;                        // rows and columns
  std::int64_t scratchpad_words = 9216;           // words of `array` activations
  std::int64_t accumulator_rows = 128;            // rows in each of two banks
  std::optional<std::int64_t> tensor_words = {};  // of the scratchpad; by default two thirds
  std::optional<std::int64_t> weight_tiles = {};  // in the weight buffer; by default 1024 words
  std::int64_t parameter_sets = 16;               // in the parameter buffer
};

/// The keys of sizes in sweeps, reports and options, as "accumulator_rows"; all but the array's.
const std::vector<std::string>& design_keys();

/// Sets the size of that key. Throws UsageError, which lists the keys, where there is none.
void set_size(DesignSizes& sizes, const std::string& key, std::int64_t value);

/// Reads "accumulator_rows=64,scratchpad_words=4080": any of the keys, each once; the others keep
/// their defaults. Throws UsageError where it is none.
DesignSizes read_design(const std::string& text);

/// The same of a geometry, all keys: "accumulator_rows=128,scratchpad_words=9216,...".
std::string design_text(const Geometry& geometry);

/// What rtl/gemm64.v makes of N = `n` where no other parameter is given.
Geometry geometry_of_array(int n);

/// What it makes of these sizes. Throws UsageError, which names the size and what it may be, if
/// the RTL has no such accelerator.
Geometry geometry_of(const DesignSizes& sizes);

/// The sizes of an accelerator by their names in reports and compiled files.
nlohmann::ordered_json to_json(const Geometry& geometry);

/// Returns the bytes of all its memories, without parity.
std::uint64_t sram_bytes(const Geometry& geometry);

}  // namespace gemm64
