// SPDX-License-Identifier: Apache-2.0
// Chains of quantized layers, run by a driver only: random ones and their expected results.
#pragma once

#include "host/cycles/cycle_model.hpp"
#include "host/device/snapshot.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/quality.hpp"
#include "host/numerics/reference.hpp"
#include "host/tiling/job_program.hpp"
#include "host/tiling/packing.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// x[M x K] becomes clamp(rint(float32(x * W^T + bias) * scale) + zero, low, high), M x N, or the
/// sums x * W^T where the output is int32. A layer whose results another takes gives int8: values
/// of uint8 are int8 with the top bit flipped, so its zero point and bounds are 128 less, and what
/// the next subtracts as the zero point of its activations is in that one's bias.
struct TestLayer {
  std::string name;
  MatrixI8 weights;                // N x K
  std::vector<std::int32_t> bias;  // N; this and the scales are not used for int32
  std::vector<float> scales;       // N; finite, at least 0
  Output output;
};

/// The results of a layer of a chain, and the expected ones.
struct ChainedLayer {
  MatrixI32 results;      // M x N, as the device wrote them
  Mismatches mismatches;  // of all of them, against the reference
  Counters counters{};    // from the fence that ended the layer before to the one that ended it
  Counters predicted{};   // for a memory without stalls
};

/// The reference of a layer.
inline MatrixI32 reference_layer(const TestLayer& layer, const MatrixI8& x) {
  MatrixI32 sums = reference_gemm(x, layer.weights);
  const Output& output = layer.output;
  if (!output.format.takes_parameters()) return sums;
  return reference_requantize(sums, layer.bias, layer.scales, output.zero, output.low, output.high);
}

/// The layers as one program: the results of each are, in place, the activations of the next.
inline JobProgram make_chain(std::uint64_t m, const std::vector<TestLayer>& layers,
                             const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const TestLayer& layer : layers) {
    const GemmShape shape{m, static_cast<std::uint64_t>(layer.weights.cols()),
                          static_cast<std::uint64_t>(layer.weights.rows())};
    jobs.push_back(make_job(layer.name, shape, Accumulate::kDevice, geometry, layer.output));
    if (jobs.size() > 1) jobs.back().source = jobs.size() - 2;
  }
  return make_job_program(jobs, geometry);
}

/// Runs them on activations x[M x K] of the first. Every value of every layer is read back and
/// compared with the reference of the whole chain.
inline std::vector<ChainedLayer> run_chain(Driver& driver, const MemoryTiming& memory,
                                           const MatrixI8& x,
                                           const std::vector<TestLayer>& layers) {
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
  std::vector<GemmResult> results = driver.run(list, operands);
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

inline MatrixI8 random_activations(std::mt19937& random, std::uint64_t rows,
                                   std::uint64_t columns) {
  return MatrixI8::NullaryExpr(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns),
                               [&] { return static_cast<std::int8_t>(random() & 0xffu); });
}

/// Layers from columns[i] to columns[i + 1]. Most sums fit into 8 bits, some are far outside.
inline std::vector<TestLayer> random_chain(std::mt19937& random,
                                           const std::vector<std::uint64_t>& columns) {
  std::vector<TestLayer> layers;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
    TestLayer layer;
    layer.name = "layer " + std::to_string(i);
    layer.weights = random_activations(random, columns[i + 1], columns[i]);
    const double usual = 60 / (5000 * std::sqrt(static_cast<double>(columns[i])));
    for (std::uint64_t n = 0; n < columns[i + 1]; ++n) {
      layer.bias.push_back(static_cast<std::int32_t>(random() % 20000) - 10000);
      layer.scales.push_back(
          static_cast<float>(usual * static_cast<double>(1 + random() % 1000) / 300));
    }
    const int zero = static_cast<int>(random() % 256) - 128;
    layer.output = {ResultFormat(ResultCode::kInt8), zero, random() % 2 != 0 ? zero : -128, 127};
    layers.push_back(layer);
  }
  return layers;
}

}  // namespace gemm64
