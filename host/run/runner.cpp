// SPDX-License-Identifier: Apache-2.0
#include "host/run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "host/error.hpp"
#include "host/numerics/float_network.hpp"
#include "host/numerics/quantize.hpp"
#include "host/numerics/reference.hpp"
#include "host/numerics/slices.hpp"
#include "host/tiling/packing.hpp"
#include "host/tiling/program.hpp"

namespace gemm64 {
namespace {

std::uint64_t size(Eigen::Index index) { return static_cast<std::uint64_t>(index); }

/// The four int8 products of a float32 one.
std::string part_name(const std::string& name, int order) {
  return fmt::format("{}/{}", name, order);
}

MatrixF add_bias(MatrixF matrix, const Eigen::VectorXf& bias) {
  matrix.rowwise() += bias.transpose();
  return matrix;
}

}  // namespace

Runner::Runner(Device& device, Driver& driver, const RunOptions& options, RunProgress progress)
    : device_(device), driver_(driver), options_(options), progress_(std::move(progress)) {}

void Runner::set_share(double share) {
  done_ += share_;
  share_ = share;
}

Plan Runner::plan(const MatrixI8& a, const MatrixI8& w) const {
  return make_plan({size(a.rows()), size(a.cols()), size(w.rows())}, options_.accumulate,
                   driver_.geometry());
}

RunReport Runner::report(const std::string& model, std::uint64_t batch) const {
  RunReport report;
  report.model = model;
  report.device = device_.name();
  report.precision = options_.precision;
  report.accumulate = options_.accumulate;
  report.batch = batch;
  report.geometry = driver_.geometry();
  report.memory = options_.memory;
  return report;
}

void Runner::look_again(const ProductRun& product, Failure failure) {
  if (failure_) return;
  failure.index = products_ - 1;
  failure.shape = product.plan.shape;
  failure.first_clock = first_clock_;
  if (progress_) progress_("looking again at " + failure.product, done_ + share_);
  if (options_.investigate) options_.investigate(product, failure);
  failure_ = std::move(failure);
}

GemmResult Runner::run_on_device(const std::string& name, const ProductRun& product) {
  // From reset, so that a product depends on nothing before it and can be run again alone.
  if (options_.alone) {
    first_clock_ = options_.alone->first_clock;
    options_.alone->reset_at(first_clock_);
  } else {
    first_clock_ = device_.clocks();
    device_.reset();
  }
  for (ProductObserver* observer : options_.observers) {
    observer->begin(name, product.plan, first_clock_);
  }
  GemmResult result;
  try {
    result = driver_.run(product.plan, product.packed, product.a, [&](double part) {
      if (progress_) progress_(name, done_ + share_ * part);
    });
  } catch (const DeviceError& error) {
    for (ProductObserver* observer : options_.observers) observer->end(device_.clocks());
    if (!options_.investigate) throw;
    Failure failure;
    failure.product = name;
    failure.error = error.what();
    look_again(product, std::move(failure));
    std::string message = fmt::format("{}\n{}", error.what(), describe(*failure_));
    message.pop_back();  // its last line end
    throw DeviceError(message);
  }
  for (ProductObserver* observer : options_.observers) observer->end(device_.clocks());
  return result;
}

LayerReport Runner::run(const std::string& name, const Plan& plan,
                        const std::vector<std::uint8_t>& packed, const MatrixI8& a,
                        const MatrixI8& w, MatrixI32& sums) {
  const Geometry& geometry = driver_.geometry();
  LayerReport layer;
  layer.name = name;
  layer.shape = plan.shape;
  layer.padded = {plan.shape.m, std::uint64_t{plan.k_tiles} * plan.array,
                  std::uint64_t{plan.n_tiles} * plan.array};
  layer.tiles = plan.tiles() * plan.row_blocks();
  const MatrixI32 expected = reference_gemm(a, w);
  const std::size_t index = products_++;
  if (options_.alone && options_.alone->index != index) {
    sums = expected;
    layer.skipped = true;
    return layer;
  }
  layer.published = published_cycles(plan.shape, geometry.n);
  layer.predicted = predict_counters(plan, make_layout(plan), geometry, options_.memory.latency);

  if (plan.accumulate == Accumulate::kHost) {
    const Plan other = make_plan(plan.shape, Accumulate::kDevice, geometry);
    layer.on_device =
        predict_counters(other, make_layout(other), geometry, options_.memory.latency);
  }

  const ProductRun product{plan, packed, a, w};
  const auto begin = std::chrono::steady_clock::now();
  GemmResult result = run_on_device(name, product);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  layer.seconds = seconds.count();
  layer.simulated_clocks = device_.clocks() - first_clock_;
  layer.counters = result.counters;
  layer.mismatches = compare(expected, result.sums);
  if (layer.mismatches.count != 0 && options_.investigate) {
    Failure failure;
    failure.product = name;
    failure.mismatches = layer.mismatches;
    look_again(product, std::move(failure));
  }
  set_utilization(layer, geometry, options_.memory);
  sums = std::move(result.sums);
  return layer;
}

LayerReport Runner::product(const std::string& name, const MatrixI8& a, const MatrixI8& w,
                            MatrixI32* sums) {
  const Plan cut = plan(a, w);
  MatrixI32 found;
  LayerReport layer = run(name, cut, pack_weights(cut, w), a, w, found);
  if (sums != nullptr) *sums = std::move(found);
  return layer;
}

LayerReport Runner::product(const std::string& name, const MatrixF& a, const MatrixF& w,
                            MatrixF* result) {
  if (a.cols() > kSlicesMaxDepth) {
    throw UsageError("K is " + std::to_string(a.cols()) + "; float32 products go up to " +
                     std::to_string(kSlicesMaxDepth));
  }
  const SlicedMatrix sliced_a = slice_rows(a);
  const SlicedMatrix sliced_w = slice_rows(w);
  Matrix<double> sums = Matrix<double>::Zero(a.rows(), w.rows());
  RunReport parts = report(name, size(a.rows()));
  const double whole = share_;
  const double before = done_;
  constexpr double kProducts = kSlices * (kSlices + 1) / 2.0;
  share_ = 0;
  for (int order = 0; order < kSlices; ++order) {
    set_share(whole * (order + 1) / kProducts);
    MatrixI32 products;
    parts.layers.push_back(product(part_name(name, order), stack_slices(sliced_a, order, false),
                                   stack_slices(sliced_w, order, true), &products));
    add_order(sums, products, order);
  }
  done_ = before;
  share_ = whole;

  LayerReport layer = parts.total();
  layer.name = name;
  layer.shape = {size(a.rows()), size(a.cols()), size(w.rows())};
  layer.padded = {layer.shape.m, parts.layers[0].padded.k, parts.layers[0].padded.n};
  layer.published = published_cycles(layer.shape, driver_.geometry().n);
  set_utilization(layer, driver_.geometry(), options_.memory);
  for (const LayerReport& part : parts.layers) {
    if (part.mismatches.count == 0) continue;
    const std::uint64_t count = layer.mismatches.count;
    layer.mismatches = part.mismatches;
    layer.mismatches.count = count;
    break;
  }
  const MatrixF found = scale_sums(sums, sliced_a, sliced_w);
  const Matrix<double> exact = a.cast<double>() * w.cast<double>().transpose();
  layer.skipped = std::all_of(parts.layers.begin(), parts.layers.end(),
                              [](const LayerReport& part) { return part.skipped; });
  layer.max_abs_error = slices_error(exact, found);
  layer.error_bound = slices_error_bound(sliced_a, sliced_w, static_cast<double>(a.cols()),
                                         exact.cwiseAbs().maxCoeff());
  if (result != nullptr) *result = found;
  return layer;
}

LayerReport Runner::linear(const std::string& name, const MatrixF& a,
                           const Eigen::Ref<const MatrixF>& w, MatrixF& result) {
  if (options_.precision == Precision::kFloat32) return product(name, a, MatrixF(w), &result);
  const QuantizedMatrix input = quantize_per_tensor(a);
  const QuantizedMatrix weights = quantize_per_row(w);
  MatrixI32 sums;
  LayerReport layer = product(name, input.values, weights.values, &sums);
  result =
      dequantize_linear(sums, input.scales(0), weights.scales, Eigen::VectorXf::Zero(w.rows()));
  return layer;
}

void Runner::set_progress(double done, double share) {
  done_ = done;
  share_ = share;
}

void Runner::announce(const Workload& workload) {
  std::vector<std::string> names;
  std::vector<Plan> plans;
  const auto add = [&](const std::string& name, const LinearLayer& layer, std::uint64_t slices) {
    names.push_back(name);
    plans.push_back(make_plan({size(workload.input.rows()), size(layer.weights.cols()) * slices,
                               size(layer.weights.rows())},
                              options_.accumulate, driver_.geometry()));
  };
  for (const LinearLayer& layer : workload.layers) {
    if (options_.precision == Precision::kInt8) {
      add(layer.name, layer, 1);
      continue;
    }
    for (int order = 0; order < kSlices; ++order) {
      add(part_name(layer.name, order), layer, static_cast<std::uint64_t>(order) + 1);
    }
  }
  for (ProductObserver* observer : options_.observers) observer->announce(names, plans);
}

RunReport Runner::network(const Workload& workload) {
  const auto& layers = workload.layers;
  RunReport report = this->report(workload.model, size(workload.input.rows()));
  const std::vector<MatrixF> float_outputs = float_forward(workload.input, layers);

  double all_macs = 0;
  for (const LinearLayer& layer : layers) all_macs += static_cast<double>(layer.weights.size());
  const bool quantized = options_.precision == Precision::kInt8;
  struct Packed {
    QuantizedMatrix weights;
    std::vector<std::uint8_t> bytes;
  };
  std::vector<Packed> packed(layers.size());
  for (std::size_t i = 0; quantized && i < layers.size(); ++i) {
    packed[i].weights = quantize_per_row(layers[i].weights);
    const MatrixI8& weights = packed[i].weights.values;
    packed[i].bytes = pack_weights(
        make_plan({size(workload.input.rows()), size(weights.cols()), size(weights.rows())},
                  options_.accumulate, driver_.geometry()),
        weights);
  }

  announce(workload);
  MatrixF values = workload.input;
  set_progress(0, 0);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LinearLayer& layer = layers[i];
    set_share(static_cast<double>(layer.weights.size()) / all_macs);
    if (quantized) {
      const QuantizedMatrix input = quantize_per_tensor(values);
      const Packed& weights = packed[i];
      MatrixI32 sums;
      LayerReport measured = run(layer.name, plan(input.values, weights.weights.values),
                                 weights.bytes, input.values, weights.weights.values, sums);
      values = dequantize_linear(sums, input.scales(0), weights.weights.scales, layer.bias);
      if (layer.relu) relu_in_place(values);
      measured.max_abs_error = max_abs_error(float_outputs[i], values);
      report.layers.push_back(std::move(measured));
    } else {
      MatrixF result;
      report.layers.push_back(product(layer.name, values, layer.weights, &result));
      values = add_bias(std::move(result), layer.bias);
      if (layer.relu) relu_in_place(values);
    }
  }
  report.quality = network_quality(float_outputs.back(), values);
  return report;
}

}  // namespace gemm64
