// SPDX-License-Identifier: Apache-2.0
// A network that runs in parts, each of them a pass by itself, wherever that is: parts as bytes,
// and what all of them are together.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "host/runtime/input_passes.hpp"
#include "host/runtime/network_run.hpp"

namespace gemm64 {

/// Tensors as JSON whose values are binary: for CBOR.
nlohmann::json to_binary_json(const NamedTensors& tensors);
/// Throws nlohmann::json::exception, or UsageError, where that is none.
NamedTensors tensors_from(const nlohmann::json& json);

/// What one pass gave, as bytes that unpack_part() of the same version reads: outputs, and of the
/// report what a pass adds to it.
std::string pack_part(const NetworkRun& part);
/// Throws UsageError where the bytes are no part.
NetworkRun unpack_part(std::string_view bytes);

/// Makes of the passes of a network, each run by itself, what one run of all of them makes, wall
/// times apart.
class PartJoin {
 public:
  /// `report`: without layers. The others are not owned.
  PartJoin(const onnx::GraphProto& graph, const NetworkInputs& inputs, RunReport report);

  /// The next pass, in order. After one that the device's error ended, nothing counts any more.
  void add(NetworkRun part);
  /// To be called once, after all passes.
  NetworkRun finish();

 private:
  const onnx::GraphProto& graph_;
  const NetworkInputs& inputs_;
  NetworkRun run_;
  Passes passes_;
  std::int64_t next_ = 0;
  bool has_exact_ = false;
};

}  // namespace gemm64
