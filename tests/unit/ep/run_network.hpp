// SPDX-License-Identifier: Apache-2.0
// Networks in ONNX Runtime with a device, for tests.
#pragma once

#include "host/ep/network_session.hpp"
#include "host/runtime/session.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// The settings by which a session has these options.
inline RunSettings settings_of(const RunOptions& options) {
  RunSettings settings;
  settings.check = options.check;
  settings.precision = options.precision;
  settings.accumulate = options.accumulate;
  if (options.results != ResultCode::kInt8) settings.results = options.results;
  settings.convolutions = options.convolutions;
  settings.lanes = options.lanes;
  settings.one_program = options.one_program;
  return settings;
}

/// Runs the network on a device of the registry's kind `kind`; the report is of `batch` images.
inline NetworkRun run_network(const OnnxModel& model, const NetworkInputs& inputs, Device& device,
                              const RunOptions& options = {}, const RunProgress& progress = nullptr,
                              const std::string& kind = "tlm", std::uint64_t batch = 1) {
  Session session(device, kind, {options.memory.latency, 0}, settings_of(options), options);
  ep::NetworkSession network(session);
  network.open(model, nullptr);
  return network.run(inputs, session.report("test", batch), progress);
}

}  // namespace gemm64
