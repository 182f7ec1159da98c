// SPDX-License-Identifier: Apache-2.0
// A report for tests: what a device with cycles reports of a network, all of it right.
#pragma once

#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// Two layers on the device, two convolutions and a product of activations on the host.
inline RunReport example_report() {
  RunReport report;
  report.model = "net";
  report.device = "rtl";
  report.batch = 2;
  for (const char* name : {"fc1", "fc2"}) {
    LayerReport layer;
    layer.name = name;
    layer.shape = report.layers.empty() ? GemmShape{2, 3, 4} : GemmShape{2, 4, 5};
    layer.counters[counter::kTotalClocks] = 100;
    layer.predicted = layer.counters;
    report.layers.push_back(layer);
  }
  report.host.emplace();
  report.host->nodes = 7;
  report.host->seconds = 0.5;
  report.host_layers = {{"conv1", "Conv", 400, "convolutions run on the host"},
                        {"conv2", "Conv", 500, "convolutions run on the host"},
                        {"attention", "MatMul", 36, "its weights depend on the input"}};
  report.quality = NetworkQuality{64, 63, 40.0, 30.0};
  return report;
}

}  // namespace gemm64
