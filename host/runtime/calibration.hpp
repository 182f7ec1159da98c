// SPDX-License-Identifier: Apache-2.0
// The range of each float value of a network, from inputs that stand for those to come.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/onnx/host_session.hpp"
#include "host/graph/onnx/ranges.hpp"
#include "host/runtime/input_passes.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

/// Called with a value's name, and those of its numbers that count.
using ValueObserver =
    std::function<void(const std::string& name, const float* values, std::int64_t count)>;

/// A network in ONNX Runtime that shows the values between its nodes.
class ObservedNetwork {
 public:
  /// The model outlives this. Throws UsageError if ONNX Runtime refuses it, or is missing.
  /// Values that take more bytes together than `most_bytes` are shown in several runs.
  ObservedNetwork(const OnnxModel& model,  // NOLINT(google-explicit-constructor)
                  std::uint64_t most_bytes = std::uint64_t{1} << 30);

  const OnnxModel& model() const { return model_; }
  /// Runs the network on all inputs, and shows each value of float32 that a node reads from outside
  /// or makes: never a constant, nor an image that only fills a pass up. Throws UsageError if a
  /// node fails.
  void observe(const NetworkInputs& inputs, const ValueObserver& observer) const;

 private:
  using Names = std::vector<std::string>;

  const OnnxModel& model_;
  ort::Environment environment_;
  std::vector<Names> shown_;  // in each run
  Names inputs_;              // that nodes read
  std::optional<ort::Session> session_;
};

/// Runs the network on the inputs; the least and the greatest number of each value of float32,
/// constants among them. Throws UsageError if an input has NaNs, which have no place in a range.
Ranges calibrate(const ObservedNetwork& network, const NetworkInputs& inputs);

/// Returns the error of a network that was calibrated on the inputs; it names infinite values of
/// theirs, which may be the cause: only some networks, such as those with masks, can have them.
UsageError with_infinities(const UsageError& error, const NetworkInputs& inputs);

}  // namespace gemm64
