// SPDX-License-Identifier: Apache-2.0
// The accelerator that the RTL makes of its parameters.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "host/device/geometry.hpp"

namespace gemm64 {

/// The sizes that a design may choose.
struct DesignSizes {
  std::int64_t array = 64;               // rows and columns
  std::int64_t scratchpad_words = 9216;  // words of `array` activations
  std::int64_t accumulator_rows = 128;   // rows in each of two banks
};

/// What rtl/gemm64.v makes of N = `n` where no other parameter is given.
Geometry geometry_of_array(int n);

/// What it makes of these sizes. Throws UsageError, which names the size and what it may be, if
/// the RTL has no such accelerator.
Geometry geometry_of(const DesignSizes& sizes);

/// The sizes of an accelerator by their names in reports and compiled files.
nlohmann::ordered_json to_json(const Geometry& geometry);

}  // namespace gemm64
