// SPDX-License-Identifier: Apache-2.0
#include "host/execute/layer_chains.hpp"

#include <utility>

namespace gemm64 {

bool LayerChains::continues(const QuantizedLayer& layer) const {
  if (chain_.empty()) return false;
  const QuantizedLayer& before = chain_.back();
  return same_values(before.results, layer.input) && before.a.rows() == layer.a.rows() &&
         before.w.rows() == layer.w.cols();
}

void LayerChains::add(QuantizedLayer layer) {
  if (!continues(layer)) finish();
  chain_.push_back(std::move(layer));
}

void LayerChains::finish() {
  if (!chain_.empty()) run_(std::exchange(chain_, {}));
}

namespace {

/// The layer for the device. Where another follows, results are int8 as that one takes them.
ProgramLayer chain_layer(const JobRunner& runner, QuantizedLayer layer, bool last) {
  const bool is_unsigned = last && layer.type == onnx::TensorProto::UINT8;
  Output output;
  output.format = ResultFormat(is_unsigned ? ResultCode::kUint8 : ResultCode::kInt8);
  output.zero = layer.zero + (is_unsigned ? 0 : move_to_int8(layer.type));
  output.low = output.format.least();
  output.high = output.format.largest();
  const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
  const GemmShape shape{size(layer.a.rows()), size(layer.a.cols()), size(layer.w.rows())};
  ProgramLayer result;
  result.job = runner.job(layer.name, shape, output);
  result.expected =
      is_unsigned
          ? MatrixI32(Eigen::Map<const Matrix<std::uint8_t>>(layer.results.values<std::uint8_t>(),
                                                             layer.a.rows(), layer.w.rows())
                          .cast<std::int32_t>())
          : MatrixI32(as_int8(layer.results, layer.a.rows(), layer.w.rows()).cast<std::int32_t>());
  result.a = std::move(layer.a);
  result.w = std::move(layer.w);
  result.bias = std::move(layer.bias);
  result.scale = std::move(layer.scale);
  return result;
}

}  // namespace

std::vector<LayerReport> run_chain(JobRunner& runner, std::vector<QuantizedLayer> chain,
                                   const ProgressShare& progress) {
  std::vector<ProgramLayer> layers;
  for (QuantizedLayer& layer : chain) {
    const bool last = &layer == &chain.back();
    const std::size_t place = layers.size();
    layers.push_back(chain_layer(runner, std::move(layer), last));
    if (place != 0) layers.back().source = place - 1;
  }
  return runner.run_program(std::move(layers), progress);
}

}  // namespace gemm64
