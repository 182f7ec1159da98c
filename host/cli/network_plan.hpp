// SPDX-License-Identifier: Apache-2.0
// Who does what of a quantized network in the platform: from shapes and constants alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/compile/executable.hpp"
#include "host/device/geometry.hpp"
#include "host/kernels/tensor.hpp"
#include "host/onnx/model.hpp"

namespace gemm64 {

/// The sizes of a tensor whose rows are pixels.
struct TensorMap {
  std::uint32_t images = 1, channels = 1, height = 1, width = 1;
  std::uint64_t pixels() const { return std::uint64_t{images} * height * width; }
};

/// [images, channels, ...]; of more than two spatial axes, all but the last are the height.
TensorMap map_of(const Dims& dims);

/// Values of 8 bits, channels first, as the accelerator lays them out: int8, to which uint8 is
/// moved. Channels past the last one hold `rest`.
std::vector<std::uint8_t> map_bytes(const Tensor& tensor, const TensorMap& map, std::uint32_t n,
                                    std::uint8_t rest);

/// A network in QOperator form (host/rewrite/quantized_graph.hpp) as work for accelerator and
/// firmware. The host does what comes before the first layer; convolutions and Linear layers are
/// the accelerator's, from int8 to int8 in its own layout; MaxPool is the processor's.
class NetworkPlan {
 public:
  /// `compiled`: the model compiled in place, by who has it; else it is compiled. Throws
  /// UsageError, naming the node, where there is other work behind a layer, or a layer that the
  /// accelerator cannot do.
  NetworkPlan(const OnnxModel& model, const Geometry& geometry,
              const Executable* compiled = nullptr);

  const OnnxModel& model() const { return model_; }
  const Executable& executable() const { return executable_; }
  bool is_layer(int node) const { return executable_.plan.has(node); }

  /// The value whose bytes a value has in another shape, or, of scores, in float.
  std::string root_of(const std::string& name) const;
  /// The MaxPool behind a layer that makes a value; nullptr where it is another node's.
  const onnx::NodeProto* pool_of(const std::string& root) const;
  /// Does it need a layer's results?
  bool is_behind_layer(const std::string& name) const { return behind_.count(name) != 0; }
  std::string label(const onnx::NodeProto& node) const;
  UsageError refusal(const onnx::NodeProto& node, const std::string& why) const;

 private:
  static CompileOptions in_place();
  void check_nodes();

  const OnnxModel& model_;
  Executable executable_;
  std::map<std::string, int> makers_;  // of each value, the node
  std::set<std::string> behind_;
};

}  // namespace gemm64
