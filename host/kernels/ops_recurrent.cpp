// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, step by step: LSTM, GRU, RNN. Sums are kept in double.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"

namespace gemm64 {
namespace host {
namespace {

using Activation = std::function<double(double)>;
using Row = std::vector<double>;

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

/// The function of a name, with its alpha and beta where it takes them.
Activation activation(const NodeContext& node, const std::string& given, const float* alpha,
                      const float* beta) {
  std::string name = given;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto or_else = [](const float* value, double otherwise) {
    return value != nullptr ? static_cast<double>(*value) : otherwise;
  };
  if (name == "sigmoid") return sigmoid_of;
  if (name == "tanh") return [](double x) { return std::tanh(x); };
  if (name == "relu") return [](double x) { return std::max(x, 0.0); };
  if (name == "softsign") return [](double x) { return x / (1 + std::abs(x)); };
  if (name == "softplus") return [](double x) { return std::log1p(std::exp(x)); };
  if (name == "affine") {
    return [a = or_else(alpha, 1), b = or_else(beta, 0)](double x) { return a * x + b; };
  }
  if (name == "leakyrelu") {
    return [a = or_else(alpha, 0.01)](double x) { return x < 0 ? a * x : x; };
  }
  if (name == "thresholdedrelu") {
    return [a = or_else(alpha, 1)](double x) { return x > a ? x : 0; };
  }
  if (name == "scaledtanh") {
    return [a = or_else(alpha, 1), b = or_else(beta, 1)](double x) { return a * std::tanh(b * x); };
  }
  if (name == "hardsigmoid") {
    return [a = or_else(alpha, 0.2), b = or_else(beta, 0.5)](double x) {
      return std::clamp(a * x + b, 0.0, 1.0);
    };
  }
  if (name == "elu") {
    return [a = or_else(alpha, 1)](double x) { return x < 0 ? a * std::expm1(x) : x; };
  }
  throw failure(node, fmt::format("activation '{}' is not supported", printable(given)));
}

/// What all three layers share: sizes, operands, and how a sequence is walked.
struct Layer {
  std::int64_t gates = 0, states = 0;
  std::int64_t directions = 0, batch = 0, length = 0, width = 0, hidden = 0;
  bool batch_first = false;
  std::string direction;
  const float *x = nullptr, *w = nullptr, *r = nullptr, *b = nullptr, *p = nullptr;
  Dims lengths;
  std::vector<Activation> activations;
  double clip = 0;

  bool is_backward(std::int64_t d) const { return direction == "reverse" || d == 1; }

  double clipped(double value) const { return clip > 0 ? std::clamp(value, -clip, clip) : value; }

  /// x · Wᵀ + Wb of gate `gate` and unit `unit`.
  double from_input(std::int64_t d, std::int64_t gate, std::int64_t unit, const float* now) const {
    const std::int64_t row = gate * hidden + unit;
    const float* const weights = w + (d * gates * hidden + row) * width;
    double sum = b != nullptr ? b[d * 2 * gates * hidden + row] : 0;
    for (std::int64_t i = 0; i < width; ++i) sum += static_cast<double>(weights[i]) * now[i];
    return sum;
  }
  double bias_of_state(std::int64_t d, std::int64_t gate, std::int64_t unit) const {
    return b != nullptr ? b[(d * 2 * gates + gates + gate) * hidden + unit] : 0;
  }
  /// state · Rᵀ, without its bias.
  double from_state(std::int64_t d, std::int64_t gate, std::int64_t unit, const Row& state) const {
    const float* const weights = r + (d * gates * hidden + gate * hidden + unit) * hidden;
    double sum = 0;
    for (std::int64_t i = 0; i < hidden; ++i)
      sum += weights[i] * state[static_cast<std::size_t>(i)];
    return sum;
  }
  double gate(std::int64_t d, std::int64_t gate, std::int64_t unit, const float* now,
              const Row& state) const {
    return from_input(d, gate, unit, now) + from_state(d, gate, unit, state) +
           bias_of_state(d, gate, unit);
  }
  const Activation& function(std::int64_t d, std::size_t which) const {
    return activations[static_cast<std::size_t>(d) *
                           (activations.size() / static_cast<std::size_t>(directions)) +
                       which];
  }
};

const float* floats(const NodeContext& node, const Tensor& tensor, const Dims& dims,
                    const char* what) {
  if (!tensor.present()) return nullptr;
  if (tensor.type() != onnx::TensorProto::FLOAT || tensor.dims() != dims) {
    throw failure(node, fmt::format("{} is {}; float32 {} is needed", what, describe(tensor),
                                    dims_text(dims)));
  }
  return tensor.values<float>();
}

Layer layer_of(const NodeContext& node, const Tensors& inputs, std::int64_t gates,
               const std::vector<std::string>& defaults) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& w = input(node, inputs, 1);
  const Tensor& r = input(node, inputs, 2);
  if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) {
    throw failure(node, fmt::format("X is {}, W {} and R {}; each needs 3 dimensions", describe(x),
                                    describe(w), describe(r)));
  }
  Layer layer;
  layer.gates = gates;
  layer.batch_first = attribute(*node.node, "layout", std::int64_t{0}) != 0;
  layer.direction = attribute(*node.node, "direction", std::string("forward"));
  layer.directions = layer.direction == "bidirectional" ? 2 : 1;
  layer.batch = x.dim(layer.batch_first ? 0 : 1);
  layer.length = x.dim(layer.batch_first ? 1 : 0);
  layer.width = x.dim(2);
  layer.hidden = r.dim(2);
  layer.x = floats(node, x, x.dims(), "X");
  layer.w = floats(node, w, {layer.directions, gates * layer.hidden, layer.width}, "W");
  layer.r = floats(node, r, {layer.directions, gates * layer.hidden, layer.hidden}, "R");
  layer.b =
      floats(node, optional_input(inputs, 3), {layer.directions, 2 * gates * layer.hidden}, "B");
  const Tensor& lengths = optional_input(inputs, 4);
  layer.lengths.assign(static_cast<std::size_t>(layer.batch), layer.length);
  if (lengths.present()) layer.lengths = integers(node, lengths);
  const bool fits = static_cast<std::int64_t>(layer.lengths.size()) == layer.batch &&
                    std::all_of(layer.lengths.begin(), layer.lengths.end(),
                                [&](std::int64_t l) { return l >= 0 && l <= layer.length; });
  if (!fits)
    throw failure(node, fmt::format("sequence lengths {} for a batch of {}",
                                    dims_text(layer.lengths), layer.batch));
  layer.clip = attribute(*node.node, "clip", 0.0F);
  const auto* const names = find_attribute(node, "activations");
  const auto* const alphas = find_attribute(node, "activation_alpha");
  const auto* const betas = find_attribute(node, "activation_beta");
  const std::size_t count = defaults.size() * static_cast<std::size_t>(layer.directions);
  if (names != nullptr && static_cast<std::size_t>(names->strings_size()) != count) {
    throw failure(node,
                  fmt::format("{} activations where {} are needed", names->strings_size(), count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int>(i);
    const auto value = [at](const onnx::AttributeProto* list) {
      return list != nullptr && at < list->floats_size() ? &list->floats().Get(at) : nullptr;
    };
    layer.activations.push_back(
        activation(node, names != nullptr ? names->strings(at) : defaults[i % defaults.size()],
                   value(alphas), value(betas)));
  }
  return layer;
}

/// Step(direction, x of this step, states) makes the next states; states[0] is the output.
using Step = std::function<void(std::int64_t d, const float* now, std::vector<Row>& states)>;

Tensors walk(const NodeContext& node, const Layer& layer, const Tensors& first, const Step& step) {
  const std::int64_t n = layer.batch, hidden = layer.hidden, directions = layer.directions;
  const Dims last_dims =
      layer.batch_first ? Dims{n, directions, hidden} : Dims{directions, n, hidden};
  Tensor all(onnx::TensorProto::FLOAT, layer.batch_first
                                           ? Dims{n, layer.length, directions, hidden}
                                           : Dims{layer.length, directions, n, hidden});
  std::fill_n(all.mutable_values<float>(), all.elements(), 0.0F);
  Tensors results{all};
  for (std::size_t i = 0; i < first.size(); ++i) {
    results.emplace_back(onnx::TensorProto::FLOAT, last_dims);
    floats(node, first[i], last_dims, "an initial state");
  }
  for (std::int64_t d = 0; d < directions; ++d) {
    for (std::int64_t image = 0; image < n; ++image) {
      const std::int64_t last_at =
          (layer.batch_first ? image * directions + d : d * n + image) * hidden;
      std::vector<Row> states;
      for (const Tensor& tensor : first) {
        states.emplace_back(static_cast<std::size_t>(hidden), 0);
        if (tensor.present())
          std::copy_n(tensor.values<float>() + last_at, hidden, states.back().begin());
      }
      const std::int64_t length = layer.lengths[static_cast<std::size_t>(image)];
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t t = layer.is_backward(d) ? length - 1 - i : i;
        const std::int64_t row = layer.batch_first ? image * layer.length + t : t * n + image;
        step(d, layer.x + row * layer.width, states);
        const std::int64_t at = layer.batch_first ? (row * directions + d) * hidden
                                                  : ((t * directions + d) * n + image) * hidden;
        std::transform(states[0].begin(), states[0].end(), results[0].mutable_values<float>() + at,
                       [](double value) { return static_cast<float>(value); });
      }
      for (std::size_t i = 0; i < states.size(); ++i) {
        std::transform(states[i].begin(), states[i].end(),
                       results[i + 1].mutable_values<float>() + last_at,
                       [](double value) { return static_cast<float>(value); });
      }
    }
  }
  return results;
}

}  // namespace

Tensors rnn(const NodeContext& node, const Tensors& inputs) {
  const Layer layer = layer_of(node, inputs, 1, {"Tanh"});
  return walk(node, layer, {optional_input(inputs, 5)},
              [&](std::int64_t d, const float* now, std::vector<Row>& states) {
                Row next(states[0].size());
                for (std::size_t u = 0; u < next.size(); ++u) {
                  const auto unit = static_cast<std::int64_t>(u);
                  next[u] =
                      layer.function(d, 0)(layer.clipped(layer.gate(d, 0, unit, now, states[0])));
                }
                states[0] = next;
              });
}

Tensors gru(const NodeContext& node, const Tensors& inputs) {
  const Layer layer = layer_of(node, inputs, 3, {"Sigmoid", "Tanh"});
  const bool reset_after = attribute(*node.node, "linear_before_reset", std::int64_t{0}) != 0;
  return walk(node, layer, {optional_input(inputs, 5)},
              [&](std::int64_t d, const float* now, std::vector<Row>& states) {
                const Row& h = states[0];
                Row update(h.size()), reset(h.size()), kept(h.size()), next(h.size());
                const Activation& f = layer.function(d, 0);
                const Activation& g = layer.function(d, 1);
                for (std::size_t u = 0; u < h.size(); ++u) {
                  const auto unit = static_cast<std::int64_t>(u);
                  update[u] = f(layer.clipped(layer.gate(d, 0, unit, now, h)));
                  reset[u] = f(layer.clipped(layer.gate(d, 1, unit, now, h)));
                  kept[u] = reset[u] * h[u];
                }
                for (std::size_t u = 0; u < h.size(); ++u) {
                  const auto unit = static_cast<std::int64_t>(u);
                  const double own = layer.bias_of_state(d, 2, unit);
                  const double state = reset_after
                                           ? reset[u] * (layer.from_state(d, 2, unit, h) + own)
                                           : layer.from_state(d, 2, unit, kept) + own;
                  const double hidden = g(layer.clipped(layer.from_input(d, 2, unit, now) + state));
                  next[u] = (1 - update[u]) * hidden + update[u] * h[u];
                }
                states[0] = next;
              });
}

Tensors lstm(const NodeContext& node, const Tensors& inputs) {
  const Layer layer = layer_of(node, inputs, 4, {"Sigmoid", "Tanh", "Tanh"});
  const float* const peepholes =
      floats(node, optional_input(inputs, 7), {layer.directions, 3 * layer.hidden}, "P");
  const bool coupled = attribute(*node.node, "input_forget", std::int64_t{0}) != 0;
  return walk(
      node, layer, {optional_input(inputs, 5), optional_input(inputs, 6)},
      [&](std::int64_t d, const float* now, std::vector<Row>& states) {
        const Row &h = states[0], &c = states[1];
        Row next_h(h.size()), next_c(h.size());
        const Activation& f = layer.function(d, 0);
        const auto peephole = [&](std::int64_t which, std::int64_t unit, double cell) {
          return peepholes == nullptr ? 0 : peepholes[(d * 3 + which) * layer.hidden + unit] * cell;
        };
        for (std::size_t u = 0; u < h.size(); ++u) {
          const auto unit = static_cast<std::int64_t>(u);
          const double in =
              f(layer.clipped(layer.gate(d, 0, unit, now, h) + peephole(0, unit, c[u])));
          const double forget =
              coupled ? 1 - in
                      : f(layer.clipped(layer.gate(d, 2, unit, now, h) + peephole(2, unit, c[u])));
          const double cell = layer.function(d, 1)(layer.clipped(layer.gate(d, 3, unit, now, h)));
          next_c[u] = forget * c[u] + in * cell;
          const double out =
              f(layer.clipped(layer.gate(d, 1, unit, now, h) + peephole(1, unit, next_c[u])));
          next_h[u] = out * layer.function(d, 2)(next_c[u]);
        }
        states[0] = next_h;
        states[1] = next_c;
      });
}

}  // namespace host
}  // namespace gemm64
