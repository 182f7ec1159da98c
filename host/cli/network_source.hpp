// SPDX-License-Identifier: Apache-2.0
// The network of `run`, and what it runs on: one that the program makes, or one from a file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/cli/options.hpp"
#include "host/execute/head.hpp"
#include "host/images/fashion_mnist.hpp"
#include "host/onnx/model.hpp"

namespace gemm64 {

struct NetworkOptions : CommonOptions {
  std::string network = "alexnet";
  std::string data = kFashionMnistFolder;
  std::string model;  // a file; empty: `network`
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> dumps;
  bool allow_host_only = false;
  bool one_program = false;
};

struct NetworkSource {
  std::string name;  // for the report
  OnnxModel model;
  NetworkInputs inputs;
  std::uint64_t batch;
};

/// Throws UsageError where a model cannot run.
using CheckModel = std::function<void(const OnnxModel&)>;

/// Makes or reads it. `options.batch` is 0 where the file's own is wanted. Throws UsageError where
/// the model, the data or the inputs cannot be used, or an output in `files` would overwrite one.
/// `check` is asked as soon as all shapes are known, before memory for them is taken. Images that a
/// file cannot take at once run one after the other.
NetworkSource open_network(const NetworkOptions& options, ClaimedFiles& files,
                           const CheckModel& check);

}  // namespace gemm64
