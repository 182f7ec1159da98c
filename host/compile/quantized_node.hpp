// SPDX-License-Identifier: Apache-2.0
// What a device can do of a node on quantized values, only from the file: no value is computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "host/compile/average_pool.hpp"
#include "host/graph/onnx/model.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/quantization.hpp"
#include "host/tiling/depthwise_tiling.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// Who computes the products of a node on 8-bit values.
enum class NodePlace {
  kOther,  // no such node
  kHost,   // the host
  kSums,   // the device gives int32 sums of a Linear layer, and the host what becomes of them
  kLayer,  // the device gives 8-bit results
  kView,   // none: its results are its input's bytes
};

/// A convolution, a Linear layer or a pool of a quantized file.
struct QuantizedNode {
  NodePlace place = NodePlace::kOther;
  std::string why;                         // of kHost and kSums, and of an average, in words
  GemmShape shape;                         // of kSums, and of a kLayer that is no convolution
  std::optional<Convolution> convolution;  // of a kLayer
  /// Of a product of two tensors that the network computes; M has the rows of all.
  bool computed = false;
  std::uint32_t products = 1;
  Dims stack;                     // the sizes of the batch, if not one
  std::uint64_t sum_columns = 0;  // for a zero point of its weights, in addition to its K columns
  LaneSum sum = LaneSum::kProducts;              // of the values under a window; else it is a pool
  AverageFactors average;                        // of one that adds values
  DataType type = onnx::TensorProto::UNDEFINED;  // of the results, INT8 or UINT8
  Quantization result;                           // theirs, the zero point as `type` has it
  Quantization input;                            // of a kLayer; the zero point as int8
};

/// Reads node `index` of the graph. Constants that a file lacks are taken to be what the device
/// needs, so that a file with shapes only can be planned.
QuantizedNode read_quantized_node(const OnnxModel& model, int index);

/// A product of `k` columns with weights that have a zero point, as int8: how many columns more it
/// takes for that. What the zero point makes of a row, -zero times the row's sum, is
/// kSumWeight * (all but the last of them, added up) + the last one.
constexpr std::int32_t kSumWeight = -128;
std::uint64_t sum_columns(std::uint64_t k, std::int32_t zero);

/// What is added to values of a type, so that the device sees int8: 0, or -128 of UINT8.
std::int32_t move_to_int8(DataType type);

}  // namespace gemm64
