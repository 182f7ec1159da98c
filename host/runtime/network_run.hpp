// SPDX-License-Identifier: Apache-2.0
// What a run of a network leaves, and outputs to compare it with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"
#include "host/runtime/named_tensors.hpp"
#include "host/runtime/run_report.hpp"

namespace gemm64 {

struct NetworkRun {
  RunReport report;
  NamedTensors outputs;
  Tensor first;  // the first output; absent where there is none
  Tensor exact;  // the same by float32; absent where nothing else was computed
  /// Why one device ran all, though there were to be several; empty where it did not.
  std::string why_one_job;
};

/// Compares the network's outputs, value by value.
void compare_outputs(const NamedTensors& expected, const NamedTensors& found, OutputCheck& check);

/// What the passes through a network gave: outputs, and the first one only by float32.
class Passes {
 public:
  /// `graph`: the network's. `exact`: the first output by float32, nullptr where it is the same. Of
  /// `at_once` images, the first `images` count (0 of 0: all).
  void add(const onnx::GraphProto& graph, NamedTensors outputs, const Tensor* exact,
           std::int64_t images = 0, std::int64_t at_once = 0);

  /// Images one below the other.
  NamedTensors outputs() const;
  /// Empty where the first output is no float32.
  std::optional<NetworkQuality> quality() const;
  /// The first output by float32 of all images; absent where quality() is empty.
  Tensor exact() const;

 private:
  std::map<std::string, std::vector<Tensor>> outputs_;
  std::vector<Tensor> found_, exact_;
};

/// Joins the layers of one more pass to those of the passes before.
void join(std::vector<LayerReport>& layers, std::vector<LayerReport> more);

}  // namespace gemm64
