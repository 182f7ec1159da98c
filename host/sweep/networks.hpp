// SPDX-License-Identifier: Apache-2.0
// The networks of a sweep: as what the device has to do, and with inputs to run on.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "host/graph/onnx/model.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/runtime/input_passes.hpp"
#include "host/sweep/prediction.hpp"
#include "host/sweep/recent_values.hpp"
#include "host/sweep/sweep.hpp"

namespace gemm64 {

/// A network for a batch, in QOperator form; its weights may be missing.
struct ImportedNetwork {
  OnnxModel model;
  std::int64_t passes = 1;  // one for each image, where it takes one image at a time
};

/// A network with its weights, as its file has it, and a batch of inputs.
struct RunnableNetwork {
  OnnxModel model;
  ImportOptions import;  // by which it was read
  NetworkInputs inputs;
};

/// Called by several threads.
class SweepNetworks {
 public:
  /// The sweep is not owned.
  explicit SweepNetworks(const Sweep& sweep)
      : sweep_(sweep), plain_(2), imported_(2), works_(16), products_(1000) {}

  /// What a point gives the device to do. Throws UsageError if it cannot be.
  std::shared_ptr<const DeviceWork> work(const SweepPoint& point);

  /// About how many tiles of weights a point takes, which its prediction goes through one by one.
  double tiles(const SweepPoint& point);

  /// The point's network, which is no product, with random inputs from the sweep's seed. What is
  /// quantized here is so by the ranges that these lead to. Throws UsageError if
  /// it cannot run here.
  RunnableNetwork runnable(const SweepPoint& point);

 private:
  using Batched = std::pair<std::size_t, std::int64_t>;            // network and batch
  using Cut = std::tuple<std::size_t, std::int64_t, std::size_t>;  // and design

  /// Is it quantized here: one of the program's own, or a float file where the sweep says so?
  bool is_quantized_here(const SweepNetwork& network) const;
  /// Such a network as a QDQ file without its weights.
  std::shared_ptr<const onnx::ModelProto> plain(std::size_t network);
  std::shared_ptr<const ImportedNetwork> imported(const SweepPoint& point);

  const Sweep& sweep_;
  RecentValues<std::size_t, onnx::ModelProto> plain_;
  RecentValues<Batched, ImportedNetwork> imported_;
  RecentValues<Cut, DeviceWork> works_;
  RecentValues<std::size_t, std::vector<Products>> products_;  // of each network, for one image
};

}  // namespace gemm64
