// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/sweep_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <utility>

#include "host/compile/device_plan.hpp"
#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/ep/network_session.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/numerics/initialize.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/runtime/session.hpp"
#include "host/util/error.hpp"
#include "host/util/parallel_for.hpp"

namespace gemm64 {
namespace {

// The overhead of a prediction, in tiles.
constexpr double kTilesBeside = 300;

/// Whole random int8.
MatrixI8 random_matrix(std::mt19937& random, std::uint64_t rows, std::uint64_t columns) {
  MatrixI8 matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  fill_int8(random, matrix.data(), static_cast<std::size_t>(matrix.size()));
  return matrix;
}

RunReport run_product(JobRunner& runner, const SweepNetwork& network, const SweepPoint& point,
                      std::uint32_t seed, const RunProgress& progress) {
  const auto batch = static_cast<std::uint64_t>(point.batch);
  const GemmShape shape{network.product->m * batch, network.product->k, network.product->n};
  const Job job = runner.job("gemm", shape);  // refuses what cannot be, before operands are made
  std::mt19937 random(seed);
  const MatrixI8 a = random_matrix(random, shape.m, shape.k);
  const MatrixI8 w = random_matrix(random, shape.n, shape.k);
  RunReport report = runner.report(network.name, batch);
  ProgressShare share(progress);
  share.next(1);
  MatrixI32 sums;
  try {
    report.layers.push_back(runner.run(job, a, w, sums, share));
  } catch (const DeviceError& error) {
    report.error = error.what();
  }
  return report;
}

}  // namespace

SweepRunner::SweepRunner(Sweep sweep, const DeviceRegistry& devices)
    : sweep_(std::move(sweep)), devices_(devices), networks_(sweep_) {
  if (!sweep_.runs || sweep_.device != "rtl") return;
  const std::vector<int> arrays = devices_.find(sweep_.device).arrays;
  std::string first;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < sweep_.designs.size(); ++i) {
    const Geometry& geometry = sweep_.designs[i].geometry;
    const int array = static_cast<int>(geometry.n);
    const Geometry built = geometry_of_array(array);
    std::string why;
    if (std::find(arrays.begin(), arrays.end(), array) == arrays.end()) {
      why = fmt::format("no model of an array of {0}x{0} is built", array);
    } else if (!(geometry == built)) {
      why = fmt::format(
          "the models are built with scratchpad_words {}, accumulator_rows {}, tensor_words {}, "
          "weight_tiles {} and parameter_sets {}",
          built.scratchpad_words, built.accumulator_rows, built.tensor_words, built.weight_tiles,
          built.parameter_sets);
    }
    if (why.empty()) continue;
    if (++refused == 1) first = fmt::format("{}: {}", label(sweep_, i), why);
  }
  if (refused == 0) return;
  const std::size_t points = refused * sweep_.networks.size() * sweep_.batches.size();
  throw UsageError(fmt::format(
      "{}{}; \"device\": \"tlm\" runs any design, \"mode\": \"predict\" predicts it", first,
      points == 1 ? ""
                  : fmt::format(", and {} of the {} points cannot run", points, sweep_.size())));
}

std::vector<double> SweepRunner::check() {
  std::vector<double> costs(sweep_.size(), 1.0);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const SweepPoint point = sweep_.point(i);
    if (!sweep_.runs) {
      try {
        costs[i] = kTilesBeside + networks_.tiles(point);
      } catch (const UsageError&) {
        // The point itself says what is wrong, when the rows before it are there.
      }
      continue;
    }
    const SweepDesign& design = sweep_.designs[point.design];
    try {
      const RunReport report = predict(*networks_.work(point), design.memory);
      costs[i] = 1.0 + static_cast<double>(report.total().counters[counter::kTotalClocks]) *
                           design.geometry.n;
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", label(sweep_, i), error.what()));
    }
  }
  return costs;
}

std::unique_ptr<Device> SweepRunner::make_device(const SweepDesign& design) const {
  if (sweep_.device == "tlm") return std::make_unique<TlmDevice>(design.geometry, design.memory);
  DeviceOptions options;
  options.array = static_cast<int>(design.geometry.n);
  options.seed = sweep_.seed;
  options.memory = design.memory;
  return devices_.find(sweep_.device, options).make(options);
}

RunReport SweepRunner::run(const SweepPoint& point, const RunProgress& progress) {
  const SweepDesign& design = sweep_.designs[point.design];
  const SweepNetwork& network = sweep_.networks[point.network];
  const std::unique_ptr<Device> device = make_device(design);
  RunOptions options;
  options.memory = design.memory;
  RunSettings settings;
  settings.lanes = design.lanes;
  if (network.product) {
    Session session(*device, sweep_.device, {design.memory.latency, 0}, settings, options);
    return run_product(session.runner(), network, point, sweep_.seed, progress);
  }
  const RunnableNetwork runnable = networks_.runnable(point);
  // A float file is the device's, as it is predicted, in integers.
  const OnnxModel quantized =
      with_quantized_operators(runnable.model.again(runnable.import), runnable.import);
  DevicePlan plan = plan_device(quantized, design.geometry);
  leave_floats_to_host(quantized, plan);
  if (!plan.has_integers()) {
    settings.precision = Precision::kInt8;
  }
  Session session(*device, sweep_.device, {design.memory.latency, 0}, settings, options);
  ep::NetworkSession in_onnxruntime(session);
  in_onnxruntime.open(runnable.model, nullptr);
  return in_onnxruntime
      .run(runnable.inputs, session.report(network.name, static_cast<std::uint64_t>(point.batch)),
           progress)
      .report;
}

SweepRow SweepRunner::row(std::size_t index, const RunProgress& progress) {
  const SweepPoint point = sweep_.point(index);
  try {
    return make_row(sweep_, index,
                    sweep_.runs
                        ? run(point, progress)
                        : predict(*networks_.work(point), sweep_.designs[point.design].memory));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", label(sweep_, index), error.what()));
  }
}

void run_points(SweepRunner& runner, const std::vector<std::size_t>& points, unsigned jobs,
                const std::vector<double>& costs, const PointFinished& finished,
                const RunProgress& progress) {
  double all = 0;
  for (const std::size_t point : points) all += costs[point];
  const JointProgress joint(progress);
  std::mutex mutex;  // of what `finished` changes
  parallel_for(points.size(), jobs, [&](std::size_t i) {
    const std::size_t index = points[i];
    const RunProgress part = joint.part(costs[index] / all);
    const SweepPoint point = runner.sweep().point(index);
    const std::string name =
        fmt::format("{}, batch {}, point {} of {}", runner.sweep().networks[point.network].name,
                    point.batch, index, runner.sweep().size());
    const auto tell = [&](double done) {
      if (part) part(name, done);
    };
    tell(0);
    {
      SweepRow row = runner.row(index, [&](const std::string&, double done) { tell(done); });
      const std::lock_guard<std::mutex> lock(mutex);
      finished(index, std::move(row));
    }
    tell(1);
  });
}

}  // namespace gemm64
