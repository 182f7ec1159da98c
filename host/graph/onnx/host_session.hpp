// SPDX-License-Identifier: Apache-2.0
// Networks in sessions of ONNX Runtime.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/ort/library.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

/// Bytes of a message of ONNX Runtime that are shown.
constexpr std::size_t kMostMessage = 1000;

/// Returns ONNX Runtime's error as one of the program's: the node, the reason and the remedy.
UsageError onnxruntime_error(const std::string& model, const ort::Error& error);

/// A network as ONNX Runtime reads it.
struct HostModel {
  onnx::ModelProto proto;
  std::vector<const onnx::TensorProto*> weights;  // of the model's that the session shares
  std::map<std::string, std::int64_t> sizes;      // of open dimensions
};

/// The network `proto` with inputs of the shapes that the model knows, without those that are
/// constants of it. `open`: sizes that the file leaves open stay so. The file's shapes of other
/// values are for its own sizes of the inputs. The weights remain those of `proto`.
HostModel host_model(const OnnxModel& model, bool open, const onnx::ModelProto& proto);

/// Devices of a provider, and options of it; none: ONNX Runtime runs all nodes.
struct HostProvider {
  std::vector<const OrtEpDevice*> devices;
  ort::Options options;
};

/// A session of ONNX Runtime in which integers are exact on any processor. Throws ort::Error.
ort::Session host_session(const ort::Environment& environment, const HostModel& model,
                          const HostProvider& provider = {});

/// Sets the threads of sessions that are made from now on. 1: they make none, so that a copy of the
/// process (fork) can go on with a run. 0, as at first: one for each core.
void set_host_threads(int threads);

}  // namespace gemm64
