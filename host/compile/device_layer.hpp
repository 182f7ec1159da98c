// SPDX-License-Identifier: Apache-2.0
// A planned layer's tensors as what the accelerator knows: int8 activations and weights, a bias and
// a scale for each output channel.
#pragma once

#include <cstdint>
#include <vector>

#include "host/compile/device_plan.hpp"
#include "host/kernels/operators.hpp"
#include "host/numerics/matrix.hpp"
#include "host/tiling/program_layer.hpp"

namespace gemm64 {

/// The constants of a layer: weights [N x K], and of each output channel a bias and a scale. Of a
/// stack of products those of each, one after the other. If the network computes the weights, there
/// are no weights and biases, and perhaps one scale for all.
struct LayerWeights {
  MatrixI8 w;
  std::vector<std::int32_t> bias;
  std::vector<float> scale;
  std::int32_t input_zero = 0, weights_zero = 0;  // as int8
};

/// Those of a layer whose node has these operands; of parallel strips those of each, with
/// weights of zero for the others. Of the first one only the type counts, as of weights that the
/// network computes. A pool's weights have no columns, its scales are 1, as are a copy's. Throws
/// UsageError where operands do not fit.
LayerWeights layer_weights(const DeviceLayer& layer, const NodeContext& context,
                           const Tensors& inputs);

/// The layer for the device: result = clamp(rint((a * w + bias) * scale) + zero). uint8 activations
/// and weights are moved down by 128, zero points too, so that all differences stay the same; the
/// bias is the node's, less the input's zero point times the weights' sums. Of the `input` of a
/// layer with a source only the type counts. `weights`: those that the network computes, else
/// absent. What their zero point makes of a row is in columns after the activations
/// (sum_columns()).
ProgramLayer program_layer(const DeviceLayer& layer, const LayerWeights& constants,
                           const Tensor& input, const Tensor& weights);

/// The node's results as the job gives them: uint8, or int8 to which uint8 was moved, a row for
/// each pixel or row, a column for each channel.
MatrixI32 to_job_results(const DeviceLayer& layer, const Tensor& results);

/// The second operand of a layer's results as the job takes it: int8, to which uint8 is moved.
MatrixI8 operand_rows(const DeviceLayer& layer, const Tensor& operand);

/// The other way round: what the job gave, or all jobs whose results are parts of a concatenation,
/// as a tensor whose type and sizes `type` says. `order`: of its columns.
Tensor to_node_results(const DeviceLayer& layer, const MatrixI32& results, const TensorType& type,
                       const ChannelOrder& order);

/// Some channels of a tensor [images][channels][...], in this order; all where there are none.
Tensor channels_of(const Tensor& tensor, const std::vector<std::uint32_t>& channels);

}  // namespace gemm64
