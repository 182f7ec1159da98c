// SPDX-License-Identifier: Apache-2.0
// A network from a file or from memory, run on a device again and again.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "host/graph/onnx/model.hpp"
#include "host/runtime/named_tensors.hpp"
#include "host/runtime/session.hpp"
#include "host/torchscript/network_file.hpp"
#include "host/util/error.hpp"
#include "python/src/simulated_device.hpp"

namespace gemm64::python {

/// The file, and nothing that was said of it, is at fault.
class InvalidModel : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The network has operators that nothing here computes.
class UnsupportedOperator : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A network's file, or the contents of an ONNX file.
struct ModelSource {
  std::string file;                  // or what stands for it in messages
  std::optional<std::string> bytes;  // empty: to be read from `file`
  InputShapes shapes = {};           // of a TorchScript file, which keeps none; others need none

  bool is_torchscript() const { return !bytes && NetworkFile(file).is_torchscript(); }
  /// Throws InvalidModel, or UsageError where shapes of inputs are given that may not fit.
  OnnxModel load(const ImportOptions& import) const;
};

struct NetworkResult {
  NamedTensors outputs;           // empty where the device failed
  nlohmann::ordered_json report;  // its layers in the network's order
};

class NetworkSession {
 public:
  /// Reads the model. Throws InvalidModel, or UnsupportedOperator where
  /// it cannot run.
  NetworkSession(ModelSource source, const RunSettings& settings);

  /// Of each input that is no initializer, and each output: name, type in ONNX Runtime's words, and
  /// shape, whose open sizes are names or null.
  nlohmann::ordered_json inputs() const;
  nlohmann::ordered_json outputs() const;
  /// What the file says of itself, under ONNX Runtime's names.
  nlohmann::ordered_json metadata() const;

  /// Runs the network once, without the GIL. Throws UsageError where inputs do not fit, or the
  /// machine has too little memory, and what Python's handler of a signal raised.
  NetworkResult run(SimulatedDevice& device, const NamedTensors& inputs);

 private:
  void import(const NamedTensors& inputs);

  const ModelSource source_;
  const RunSettings settings_;
  std::optional<OnnxModel> model_;                           // as the file says
  std::optional<OnnxModel> imported_;                        // for the shapes of the last run
  std::map<std::string, std::vector<std::int64_t>> shapes_;  // and these
};

}  // namespace gemm64::python
