// SPDX-License-Identifier: Apache-2.0
// Networks by ONNX Runtime's CPU provider, for tests.
#pragma once

#include "host/graph/onnx/host_session.hpp"
#include "host/runtime/named_tensors.hpp"

namespace gemm64 {

/// Returns the network's outputs.
inline NamedTensors run_on_cpu(const OnnxModel& model, const NamedTensors& inputs) {
  static const auto* const environment = new ort::Environment(ort::own_library());
  return host_session(*environment, host_model(model, true, model.proto())).run(inputs);
}

}  // namespace gemm64
