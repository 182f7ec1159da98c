// SPDX-License-Identifier: Apache-2.0
// Losses of training, which some files keep: NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// The loss of log-probabilities [batch][classes][inner] for their targets [batch][inner].
template <class T>
Tensor loss_of(const NodeContext& node, const Tensor& x, const Tensors& inputs) {
  const Tensor& target = input(node, inputs, 1);
  const Tensor& weights = optional_input(inputs, 2);
  Dims wanted = x.dims();
  if (x.rank() >= 2) wanted.erase(wanted.begin() + 1);
  if (x.rank() < 2 || target.dims() != wanted) {
    throw failure(node,
                  fmt::format("targets of {} for scores of {}", describe(target), describe(x)));
  }
  const std::int64_t classes = x.dim(1);
  if (weights.present() && weights.elements() != classes) {
    throw failure(node, fmt::format("weights of {} for {} classes", describe(weights), classes));
  }
  std::int64_t inner = 1;
  for (std::size_t a = 2; a < x.rank(); ++a) inner *= x.dim(a);
  const bool ignores = find_attribute(node, "ignore_index") != nullptr;
  const std::int64_t ignored = attribute(*node.node, "ignore_index", std::int64_t{0});
  const Dims index = integers(node, target.reshaped({target.elements()}));
  Tensor losses(x.type(), target.dims());
  double sum = 0, weight_sum = 0;
  for (std::int64_t i = 0; i < target.elements(); ++i) {
    const std::int64_t which = index[static_cast<std::size_t>(i)];
    const bool counts = !ignores || which != ignored;
    if (counts && (which < 0 || which >= classes)) {
      throw failure(node, fmt::format("target {} of {} classes", which, classes));
    }
    double weight = counts ? 1 : 0, loss = 0;
    if (counts) {
      if (weights.present()) weight = static_cast<double>(weights.values<T>()[which]);
      const std::int64_t at = (i / inner * classes + which) * inner + i % inner;
      loss = -weight * static_cast<double>(x.values<T>()[at]);
    }
    losses.mutable_values<T>()[i] = static_cast<T>(loss);
    sum += loss;
    weight_sum += weight;
  }
  const std::string reduction = attribute(*node.node, "reduction", std::string("mean"));
  if (reduction == "none") return losses;
  if (reduction != "mean" && reduction != "sum") {
    throw failure(
        node, fmt::format("reduction '{}' is none of none, mean and sum", printable(reduction)));
  }
  return Tensor::of<T>({}, {static_cast<T>(reduction == "mean" ? sum / weight_sum : sum)});
}

template <class T>
Tensor log_softmax_of(const NodeContext& node, const Tensor& x) {
  if (x.rank() < 2) throw failure(node, fmt::format("scores of {}", describe(x)));
  Tensor result(x.type(), x.dims());
  std::int64_t inner = 1;
  for (std::size_t a = 2; a < x.rank(); ++a) inner *= x.dim(a);
  const std::int64_t classes = x.dim(1);
  for (std::int64_t line = 0; line < x.dim(0) * inner; ++line) {
    const std::int64_t begin = line / inner * classes * inner + line % inner;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      largest = std::max(largest, static_cast<double>(x.values<T>()[begin + c * inner]));
    }
    for (std::int64_t c = 0; c < classes; ++c) {
      sum += std::exp(static_cast<double>(x.values<T>()[begin + c * inner]) - largest);
    }
    for (std::int64_t c = 0; c < classes; ++c) {
      const auto value = static_cast<double>(x.values<T>()[begin + c * inner]);
      result.mutable_values<T>()[begin + c * inner] =
          static_cast<T>(value - largest - std::log(sum));
    }
  }
  return result;
}

}  // namespace

Tensors negative_log_likelihood_loss(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  return {visit_floats(node, x.type(),
                       [&](auto zero) { return loss_of<decltype(zero)>(node, x, inputs); })};
}

Tensors softmax_cross_entropy_loss(const NodeContext& node, const Tensors& inputs) {
  const Tensor& scores = input(node, inputs, 0);
  const Tensor logs = visit_floats(
      node, scores.type(), [&](auto zero) { return log_softmax_of<decltype(zero)>(node, scores); });
  const Tensor loss = visit_floats(
      node, scores.type(), [&](auto zero) { return loss_of<decltype(zero)>(node, logs, inputs); });
  return {loss, logs};
}

}  // namespace host
}  // namespace gemm64
