// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/networks.hpp"

#include <cmath>
#include <memory>
#include <optional>

#include "host/graph/onnx/networks.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/passes/fold_batch_normalization.hpp"
#include "host/graph/passes/fold_pads.hpp"
#include "host/graph/passes/quantize.hpp"
#include "host/graph/passes/quantize_shapes.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/runtime/batched_model.hpp"
#include "host/runtime/calibration.hpp"

namespace gemm64 {
namespace {

/// A network in float, to be quantized. The program's own are of batch 0, so that each point can
/// have its own. `any_weights`: a file may lack them.
OnnxModel float_network(const Sweep& sweep, const SweepNetwork& network, bool any_weights) {
  ImportOptions import;
  import.shapes_only = any_weights;
  if (network.built_in) {
    const auto seed = any_weights ? std::nullopt : std::optional(sweep.seed);
    return OnnxModel::from_proto(make_network(network.name, 0, seed), network.name, import);
  }
  OnnxModel file = OnnxModel::load(network.name, import);
  if (any_weights) return file;
  return fold_pads(file.rewritten(fold_batch_normalization(file)));
}

}  // namespace

bool SweepNetworks::is_quantized_here(const SweepNetwork& network) const {
  if (network.built_in) return true;
  if (!sweep_.quantize || network.product) return false;
  ImportOptions import;
  import.shapes_only = true;
  return !is_quantized(OnnxModel::load(network.name, import));
}

std::shared_ptr<const onnx::ModelProto> SweepNetworks::plain(std::size_t network) {
  return plain_.get(network, [&] {
    return quantize_shapes(float_network(sweep_, sweep_.networks[network], true));
  });
}

std::shared_ptr<const ImportedNetwork> SweepNetworks::imported(const SweepPoint& point) {
  return imported_.get({point.network, point.batch}, [&] {
    const SweepNetwork& network = sweep_.networks[point.network];
    const bool quantized_here = is_quantized_here(network);
    const auto load = [&](const ImportOptions& import) {
      return quantized_here ? OnnxModel::from_proto(*plain(point.network), network.name, import)
                            : OnnxModel::load(network.name, import);
    };
    ImportOptions import;
    import.shapes_only = true;
    import.batch = point.batch;
    LoadedModel loaded = load_for(load, import, point.batch);
    return ImportedNetwork{with_quantized_operators(std::move(loaded.model), loaded.import),
                           loaded.why_in_turn.empty() ? 1 : point.batch};
  });
}

std::shared_ptr<const DeviceWork> SweepNetworks::work(const SweepPoint& point) {
  const auto& [geometry, memory, lanes] = sweep_.designs[point.design];
  const Cut cut{point.network, point.batch, point.design};
  return works_.get(cut, [&, &geometry = geometry, &memory = memory, lanes = lanes] {
    const SweepNetwork& network = sweep_.networks[point.network];
    const auto batch = static_cast<std::uint64_t>(point.batch);
    DeviceWork work;
    if (network.product) {
      GemmShape shape = *network.product;
      shape.m *= batch;
      work = plan_product(network.name, shape, geometry);
    } else {
      const std::shared_ptr<const ImportedNetwork> model = imported(point);
      work = plan_network(model->model, geometry, model->passes, lanes, memory);
    }
    work.batch = batch;
    return work;
  });
}

double SweepNetworks::tiles(const SweepPoint& point) {
  const SweepNetwork& network = sweep_.networks[point.network];
  const Geometry& geometry = sweep_.designs[point.design].geometry;
  const std::shared_ptr<const std::vector<Products>> products = products_.get(point.network, [&] {
    std::vector<Products> found;
    if (network.product) {
      found.push_back({{network.product->m, network.product->k, network.product->n}, 1});
      return found;
    }
    const std::shared_ptr<const ImportedNetwork> model = imported({point.network, 0, 1});
    for (const onnx::NodeProto& node : model->model.graph().node()) {
      const std::optional<Work> work = work_of(model->model, node);
      if (work && work->products) found.push_back(*work->products);
    }
    return found;
  });
  double tiles = 0;
  for (const Products& one : *products) {
    const auto parts = [](double of, double size) { return std::ceil(of / size); };
    tiles += static_cast<double>(one.count) *
             parts(static_cast<double>(one.shape.m) * static_cast<double>(point.batch),
                   geometry.accumulator_rows) *
             parts(static_cast<double>(one.shape.k), geometry.n) *
             parts(static_cast<double>(one.shape.n), geometry.n);
  }
  return tiles;
}

RunnableNetwork SweepNetworks::runnable(const SweepPoint& point) {
  const SweepNetwork& network = sweep_.networks[point.network];
  InputOptions options;
  options.batch = point.batch;
  options.seed = sweep_.seed;
  const auto load_by = [&](const ModelLoader& load) {
    return load_with_inputs(load, options, [](const OnnxModel&) {});
  };
  if (!is_quantized_here(network)) {
    BatchedModel batched =
        load_by([&](const ImportOptions& import) { return OnnxModel::load(network.name, import); });
    return {std::move(batched.model), batched.import, std::move(batched.inputs)};
  }
  const OnnxModel own = float_network(sweep_, network, false);
  BatchedModel batched = load_by([&](const ImportOptions& import) { return own.again(import); });
  onnx::ModelProto quantized = quantize_model(own, calibrate(batched.model, batched.inputs)).proto;
  return {OnnxModel::from_proto(std::move(quantized), network.name, batched.import), batched.import,
          std::move(batched.inputs)};
}

}  // namespace gemm64
