// SPDX-License-Identifier: Apache-2.0
// The programs of a campaign that are no bare product: a few layers, drawn at random.
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/tiling/job.hpp"

namespace gemm64 {

/// What a try of a campaign runs.
enum class FaultProgram {
  kProducts,      // a product, by itself
  kConvolutions,  // on the array, of one group or several, as sums or as results of 8 bits
  kLanes,         // a depthwise convolution or a pool on the lanes, perhaps after the array
  kVector  // results that pass the element-wise unit on their way, perhaps to meet those of others
};
inline constexpr std::size_t kFaultPrograms = 4;
/// "products", "convolutions", ...
const char* name(FaultProgram program);

/// A layer of such a program: a convolution, or a product where there is none.
struct FaultLayer {
  std::optional<Convolution> convolution;
  GemmShape shape;  // of a product
  bool on_lanes = false;
  LaneSum sum = LaneSum::kProducts;
  Output output;
  std::optional<std::size_t> source;   // whose results it reads
  std::optional<std::size_t> operand;  // whose results are its second operand
  std::optional<int> map;              // shared by layers whose results are its parts

  /// Rows and columns of what it reads, of its weights' rows, and of its results.
  std::uint64_t rows_read() const;
  std::uint64_t columns_read() const;
  std::uint64_t weights_each() const;  // of a column; a pool has none
  std::uint64_t rows() const;
  std::uint64_t columns() const;
};

/// The layer as a job of a program, with its source, its operand and its map.
Job job_of(const FaultLayer& layer, const Geometry& geometry);

/// The layers of a program that is no product, of not too many cycles. Where the fault needs them
/// there are results of 8 bits, or a table.
struct LayerNeeds {
  bool parameters = false, operands = false, table = false;
};
std::vector<FaultLayer> draw_layers(FaultProgram program, const LayerNeeds& needs,
                                    const Geometry& geometry, std::mt19937& random);

}  // namespace gemm64
