// SPDX-License-Identifier: Apache-2.0
// A program of an Executable: tensors copied into its buffers, and those that it wrote.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/compile/layer_buffers.hpp"
#include "host/kernels/tensor.hpp"
#include "host/runtime/job_runner.hpp"

namespace gemm64 {

/// An observer of a run, which computes what layers must write.
class LayerOracle {
 public:
  LayerOracle() = default;
  virtual ~LayerOracle() = default;
  LayerOracle(const LayerOracle&) = delete;
  LayerOracle& operator=(const LayerOracle&) = delete;

  /// Returns the results of a layer, or the part of a value that it writes, for these tensors of
  /// all that it reads; maps in strips as they are in its source's results. Called by any thread.
  virtual Tensor expected(const DeviceLayer& layer, NamedBuffers given) const = 0;
  /// The same before the program runs, for what the oracle expects of the layers before.
  virtual Tensor expected_ahead(const DeviceProgram& program, const DeviceLayer& layer,
                                NamedBuffers given);
};

class ProgramRun {
 public:
  /// `constants`: PackedLayers, if they are packed. None is owned but `buffers`.
  ProgramRun(const DeviceProgram& program, std::shared_ptr<const std::vector<LayerBuffers>> buffers,
             const std::vector<PackedLayer>& constants);

  const DeviceProgram& program() const { return program_; }

  /// Layer `index` with its inputs, which `values` has unless other layers of the program write
  /// them. Throws UsageError if an input has another shape than the program was compiled for.
  ProgramLayer layer(std::size_t index, const NamedBuffers& values) const;
  /// What all layers must write, which becomes `wanted`. Oracle and this outlive what it returns.
  std::vector<LayerExpectation> expected(const NamedBuffers& values, LayerOracle& oracle,
                                         std::vector<Tensor>& wanted) const;

  /// What the device wrote of each layer (ProgramResults::values); `wanted` if it wrote just that.
  std::vector<Tensor> written(const std::vector<MatrixI32>& values,
                              const std::vector<Tensor>& wanted) const;

  /// The value of the network that a layer writes, parts of other layers included; absent if one of
  /// them is. `each`: of each layer.
  Tensor value_of(std::size_t layer, const std::vector<Tensor>& each) const;
  /// All values that the program writes, by the layer that writes the first part of each.
  std::vector<std::pair<std::size_t, Tensor>> values(const std::vector<Tensor>& each) const;
  const std::string& result_name(std::size_t layer) const { return (*buffers_)[layer].result_name; }

 private:
  NamedBuffers given(std::size_t index, const NamedBuffers& values) const;
  Tensor stored(std::size_t layer, const std::vector<Tensor>& each) const;
  TensorType stored_type(std::size_t layer) const;
  TensorType own_type(std::size_t layer) const;
  Tensor as_source(std::size_t layer, const Tensor& stored) const;
  Tensor as_operand(std::size_t layer, const Tensor& stored) const;

  const DeviceProgram& program_;
  const std::shared_ptr<const std::vector<LayerBuffers>> buffers_;
  const std::vector<PackedLayer>& constants_;
};

}  // namespace gemm64
