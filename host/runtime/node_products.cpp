// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/node_products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "host/graph/onnx/linear_layer.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/runtime/device_schedule.hpp"
#include "host/runtime/float_gemm.hpp"
#include "host/runtime/integer_node.hpp"
#include "host/runtime/linear.hpp"
#include "host/runtime/wall_clock.hpp"

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

  /// Of a product of these rows and columns.
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

}  // namespace

NodeContext NodeProducts::context_of(int node) const {
  return {&proto(node), fmt::format("{} ({})", name(node), operator_name(proto(node))),
          nodes_.model().opset()};
}

Tensors NodeProducts::arguments(int node, const NamedBuffers& values) const {
  const auto& names = proto(node).input();
  std::vector<std::string> present;
  for (const std::string& name : names) {
    if (!name.empty()) present.push_back(name);
  }
  const std::map<std::string, Tensor> found = nodes_.values(present, values);
  Tensors arguments;
  for (const std::string& name : names) {
    arguments.push_back(name.empty() ? Tensor() : found.at(name));
  }
  return arguments;
}

Tensors NodeProducts::on_host(int node, const Tensors& arguments) const {
  NamedBuffers given;
  for (int i = 0; i < proto(node).input_size(); ++i) {
    const Tensor& argument = arguments[static_cast<std::size_t>(i)];
    if (argument.present()) given[proto(node).input(i)] = argument;
  }
  std::vector<std::string> wanted;
  for (const std::string& name : proto(node).output()) {
    if (!name.empty()) wanted.push_back(name);
  }
  const std::map<std::string, Tensor> found = nodes_.values(wanted, given);
  Tensors outputs;
  for (const std::string& name : proto(node).output()) {
    outputs.push_back(name.empty() ? Tensor() : found.at(name));
  }
  return outputs;
}

void NodeProducts::store(int node, const Tensors& outputs, NamedBuffers& values) const {
  const auto& names = proto(node).output();
  for (int i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) values[names[i]] = outputs.at(static_cast<std::size_t>(i));
  }
}

/// Runs the function; errors of it that do not name the node get its name.
template <class Function>
Tensors NodeProducts::named(const NodeContext& context, Function&& function) const {
  try {
    return function();
  } catch (const UsageError& error) {
    const std::string what = error.what();
    const bool is_named = what.rfind(context.label, 0) == 0;
    throw UsageError(
        fmt::format("{}: {}{}", nodes_.model().name(), is_named ? "" : context.label + ": ", what));
  }
}

/// Computes a node whose products are computed by `product`.
Tensors NodeProducts::compute_by(int node, const Tensors& arguments,
                                 const IntegerProduct& product) const {
  NodeContext context = context_of(node);
  context.product = &product;
  return named(context, [&] { return compute_integer_node(context, arguments, nodes_); });
}

void NodeProducts::run_sums(std::size_t index, NamedBuffers& values, const ProgressShare& progress,
                            std::vector<LayerReport>& layers) {
  const SumsProgram& program = executable_.sums[index];
  std::vector<ProgramLayer> jobs;
  std::vector<Tensors> read;  // of each node
  for (const SumsProgram::Node& node : program.nodes) {
    const auto number = static_cast<int>(node.index);
    progress.report(context_of(number).label, 0);
    std::vector<std::pair<MatrixI8, MatrixI8>> products;
    read.push_back(arguments(number, values));
    compute_by(number, read.back(), [&products](const MatrixI8& a, const MatrixI8& w) {
      products.emplace_back(a, w);
      return MatrixI32(MatrixI32::Zero(a.rows(), w.rows()));
    });
    const ProductSizes& one = node.products.shape;
    const bool as_planned = products.size() == node.products.count &&
                            std::all_of(products.begin(), products.end(), [&](const auto& product) {
                              return size(product.first.rows()) == one.m &&
                                     size(product.first.cols()) == one.k &&
                                     size(product.second.rows()) == one.n;
                            });
    if (!as_planned) {
      throw failure(context_of(number),
                    fmt::format("its products are not those of the shapes that {} says",
                                nodes_.model().name()));
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
      layers_of(program, std::move(found.layers), runner_.geometry(), runner_.options().memory);
  SumsInTurn sums(found.values);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const auto node = static_cast<int>(program.nodes[i].index);
    reports[i].program = executable_.number_of_sums(index);
    reports[i].why_sums = executable_.plan.sums.at(node);
    layers.push_back(std::move(reports[i]));
    store(node,
          compute_by(node, read[i],
                     [&sums](const MatrixI8& a, const MatrixI8& w) {
                       return sums.next(a.rows(), w.rows());
                     }),
          values);
  }
}

Tensors NodeProducts::run(int node, const Tensors& arguments, const ProgressShare& progress,
                          std::vector<LayerReport>& layers) {
  return is_float_product(proto(node)) ? run_floats(node, arguments, progress, layers)
                                       : run_integers(node, arguments, progress, layers);
}

Tensors NodeProducts::run_floats(int node, const Tensors& arguments, const ProgressShare& progress,
                                 std::vector<LayerReport>& layers) {
  const auto begin = WallClock::now();
  const NodeContext context = context_of(node);
  Tensors outputs = named(context, [&] {
    return Tensors{run_linear(context, arguments, [&](const MatrixF& a, const ConstMapF& weights) {
      MatrixF product;
      layers.push_back(run_float(runner_, runner_.options().precision, name(node), a, weights,
                                 product, progress));
      return product;
    })};
  });
  seconds_ += seconds_since(begin);
  return outputs;
}

/// Of integers the device computes the sums only.
Tensors NodeProducts::run_integers(int node, const Tensors& arguments,
                                   const ProgressShare& progress,
                                   std::vector<LayerReport>& layers) {
  const std::string name = this->name(node);
  RunReport jobs = runner_.report(name, 0);
  const Tensors results = compute_by(node, arguments, [&](const MatrixI8& a, const MatrixI8& w) {
    const auto begin = WallClock::now();
    MatrixI32 sums;
    const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
    const bool is_one = blocks_of_k(proto(node)) == 1;
    const Job job =
        runner_.job(is_one ? name : fmt::format("{}/{}", name, jobs.layers.size()), shape);
    jobs.layers.push_back(runner_.run(job, a, w, sums, progress));
    seconds_ += seconds_since(begin);
    return sums;
  });
  // All products are one layer; where the program is one, each is filled in by itself.
  if (jobs.layers.size() > 1 && !jobs.one_program) {
    const GemmShape& one = jobs.layers[0].shape;
    const ProductSizes all =
        size_of_layer(proto(node), {{one.m, one.k, one.n}, jobs.layers.size()});
    jobs.layers = {layer_of(jobs, name, {all.m, all.k, all.n})};
  }
  const auto& sums = executable_.plan.sums;
  const auto why = sums.find(node);
  for (LayerReport& layer : jobs.layers) {
    layer.why_sums =
        why == sums.end() ? "its shape was not known before the network ran" : why->second;
    layers.push_back(std::move(layer));
  }
  return results;
}

}  // namespace gemm64
