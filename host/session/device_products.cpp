// SPDX-License-Identifier: Apache-2.0
#include "host/session/device_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/execute/linear.hpp"
#include "host/graph/onnx/linear_layer.hpp"
#include "host/run/float_gemm.hpp"
#include "host/session/device_schedule.hpp"
#include "host/session/wall_clock.hpp"

namespace gemm64 {
namespace {

/// Several products as one with the sums of each: `below`, each has rows of its own, else columns.
ProgramLayer join_products(const std::vector<std::pair<MatrixI8, MatrixI8>>& products, bool below) {
  ProgramLayer layer;
  const Eigen::Index m = products[0].first.rows(), k = products[0].first.cols();
  const Eigen::Index n = products[0].second.rows();
  const auto count = static_cast<Eigen::Index>(products.size());
  layer.a = MatrixI8::Zero(below ? count * m : m, count * k);
  layer.w = MatrixI8::Zero(below ? n : count * n, count * k);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& [a, w] = products[static_cast<std::size_t>(i)];
    layer.a.block(below ? i * m : 0, i * k, m, k) = a;
    layer.w.block(below ? 0 : i * n, i * k, n, k) = w;
  }
  return layer;
}

/// The sums of each product in turn, from those of the jobs that they were joined to.
class SumsInTurn {
 public:
  explicit SumsInTurn(const std::vector<MatrixI32>& jobs) : job_(jobs.begin()) {}

  /// Of a product of so many rows and columns.
  MatrixI32 next(Eigen::Index rows, Eigen::Index columns) {
    const MatrixI32 own = job_->block(row_, column_, rows, columns);
    column_ += columns;
    if (column_ == job_->cols()) {
      column_ = 0;
      row_ += rows;
    }
    if (row_ == job_->rows()) {
      row_ = 0;
      ++job_;
    }
    return own;
  }

 private:
  std::vector<MatrixI32>::const_iterator job_;
  Eigen::Index row_ = 0, column_ = 0;  // with which the next one begins
};

std::uint64_t size(Eigen::Index index) { return static_cast<std::uint64_t>(index); }

/// A node whose products are computed by `product`.
Tensors compute_by(const Step& step, const Tensors& arguments, const IntegerProduct& product) {
  NodeContext context = step.context;
  context.product = &product;
  return compute(*step.info, context, arguments);
}

}  // namespace

void DeviceProducts::run_sums(std::size_t index, Values& values, const NodeObserver& after,
                              const ProgressShare& progress, std::vector<LayerReport>& layers) {
  const SumsProgram& program = executable_.sums[index];
  std::vector<ProgramLayer> jobs;
  std::vector<std::pair<MatrixI8, MatrixI8>> products;  // of one node
  ExecutorHooks hooks;
  hooks.instead = [&products](const Step& step, const Tensors& arguments) {
    return compute_by(step, arguments, [&](const MatrixI8& a, const MatrixI8& w) {
      products.emplace_back(a, w);
      return MatrixI32(MatrixI32::Zero(a.rows(), w.rows()));
    });
  };
  for (const SumsProgram::Node& node : program.nodes) {
    const Step& step = executor_.steps()[node.index];
    progress.report(step.context.label, 0);
    products.clear();
    executor_.compute_step(step, executor_.arguments(step, values), hooks);
    const ProductSizes& one = node.products.shape;
    const bool as_planned = products.size() == node.products.count &&
                            std::all_of(products.begin(), products.end(), [&](const auto& product) {
                              return size(product.first.rows()) == one.m &&
                                     size(product.first.cols()) == one.k &&
                                     size(product.second.rows()) == one.n;
                            });
    if (!as_planned) {
      throw failure(step.context,
                    fmt::format("its products are not those of the shapes that {} says",
                                executor_.model().name()));
    }
    for (std::size_t i = 0; i < products.size(); i += node.together) {
      const std::size_t end = std::min(i + node.together, products.size());
      ProgramLayer job = join_products({products.begin() + static_cast<std::ptrdiff_t>(i),
                                        products.begin() + static_cast<std::ptrdiff_t>(end)},
                                       node.blocks);
      job.job = program.list.jobs[jobs.size()];
      jobs.push_back(std::move(job));
    }
  }

  const auto begin = WallClock::now();
  ProgramResults found = runner_.run_program(std::move(jobs), progress);
  seconds_ += seconds_since(begin);
  std::vector<LayerReport> reports =
      program.layers_of(std::move(found.layers), runner_.geometry(), runner_.options().memory);
  SumsInTurn sums(found.values);
  hooks.after = after;
  hooks.instead = [&sums](const Step& step, const Tensors& arguments) {
    return compute_by(step, arguments, [&sums](const MatrixI8& a, const MatrixI8& w) {
      return sums.next(a.rows(), w.rows());
    });
  };
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::size_t node = program.nodes[i].index;
    reports[i].program = executable_.number_of_sums(index);
    reports[i].why_sums = executable_.plan.sums.at(static_cast<int>(node));
    layers.push_back(std::move(reports[i]));
    executor_.run_step(executor_.steps()[node], values, hooks);
  }
}

Tensors DeviceProducts::run(const Step& step, const Tensors& arguments,
                            const ProgressShare& progress, std::vector<LayerReport>& layers) {
  return is_float_product(step) ? run_floats(step, arguments, progress, layers)
                                : run_integers(step, arguments, progress, layers);
}

Tensors DeviceProducts::run_floats(const Step& step, const Tensors& arguments,
                                   const ProgressShare& progress,
                                   std::vector<LayerReport>& layers) {
  const auto begin = WallClock::now();
  const Tensor output =
      run_linear(step.context, arguments, [&](const MatrixF& a, const ConstMapF& weights) {
        MatrixF product;
        layers.push_back(run_float(runner_, runner_.options().precision,
                                   layer_name(executor_, step), a, weights, product, progress));
        return product;
      });
  seconds_ += seconds_since(begin);
  return {output};
}

/// Of integers the device computes the sums only.
Tensors DeviceProducts::run_integers(const Step& step, const Tensors& arguments,
                                     const ProgressShare& progress,
                                     std::vector<LayerReport>& layers) {
  const std::string name = layer_name(executor_, step);
  RunReport jobs = runner_.report(name, 0);
  const Tensors results = compute_by(step, arguments, [&](const MatrixI8& a, const MatrixI8& w) {
    const auto begin = WallClock::now();
    MatrixI32 sums;
    const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
    const Job job = runner_.job(job_name(executor_, step, jobs.layers.size()), shape);
    jobs.layers.push_back(runner_.run(job, a, w, sums, progress));
    seconds_ += seconds_since(begin);
    return sums;
  });
  // All products are one layer; where the program is one, each is filled in by itself.
  if (jobs.layers.size() > 1 && !jobs.one_program) {
    const GemmShape& one = jobs.layers[0].shape;
    const ProductSizes all =
        size_of_layer(*step.context.node, {{one.m, one.k, one.n}, jobs.layers.size()});
    jobs.layers = {layer_of(jobs, name, {all.m, all.k, all.n})};
  }
  const auto& sums = executable_.plan.sums;
  const auto why = sums.find(static_cast<int>(index_of(executor_, step)));
  for (LayerReport& layer : jobs.layers) {
    layer.why_sums =
        why == sums.end() ? "its shape was not known before the network ran" : why->second;
    layers.push_back(std::move(layer));
  }
  return results;
}

}  // namespace gemm64
