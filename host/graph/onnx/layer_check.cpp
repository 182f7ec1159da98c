// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/layer_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "host/graph/proto/attribute.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Sizes = std::vector<std::int64_t>;

// Sizes of windows, steps and padding; products of two of them still fit 64 bits.
constexpr std::int64_t kMostWindow = std::int64_t{1} << 30;

/// The input of each operator that holds the weights.
int weights_input(std::string_view op) {
  static const std::map<std::string_view, int> inputs{{"Conv", 1},        {"FusedConv", 1},
                                                      {"ConvInteger", 1}, {"QLinearConv", 3},
                                                      {"NhwcConv", 1},    {"ConvTranspose", 1}};
  const auto found = inputs.find(op);
  return found == inputs.end() ? -1 : found->second;
}

/// A node, and the shapes of its inputs.
class Layer {
 public:
  Layer(const onnx::NodeProto& node, const ValueFacts& facts, const std::string& where)
      : node_(node), facts_(facts), where_(where) {}

  void check() const {
    const std::string& op = node_.op_type();
    if (weights_input(op) > 0) return check_convolution(weights_input(op));
    if (is_pool()) {
      static_cast<void>(pooled(*shape(0)));
    } else if (op == "Gemm") {
      check_added();
    } else if (op == "Reshape") {
      check_reshape();
    } else if (op == "BatchNormalization") {
      for (int i = 1; i < 5; ++i) check_vector(i, 0, 1, "statistics");
    }
  }

  bool is_ceiled_pool() const {
    return is_pool() && attribute(node_, "ceil_mode", std::int64_t{0}) != 0;
  }

  /// The shape of a pool's output.
  Sizes pooled(const Sizes& x) const {
    require(x.size() >= 3, fmt::format("its input is {}; it must have a batch, channels and at "
                                       "least one dimension more",
                                       dims_text(x)));
    const Sizes kernel = sizes("kernel_shape", x.size() - 2, 1, 1);
    Sizes result{x[0], x[1]};
    for (std::size_t i = 0; i + 2 < x.size(); ++i) {
      result.push_back(positions(kernel, i, x[i + 2]));
    }
    return result;
  }

 private:
  bool is_pool() const {
    const std::string& op = node_.op_type();
    return (op == "MaxPool" || op == "AveragePool" || op == "LpPool" ||
            op == "QLinearAveragePool") &&
           shape(0) != nullptr && attribute(node_, "channels_last", std::int64_t{0}) == 0;
  }

  /// nullptr if the input is left out or not known.
  const Sizes* shape(int i) const {
    if (i >= node_.input_size()) return nullptr;
    const auto found = facts_.types.find(node_.input(i));
    return found == facts_.types.end() ? nullptr : &found->second.dims;
  }

  void require(bool holds, const std::string& what) const {
    if (!holds) throw UsageError(fmt::format("{}: {}", where_, what));
  }

  Sizes sizes(const char* name, std::size_t count, std::int64_t otherwise,
              std::int64_t least) const {
    const Sizes values = attribute(node_, name, Sizes(count, otherwise));
    require(values.size() == count, fmt::format("{} has {}, and must have {}", name,
                                                counted(values.size(), "value"), count));
    for (const std::int64_t value : values) {
      require(
          value >= least && value <= kMostWindow,
          fmt::format("{} holds {}; it must be from {} to {}", name, value, least, kMostWindow));
    }
    return values;
  }

  /// Positions of a window along spatial dimension `i` of `size` values.
  std::int64_t positions(const Sizes& kernel, std::size_t i, std::int64_t size) const {
    const std::size_t spatial = kernel.size();
    const std::int64_t stride = sizes("strides", spatial, 1, 1)[i];
    const std::int64_t dilation = sizes("dilations", spatial, 1, 1)[i];
    const Sizes pads = sizes("pads", 2 * spatial, 0, 0);
    const std::string auto_pad = attribute(node_, "auto_pad", std::string("NOTSET"));
    const auto divide_up = [](std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); };
    if (auto_pad.rfind("SAME", 0) == 0) return divide_up(size, stride);
    const bool padded = auto_pad == "NOTSET";
    const std::int64_t before = padded ? pads[i] : 0;
    const std::int64_t all = size + before + (padded ? pads[spatial + i] : 0);
    const std::int64_t reach = dilation * (kernel[i] - 1) + 1;
    require(all >= reach, fmt::format("its window spans {} values of dimension {}, which has {} "
                                      "with padding",
                                      reach, i + 2, all));
    if (attribute(node_, "ceil_mode", std::int64_t{0}) == 0) return (all - reach) / stride + 1;
    const std::int64_t count = divide_up(all - reach, stride) + 1;
    // A window that begins beyond the input and its first padding sees nothing.
    return (count - 1) * stride >= size + before ? count - 1 : count;
  }

  void check_convolution(int weights_at) const {
    if (shape(0) == nullptr || shape(weights_at) == nullptr) return;
    const Sizes& x = *shape(0);
    const Sizes& weights = *shape(weights_at);
    const bool transposed = node_.op_type() == "ConvTranspose";
    const std::int64_t group = attribute(node_, "group", std::int64_t{1});
    require(
        x.size() >= 3 && weights.size() == x.size(),
        fmt::format("its input is {} and its weights are {}", dims_text(x), dims_text(weights)));
    const bool fits = group >= 1 && group <= kMostWindow && x[1] % group == 0 &&
                      (transposed ? weights[0] == x[1] && weights[1] <= kMostWindow
                                  : weights[1] == x[1] / group && weights[0] % group == 0);
    require(fits, fmt::format("weights of {} in {} groups do not fit an input of {}",
                              dims_text(weights), group, dims_text(x)));
    const Sizes kernel(weights.begin() + 2, weights.end());
    require(attribute(node_, "kernel_shape", kernel) == kernel,
            fmt::format("kernel_shape is {}, the weights are {}",
                        dims_text(attribute(node_, "kernel_shape", kernel)), dims_text(kernel)));
    for (const std::int64_t size : kernel) {
      require(size >= 1 && size <= kMostWindow, fmt::format("the kernel is {}", dims_text(kernel)));
    }
    for (std::size_t i = 0; i < kernel.size() && !transposed; ++i) {
      static_cast<void>(positions(kernel, i, x[i + 2]));
    }
    if (node_.op_type() != "Conv" && !transposed) return;
    const std::int64_t channels = transposed ? weights[1] * group : weights[0];
    require(
        shape(2) == nullptr || *shape(2) == Sizes{channels},
        fmt::format("its bias is {}, and must have {}", dims_text(shape(2) ? *shape(2) : Sizes{}),
                    counted(static_cast<std::uint64_t>(channels), "value")));
  }

  /// Is the input a vector with a value for each index of dimension `axis` of another one?
  void check_vector(int i, int of, std::size_t axis, const char* what) const {
    if (shape(i) == nullptr || shape(of) == nullptr) return;
    const Sizes& x = *shape(of);
    require(x.size() > axis && *shape(i) == Sizes{x[axis]},
            fmt::format("{} of {} do not fit an input of {}", what, dims_text(*shape(i)),
                        dims_text(x)));
  }

  void check_added() const {
    const Sizes* const c = shape(2);
    const auto found = facts_.types.find(node_.output_size() == 0 ? "" : node_.output(0));
    if (c == nullptr || found == facts_.types.end()) return;
    const Sizes& y = found->second.dims;
    bool fits = c->size() <= y.size();
    for (std::size_t i = 0; fits && i < c->size(); ++i) {
      const std::int64_t size = (*c)[c->size() - 1 - i];
      fits = size == 1 || size == y[y.size() - 1 - i];
    }
    require(fits,
            fmt::format("C is {}; it does not fit a product of {}", dims_text(*c), dims_text(y)));
  }

  void check_reshape() const {
    const auto y = facts_.types.find(node_.output_size() == 0 ? "" : node_.output(0));
    if (shape(0) == nullptr || y == facts_.types.end()) return;
    const std::int64_t before = facts_.types.at(node_.input(0)).elements();
    const std::int64_t after = y->second.elements();
    require(before == after,
            fmt::format("{} cannot become {}: {} values are not {}", dims_text(*shape(0)),
                        dims_text(y->second.dims), before, after));
  }

  const onnx::NodeProto& node_;
  const ValueFacts& facts_;
  const std::string& where_;
};

}  // namespace

void check_layer(const onnx::NodeProto& node, const ValueFacts& facts, const std::string& where) {
  Layer(node, facts, where).check();
}

std::optional<std::vector<std::int64_t>> ceiled_pool(const onnx::NodeProto& node,
                                                     const ValueFacts& facts,
                                                     const std::string& where) {
  const Layer layer(node, facts, where);
  if (!layer.is_ceiled_pool()) return std::nullopt;
  return layer.pooled(facts.types.at(node.input(0)).dims);
}

}  // namespace gemm64
