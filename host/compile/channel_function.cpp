// SPDX-License-Identifier: Apache-2.0
#include "host/compile/channel_function.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "host/compile/quantized_node.hpp"
#include "host/compile/vector_node.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/numerics/reference.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

constexpr int kValues = 256;
constexpr int kMostWeight = 127;
// A bias leaves space for a value times a weight.
constexpr double kMostBias = std::numeric_limits<std::int32_t>::max() - (1 << 15);

bool is_byte_type(int type) { return type == TensorProto::INT8 || type == TensorProto::UINT8; }

/// Operators that may make another value of each value and its channel.
bool is_by_channel(const NodeProto& node) {
  static const std::set<std::string> kNames = {
      "Add", "BatchNormalization", "Clip", "Div", "Max", "Min", "Mul", "Relu", "Sub"};
  return kNames.count(operator_name(node)) != 0 && node.output_size() == 1 &&
         attribute(node, "training_mode", std::int64_t{0}) == 0;
}

/// The nodes of a function, one after the other.
class ChannelChain {
 public:
  ChannelChain(const HostNodes& nodes, const Readers& readers, int index)
      : host_(nodes), model_(nodes.model()), readers_(readers) {
    const auto type = model_.type(proto(index).input(0));
    if (type && is_byte_type(type->data_type) && type->dims.size() >= 2) type_ = *type;
    nodes_.push_back(index);
  }

  /// Follows them to a QuantizeLinear; false where that is not what they end with.
  bool follow() {
    if (type_.dims.empty() || !has_constants(nodes_.front())) return false;
    bool by_channel = false;
    while (!is_quantize(proto(nodes_.back()))) {
      const std::string& name = proto(nodes_.back()).output(0);
      const auto readers = readers_.find(name);
      if (readers == readers_.end() || readers->second.size() != 1) return false;
      const int next = readers->second.front();
      if (next == model_.graph().node_size() || proto(next).input(0) != name) return false;
      const NodeProto& node = proto(next);
      const auto type = model_.type(node.output(0));
      if (!type || type->dims != type_.dims || !has_constants(next)) return false;
      if (!is_quantize(node) && !is_by_channel(node)) return false;
      by_channel = by_channel || node.op_type() == "BatchNormalization" || has_vector(node);
      nodes_.push_back(next);
    }
    result_ = *model_.type(proto(nodes_.back()).output(0));
    return by_channel && is_byte_type(result_.data_type);
  }

  const std::vector<int>& nodes() const { return nodes_; }
  DataType type() const { return static_cast<DataType>(type_.data_type); }
  DataType result_type() const { return static_cast<DataType>(result_.data_type); }
  std::int64_t channels() const { return type_.dims[1]; }

  std::optional<Quantization> result() const {
    const int last = nodes_.back();
    const NodeContext context{&proto(last), node_label(proto(last), last), model_.opset()};
    return constant_quantization(model_, context, 1, result_type());
  }

  /// Has the file all constants, not only their shapes?
  bool has_data() const {
    return std::all_of(nodes_.begin(), nodes_.end(), [this](int node) {
      const auto& inputs = proto(node).input();
      return std::all_of(inputs.begin() + 1, inputs.end(),
                         [this](const std::string& name) { return is_known(name); });
    });
  }

  /// All values, an image each, that are the same in all channels, and what the nodes make of them.
  /// Throws UsageError where ONNX Runtime does.
  std::pair<Tensor, Tensor> compute_all() const {
    Dims dims(type_.dims.size(), 1);
    dims[0] = kValues;
    dims[1] = channels();
    Tensor value(type(), dims);
    auto* to = reinterpret_cast<std::uint8_t*>(value.mutable_raw());
    for (int i = 0; i < kValues; ++i, to += channels()) {
      std::fill_n(to, channels(), static_cast<std::uint8_t>(i));
    }
    const auto compute = [&](int node) {
      const std::string& name = proto(node).output(0);
      const HostNodes::Values given{{proto(nodes_.front()).input(0), value}};
      const Tensor found = host_.kept_values({name}, given).at(name);
      if (found.dims() != dims) throw UsageError("a constant has values for each pixel");
      return found;
    };
    return {compute(nodes_[nodes_.size() - 2]), compute(nodes_.back())};
  }

 private:
  const NodeProto& proto(int node) const { return model_.graph().node(node); }

  /// The DequantizeLinear of constants that makes a value, if one does.
  std::optional<int> dequantize_of(const std::string& name) const {
    for (int i = 0; i < model_.graph().node_size(); ++i) {
      const NodeProto& node = proto(i);
      if (node.output_size() != 1 || node.output(0) != name) continue;
      const auto& inputs = node.input();
      const bool constant = std::all_of(inputs.begin(), inputs.end(), [this](const auto& input) {
        return input.empty() || model_.constant(input) != nullptr;
      });
      return is_dequantize(node) && constant ? std::optional(i) : std::nullopt;
    }
    return std::nullopt;
  }

  bool is_constant(const std::string& name) const {
    return name.empty() || model_.constant(name) != nullptr || dequantize_of(name);
  }
  bool is_known(const std::string& name) const {
    if (name.empty()) return true;
    const TensorProto* const constant = model_.constant(name);
    if (constant != nullptr) return gemm64::has_data(*constant);
    const auto& inputs = proto(*dequantize_of(name)).input();
    return std::all_of(inputs.begin(), inputs.end(),
                       [this](const std::string& input) { return is_known(input); });
  }

  /// Are all inputs of a node but its first one constants?
  bool has_constants(int node) const {
    const auto& inputs = proto(node).input();
    return std::all_of(inputs.begin() + 1, inputs.end(),
                       [this](const std::string& name) { return is_constant(name); });
  }

  bool has_vector(const NodeProto& node) const {
    return std::any_of(node.input().begin() + 1, node.input().end(), [this](const auto& name) {
      const auto type = model_.type(name);
      return type && type->elements() == type_.dims[1];
    });
  }

  const HostNodes& host_;
  const OnnxModel& model_;
  const Readers& readers_;
  TensorType type_{}, result_{};
  std::vector<int> nodes_;
};

/// The results of one channel: of each of the 256 values, as int8 in ascending order, the result
/// and the float that it is rounded from, in steps of the results.
struct ChannelResults {
  std::vector<int> results;
  std::vector<double> floats;
  int zero = 0, low = 0, high = 0;  // of the results
};

/// Do the factors give the results?
bool are_exact(const ChannelResults& wanted, std::int8_t weight, std::int32_t bias, float scale) {
  MatrixI32 sums(kValues, 1);
  for (int i = 0; i < kValues; ++i) sums(i, 0) = (i - 128) * weight;
  const MatrixI32 found =
      reference_requantize(sums, {bias}, {scale}, wanted.zero, wanted.low, wanted.high);
  for (int i = 0; i < kValues; ++i) {
    if (found(i, 0) != wanted.results[static_cast<std::size_t>(i)]) return false;
  }
  return true;
}

/// The line that the floats lie on where they are no limit of a Clip or Relu: result = slope *
/// value + offset.
std::optional<std::pair<double, double>> line_of(const ChannelResults& wanted) {
  const std::vector<double>& y = wanted.floats;
  int first = -1, last = -1;
  for (int i = 0; i < kValues; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool moves = (i == 0 || y[at] != y[at - 1]) && (i == kValues - 1 || y[at] != y[at + 1]);
    if (!moves || !std::isfinite(y[at])) continue;
    if (first < 0) first = i;
    last = i;
  }
  if (first == last) return std::nullopt;
  const double from = y[static_cast<std::size_t>(first)], to = y[static_cast<std::size_t>(last)];
  const double slope = (to - from) / (last - first);
  if (slope == 0) return std::nullopt;
  return {{slope, from - slope * (first - 128)}};
}

/// The slopes that give all results with a line that is 0 at value -`ratio`: least and largest.
std::pair<double, double> slopes_of(const ChannelResults& wanted, double ratio) {
  double least = -std::numeric_limits<double>::infinity(), most = -least;
  for (int i = 0; i < kValues; ++i) {
    const int result = wanted.results[static_cast<std::size_t>(i)];
    const double at = i - 128 + ratio, middle = result - wanted.zero;
    if (at == 0) continue;
    if (result != (at > 0 ? wanted.low : wanted.high)) {
      least = std::max(least, (middle + (at > 0 ? -0.5 : 0.5)) / at);
    }
    if (result != (at > 0 ? wanted.high : wanted.low)) {
      most = std::min(most, (middle + (at > 0 ? 0.5 : -0.5)) / at);
    }
  }
  return {least, most};
}

struct Factors {
  std::int8_t weight;
  std::int32_t bias;
  float scale;
};

/// Those of one channel, which give each of its 256 results; nothing where none are found. A bias
/// is a whole number of weights' steps, so weights are tried in the order in which the line's
/// offset is nearest to such a number.
std::optional<Factors> factors_of(const ChannelResults& wanted) {
  const int first = wanted.results.front();
  if (std::all_of(wanted.results.begin(), wanted.results.end(),
                  [first](int result) { return result == first; })) {
    return Factors{0, first - wanted.zero, 1};
  }
  const auto line = line_of(wanted);
  if (!line) return std::nullopt;
  const double ratio = line->second / line->first;
  struct Candidate {
    double error;
    int weight;
    double bias;
  };
  std::vector<Candidate> candidates;
  for (int weight = 1; weight <= kMostWeight; ++weight) {
    for (const double bias : {std::floor(weight * ratio), std::ceil(weight * ratio)}) {
      if (std::abs(bias) > kMostBias) continue;
      candidates.push_back({std::abs(bias / weight - ratio), weight, bias});
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.error < b.error; });
  for (const Candidate& one : candidates) {
    const auto [least, most] = slopes_of(wanted, one.bias / one.weight);
    if (!(least < most)) continue;
    const bool bounded = std::isfinite(least) && std::isfinite(most);
    const double slope = bounded ? (least + most) / 2 : line->first;
    const int sign = slope < 0 ? -1 : 1;
    const Factors factors{static_cast<std::int8_t>(sign * one.weight),
                          static_cast<std::int32_t>(sign * one.bias),
                          static_cast<float>(std::abs(slope) / one.weight)};
    if (are_exact(wanted, factors.weight, factors.bias, factors.scale)) return factors;
  }
  return std::nullopt;
}

/// The value of a byte of a type.
int value_of_byte(std::uint8_t byte, DataType type) {
  return type == TensorProto::UINT8 ? byte : static_cast<std::int8_t>(byte);
}

}  // namespace

ChannelFactors in_order(const ChannelFactors& factors, const ChannelOrder& order) {
  ChannelFactors placed = factors;
  for (std::uint32_t channel = 0; channel < factors.weight.size(); ++channel) {
    const std::uint32_t place = place_in(order, channel);
    placed.weight[place] = factors.weight[channel];
    placed.bias[place] = factors.bias[channel];
    placed.scale[place] = factors.scale[channel];
  }
  return placed;
}

std::optional<ChannelFunction> read_channel_function(const HostNodes& nodes, const Readers& readers,
                                                     int index, std::string& why) {
  if (!is_dequantize(nodes.model().graph().node(index))) return std::nullopt;
  ChannelChain chain(nodes, readers, index);
  if (!chain.follow()) return std::nullopt;
  const auto result = chain.result();
  if (!result) return std::nullopt;
  ChannelFunction made{chain.nodes(), chain.result_type(), *result, {}};
  const auto channels = static_cast<std::size_t>(chain.channels());
  made.factors.weight.assign(channels, 0);
  made.factors.bias.assign(channels, 0);
  made.factors.scale.assign(channels, 0);
  if (!chain.has_data()) return made;
  Tensor floats, results;
  try {
    std::tie(floats, results) = chain.compute_all();
  } catch (const UsageError& error) {  // where it runs, the host will tell of it
    why = error.what();
    return std::nullopt;
  }
  if (floats.type() != TensorProto::FLOAT) return std::nullopt;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(results.raw());
  ChannelResults wanted;
  wanted.zero = result->zero;
  wanted.low = made.type == TensorProto::UINT8 ? 0 : -128;
  wanted.high = wanted.low + kValues - 1;
  wanted.results.resize(kValues);
  wanted.floats.resize(kValues);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (int i = 0; i < kValues; ++i) {
      // Of uint8 the values follow each other as they are moved to int8; of int8 their bytes do
      // not.
      const auto byte = static_cast<std::size_t>(chain.type() == TensorProto::UINT8 ? i : i ^ 0x80);
      const std::size_t from = byte * channels + channel;
      const auto at = static_cast<std::size_t>(i);
      wanted.results[at] = value_of_byte(bytes[from], made.type);
      wanted.floats[at] = static_cast<double>(floats.values<float>()[from]) / result->scale;
    }
    const auto factors = factors_of(wanted);
    if (!factors) {
      why = "no integer factors give the floats of channel " + std::to_string(channel);
      return std::nullopt;
    }
    made.factors.weight[channel] = factors->weight;
    made.factors.bias[channel] = factors->bias;
    made.factors.scale[channel] = factors->scale;
  }
  return made;
}

}  // namespace gemm64
