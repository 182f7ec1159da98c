// SPDX-License-Identifier: Apache-2.0
#include "host/run/quantized_chain.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/device/snapshot.hpp"
#include "host/job/packing.hpp"
#include "host/numerics/reference.hpp"

namespace gemm64 {
namespace {

/// What a layer makes of activations.
MatrixI32 reference_layer(const QuantizedLayer& layer, const MatrixI8& x) {
  MatrixI32 sums = reference_gemm(x, layer.weights);
  const Output& output = layer.output;
  if (!output.format.takes_parameters()) return sums;
  return reference_requantize(sums, layer.bias, layer.scales, output.zero, output.low, output.high);
}

}  // namespace

JobProgram make_chain(std::uint64_t m, const std::vector<QuantizedLayer>& layers,
                      const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const QuantizedLayer& layer : layers) {
    const GemmShape shape{m, static_cast<std::uint64_t>(layer.weights.cols()),
                          static_cast<std::uint64_t>(layer.weights.rows())};
    jobs.push_back(make_job(layer.name, shape, Accumulate::kDevice, geometry, layer.output));
    jobs.back().chained = jobs.size() > 1;
  }
  return make_job_program(jobs, geometry);
}

std::vector<ChainedLayer> run_chain(Driver& driver, const MemoryTiming& memory, const MatrixI8& x,
                                    const std::vector<QuantizedLayer>& layers,
                                    const Progress& progress) {
  const JobProgram list =
      make_chain(static_cast<std::uint64_t>(x.rows()), layers, driver.geometry());
  std::vector<std::vector<std::uint8_t>> weights, parameters;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Job& job = list.jobs[i];
    weights.push_back(pack_weights(job, layers[i].weights));
    parameters.emplace_back();
    if (!job.plan.results().takes_parameters()) continue;
    parameters.back() = pack_parameters(job, layers[i].bias, layers[i].scales);
  }
  std::vector<JobOperands> operands;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    operands.push_back({weights[i], x, &parameters[i]});
  }
  std::vector<GemmResult> results = driver.run(list, operands, progress);
  const Prediction predicted = predict(list.program, driver.geometry(), memory);

  std::vector<ChainedLayer> chain;
  MatrixI8 activations = x;
  Counters before{};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Counters& after =
        i < predicted.snapshots.size() ? predicted.snapshots[i].counters : predicted.counters;
    const MatrixI32 expected = reference_layer(layers[i], activations);
    ChainedLayer layer;
    layer.mismatches = compare(expected, results[i].sums);
    layer.results = std::move(results[i].sums);
    layer.counters = results[i].counters;
    layer.predicted = between(before, after);
    before = after;
    activations = expected.cast<std::int8_t>();
    chain.push_back(std::move(layer));
  }
  return chain;
}

}  // namespace gemm64
