// SPDX-License-Identifier: Apache-2.0
#include "host/compile/device_layer.hpp"

#include <algorithm>
#include <utility>

#include "host/kernels/broadcast.hpp"
#include "host/kernels/integer_product.hpp"
#include "host/kernels/quantization.hpp"

namespace gemm64 {
namespace {

using onnx::TensorProto;

/// What moves 8-bit values into the range of int8.
std::uint8_t flip(const Tensor& tensor) { return tensor.type() == TensorProto::UINT8 ? 0x80 : 0; }

const std::uint8_t* bytes_of(const Tensor& tensor) {
  return reinterpret_cast<const std::uint8_t*>(tensor.raw());
}

/// A matrix stored by rows, as int8.
MatrixI8 rows_of(const Tensor& tensor, Eigen::Index rows, Eigen::Index columns) {
  MatrixI8 result(rows, columns);
  const std::uint8_t* const from = bytes_of(tensor);
  const std::uint8_t move = flip(tensor);
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    result.data()[i] = static_cast<std::int8_t>(from[i] ^ move);
  }
  return result;
}

/// Weights for channels of as many taps each, as the layer's activations have these; zero for
/// columns of others. Of several channels in one column the weights add up; only copies have these,
/// whose weights are zeros and a one.
MatrixI8 in_order(const MatrixI8& weights, const DeviceLayer& layer) {
  const auto columns = static_cast<Eigen::Index>(layer.job.plan.shape.k);
  if (layer.input_order.empty() && weights.cols() == columns) return weights;
  const Eigen::Index taps =
      layer.convolution && !layer.packed ? static_cast<Eigen::Index>(layer.convolution->taps()) : 1;
  MatrixI8 result = MatrixI8::Zero(weights.rows(), columns);
  for (Eigen::Index channel = 0; channel < weights.cols() / taps; ++channel) {
    result.middleCols(place_in(layer.input_order, channel) * taps, taps) +=
        weights.middleCols(channel * taps, taps);
  }
  return result;
}

/// [images][channels][pixels] as rows of channels, which lie in an order, one for each pixel. A
/// block of pixels at a time, so that what is written stays in the cache.
template <class Value, class Convert>
Matrix<Value> pixels_of(const Tensor& tensor, std::int64_t images, std::int64_t channels,
                        std::int64_t pixels, const ChannelOrder& order, std::int64_t columns,
                        Convert convert) {
  Matrix<Value> result(images * pixels, columns);
  if (columns != channels) result.setZero();
  const std::uint8_t* const from = bytes_of(tensor);
  constexpr std::int64_t kBlock = 64;
  for (std::int64_t image = 0; image < images; ++image) {
    for (std::int64_t begin = 0; begin < pixels; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, pixels);
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::uint8_t* const plane = from + (image * channels + channel) * pixels;
        Value* to = result.data() + (image * pixels + begin) * columns + place_in(order, channel);
        for (std::int64_t pixel = begin; pixel < end; ++pixel, to += columns) {
          *to = convert(plane[pixel]);
        }
      }
    }
  }
  return result;
}

/// The values under each window as a row, channel by channel, as weights have them.
MatrixI8 windows_of(const Tensor& x, const Convolution& c) {
  const std::uint8_t move = flip(x);
  const std::int64_t taps = std::int64_t{c.kernel_height} * c.kernel_width;
  MatrixI8 result(std::int64_t{c.images} * c.out_height * c.out_width, c.channels * taps);
  const std::int64_t plane = std::int64_t{c.height} * c.width;
  std::vector<std::int64_t> places(static_cast<std::size_t>(taps));
  Eigen::Index row = 0;
  for (std::int64_t image = 0; image < c.images; ++image) {
    for (std::int64_t y = 0; y < c.out_height; ++y) {
      for (std::int64_t x_out = 0; x_out < c.out_width; ++x_out, ++row) {
        std::size_t tap = 0;
        for (std::int64_t i = 0; i < c.kernel_height; ++i) {
          const std::int64_t line = y * c.stride_height - c.pad_top + i * c.dilation_height;
          for (std::int64_t j = 0; j < c.kernel_width; ++j) {
            const std::int64_t column = x_out * c.stride_width - c.pad_left + j * c.dilation_width;
            const bool inside = line >= 0 && line < c.height && column >= 0 && column < c.width;
            places[tap++] = inside ? line * c.width + column : -1;
          }
        }
        std::int8_t* to = result.row(row).data();
        const std::uint8_t* from = bytes_of(x) + image * c.channels * plane;
        for (std::uint32_t channel = 0; channel < c.channels; ++channel, from += plane) {
          for (const std::int64_t place : places) {
            *to++ = place < 0 ? c.zero : static_cast<std::int8_t>(from[place] ^ move);
          }
        }
      }
    }
  }
  return result;
}

/// [outputs x inputs]; of a convolution [O][C / groups][taps] as stored.
MatrixI8 weights_of(const onnx::NodeProto& node, const Tensor& b) {
  if (node.op_type() == "QLinearConv") return rows_of(b, b.dim(0), b.elements() / b.dim(0));
  const std::int64_t rows = b.dim(b.rank() - 2);
  const std::int64_t columns = b.dim(b.rank() - 1);
  const MatrixI8 stored = rows_of(b, rows, columns);
  if (attribute(node, "transB", std::int64_t{0}) != 0) return stored;
  return stored.transpose();
}

/// The zero point of the weights as int8.
std::int32_t zero_of_weights(const NodeContext& context, const Tensors& inputs) {
  const DataType type = inputs[3].type();
  return zeros_of(context, optional_input(inputs, 5), type).front() + move_to_int8(type);
}

/// A stack of matrices as one of `stack`, to which it is broadcast.
Tensor stretched_stack(const Tensor& tensor, Dims stack) {
  stack.insert(stack.end(), tensor.dims().end() - 2, tensor.dims().end());
  return broadcast(tensor, stack);
}

/// The second operands of all products of a stack, a row for each column; zeros follow for
/// products that the job has besides.
MatrixI8 stack_weights(const DeviceLayer& layer, const Tensor& b) {
  const Plan& plan = layer.job.plan;
  const auto n = static_cast<Eigen::Index>(layer.products().n);
  const auto k = static_cast<Eigen::Index>(layer.depth_of_products());
  const auto products = static_cast<Eigen::Index>(layer.products_of_stack());
  const Tensor stack = layer.stack.empty() ? b : stretched_stack(b, layer.stack);
  const MatrixI8 stored = rows_of(stack, products * k, n);
  MatrixI8 result = MatrixI8::Zero(static_cast<Eigen::Index>(plan.products * plan.shape.n), k);
  for (Eigen::Index i = 0; i < products; ++i) {
    result.middleRows(i * n, n) = stored.middleRows(i * k, k).transpose();
  }
  return result;
}

/// Weights with what the columns of sums meet.
MatrixI8 with_sum_weights(const MatrixI8& weights, std::uint64_t sum_columns) {
  if (sum_columns == 0) return weights;
  const Eigen::Index k = weights.cols(), parts = static_cast<Eigen::Index>(sum_columns) - 1;
  MatrixI8 result(weights.rows(), k + parts + 1);
  result.leftCols(k) = weights;
  result.middleCols(k, parts).setConstant(kSumWeight);
  result.rightCols(1).setOnes();
  return result;
}

/// Rows of activations, each with what the zero point of the weights makes of it, in parts.
MatrixI8 with_sums(const MatrixI8& rows, std::uint64_t sum_columns, std::int32_t weights_zero) {
  if (sum_columns == 0) return rows;
  const Eigen::Index k = rows.cols(), parts = static_cast<Eigen::Index>(sum_columns) - 1;
  MatrixI8 result(rows.rows(), k + parts + 1);
  result.leftCols(k) = rows;
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    const std::int32_t sum = -weights_zero * rows.row(row).cast<std::int32_t>().sum();
    std::int32_t left = (sum + (sum < 0 ? kSumWeight : -kSumWeight) / 2) / kSumWeight;
    result(row, k + parts) = static_cast<std::int8_t>(sum - left * kSumWeight);
    for (Eigen::Index part = 0; part < parts; ++part) {
      const std::int32_t taken = std::clamp(left, -128, 127);
      result(row, k + part) = static_cast<std::int8_t>(taken);
      left -= taken;
    }
  }
  return result;
}

/// Sums wrap at 32 bits, as the device's do.
std::int32_t wrapped(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value)));
}

/// Adds the bias of each output channel, which has the node's `bias`, if there is one, and a scale
/// for each.
void add_biases(LayerWeights& made, const Tensor& bias) {
  const Eigen::Index outputs = made.w.rows();
  if (made.scale.size() == 1) made.scale.resize(static_cast<std::size_t>(outputs), made.scale[0]);
  for (Eigen::Index i = 0; i < outputs; ++i) {
    const std::int64_t sum =
        made.w.row(i).cast<std::int64_t>().sum() - made.w.cols() * std::int64_t{made.weights_zero};
    const std::int64_t own = bias.present() ? bias.values<std::int32_t>()[i] : 0;
    made.bias.push_back(wrapped(own - made.input_zero * sum));
  }
}

/// A row for each pixel of a map as one for each of a strip, with what all strips have there.
MatrixI8 in_strips(const MatrixI8& rows, const DeviceLayer& layer) {
  const Strips& strips = *layer.strips;
  const Eigen::Index width = rows.rows() / strips.all_rows(), columns = rows.cols();
  MatrixI8 result(strips.rows * width, strips.count * columns);
  for (std::uint32_t i = 0; i < strips.count; ++i) {
    result.middleCols(i * columns, columns) =
        rows.middleRows(Eigen::Index{i} * strips.step * width, strips.rows * width);
  }
  return result;
}

/// The constants of a layer whose map is in strips, each for itself.
LayerWeights for_strips(const LayerWeights& one, const DeviceLayer& layer) {
  const auto count = static_cast<Eigen::Index>(layer.strips->count);
  const bool by_channel = layer.convolution->groups != 1;
  const Eigen::Index rows = one.w.rows(), columns = one.w.cols();
  LayerWeights made;
  made.w = MatrixI8::Zero(count * rows, by_channel ? columns : count * columns);
  for (Eigen::Index i = 0; i < count; ++i) {
    made.w.block(i * rows, by_channel ? 0 : i * columns, rows, columns) = one.w;
    made.bias.insert(made.bias.end(), one.bias.begin(), one.bias.end());
    made.scale.insert(made.scale.end(), one.scale.begin(), one.scale.end());
  }
  return made;
}

MatrixI8 activations_of(const DeviceLayer& layer, const Tensor& x, std::int64_t k) {
  if (layer.source) return {};
  if (!layer.convolution) {
    const Tensor all = layer.stack.empty() ? x : stretched_stack(x, layer.stack);
    MatrixI8 rows = rows_of(all, all.elements() / k, k);
    if (layer.shared_tiles) {
      rows.conservativeResizeLike(
          MatrixI8::Zero(static_cast<Eigen::Index>(layer.job.plan.shape.m), k));
    }
    return rows;
  }
  const Convolution& c = *layer.convolution;
  if (layer.packed) return layer.strips ? in_strips(windows_of(x, c), layer) : windows_of(x, c);
  const std::uint8_t move = flip(x);
  return pixels_of<std::int8_t>(
      x, c.images, c.channels, std::int64_t{c.height} * c.width, {}, c.channels,
      [move](std::uint8_t value) { return static_cast<std::int8_t>(value ^ move); });
}

/// How results lie in the node's tensor: [images][channels][pixels].
struct ResultMap {
  explicit ResultMap(const DeviceLayer& layer)
      : images(static_cast<std::int64_t>(layer.shared_tiles ? layer.products().m
                                                            : layer.job.plan.shape.m)),
        channels(static_cast<std::int64_t>(layer.shared_tiles ? layer.products().n
                                                              : layer.job.plan.shape.n)) {
    columns = channels;
    if (layer.channels != 0) channels = static_cast<std::int64_t>(layer.channels);
    if (!layer.convolution) return;
    pixels = images / layer.convolution->images;
    images = layer.convolution->images;
  }

  std::int64_t images, channels, pixels = 1;
  std::int64_t columns = 0;  // of the job, which may have some between channels
};

bool is_unsigned(const DeviceLayer& layer) {
  return layer.job.plan.results().code() == ResultCode::kUint8;
}

/// An average has the same bias and factor for each sum; the largest value is left as it is.
LayerWeights pool_weights(const DeviceLayer& layer) {
  LayerWeights made;
  const auto channels = static_cast<std::size_t>(layer.job.plan.shape.n);
  made.w.resize(static_cast<Eigen::Index>(channels), 0);
  made.bias.assign(channels, layer.average.bias);
  made.scale.assign(channels, layer.average.scale);
  return made;
}

}  // namespace

MatrixI32 to_job_results(const DeviceLayer& layer, const Tensor& results) {
  const ResultMap map(layer);
  const std::uint8_t move = flip(results);
  if (is_unsigned(layer)) {
    return pixels_of<std::int32_t>(results, map.images, map.channels, map.pixels,
                                   layer.result_order, map.columns,
                                   [](std::uint8_t value) { return std::int32_t{value}; });
  }
  return pixels_of<std::int32_t>(
      results, map.images, map.channels, map.pixels, layer.result_order, map.columns,
      [move](std::uint8_t value) { return std::int32_t{static_cast<std::int8_t>(value ^ move)}; });
}

MatrixI8 operand_rows(const DeviceLayer& layer, const Tensor& operand) {
  ResultMap map(layer);
  if (layer.job.plan.output.broadcasts()) {
    map.images = layer.job.plan.output.operand_images;
    map.pixels = 1;
  }
  const std::uint8_t move = flip(operand);
  return pixels_of<std::int8_t>(
      operand, map.images, map.channels, map.pixels, layer.result_order, map.columns,
      [move](std::uint8_t value) { return static_cast<std::int8_t>(value ^ move); });
}

Tensor to_node_results(const DeviceLayer& layer, const MatrixI32& results, const TensorType& type,
                       const ChannelOrder& order) {
  ResultMap map(layer);
  map.columns = results.cols();
  const bool has_gaps = layer.part || layer.channels != 0;
  map.channels = has_gaps ? type.dims[1] : map.columns;
  map.pixels = results.rows() / map.images;
  Tensor tensor(static_cast<DataType>(type.data_type), type.dims);
  const auto move = static_cast<std::int32_t>(is_unsigned(layer) ? 0 : flip(tensor));
  auto* const to = reinterpret_cast<std::uint8_t*>(tensor.mutable_raw());
  constexpr std::int64_t kBlock = 64;  // of pixels, as in pixels_of()
  for (std::int64_t image = 0; image < map.images; ++image) {
    for (std::int64_t begin = 0; begin < map.pixels; begin += kBlock) {
      const std::int64_t end = std::min(begin + kBlock, map.pixels);
      for (std::int64_t channel = 0; channel < map.channels; ++channel) {
        std::uint8_t* const plane = to + (image * map.channels + channel) * map.pixels;
        const std::int32_t* from =
            results.data() + (image * map.pixels + begin) * map.columns + place_in(order, channel);
        for (std::int64_t pixel = begin; pixel < end; ++pixel, from += map.columns) {
          plane[pixel] = static_cast<std::uint8_t>(*from ^ move);
        }
      }
    }
  }
  return tensor;
}

LayerWeights layer_weights(const DeviceLayer& layer, const NodeContext& context,
                           const Tensors& inputs) {
  const onnx::NodeProto& node = *context.node;
  LayerWeights made;
  if (layer.is_pool()) return pool_weights(layer);
  if (layer.identity) {
    const auto channels = static_cast<std::size_t>(layer.job.plan.shape.n);
    const auto size = static_cast<Eigen::Index>(channels);
    return {in_order(MatrixI8::Identity(size, size), layer), std::vector<std::int32_t>(channels, 0),
            std::vector<float>(channels, 1)};
  }
  if (layer.factors) {
    const auto channels = static_cast<Eigen::Index>(layer.factors->weight.size());
    return {MatrixI8(Eigen::Map<const MatrixI8>(layer.factors->weight.data(), channels, 1)),
            layer.factors->bias, layer.factors->scale};
  }
  const DataType type = inputs[0].type();
  made.input_zero = quantization_of(context, inputs, 1, type).zero + move_to_int8(type);
  if (layer.sum_columns != 0) made.weights_zero = zero_of_weights(context, inputs);
  made.scale = byte_results(context, inputs).scales;
  if (!layer.weights_value.empty()) return made;
  made.w = weights_of(node, inputs[3]);
  const bool is_convolution = node.op_type() == "QLinearConv";
  static const Tensor none;
  const Tensor& bias = is_convolution              ? optional_input(inputs, 8)
                       : node.op_type() == "QGemm" ? optional_input(inputs, 6)
                                                   : none;
  add_biases(made, bias);
  if (layer.strips) return for_strips(made, layer);
  if (layer.source) made.w = in_order(made.w, layer);
  made.w = with_sum_weights(made.w, layer.sum_columns);
  return made;
}

ProgramLayer program_layer(const DeviceLayer& layer, const LayerWeights& constants,
                           const Tensor& input, const Tensor& weights) {
  LayerWeights own = constants;
  if (!layer.weights_value.empty()) {
    own.w = stack_weights(layer, weights);
    add_biases(own, {});
    own.w = with_sum_weights(own.w, layer.sum_columns);
  }
  ProgramLayer made;
  made.job = layer.job;
  made.products = layer.products();
  made.shared_tiles = layer.shared_tiles;
  made.source = layer.source;
  made.operand = layer.operand;
  const Eigen::Index k = own.w.cols() - static_cast<Eigen::Index>(layer.sum_columns);
  made.a = activations_of(layer, input, k);
  if (layer.sum_columns != 0) {
    made.a = with_sums(made.a, layer.sum_columns, own.weights_zero);
  }
  made.w = std::move(own.w);
  made.bias = std::move(own.bias);
  made.scale = std::move(own.scale);
  made.table = layer.table;
  for (std::uint32_t i = 0; layer.channels != 0 && i < layer.job.plan.shape.n; ++i) {
    const ChannelOrder& order = layer.result_order;
    const bool is_gap = order.empty() ? i >= layer.channels
                                      : std::find(order.begin(), order.end(), i) == order.end();
    if (is_gap) made.gaps.push_back(i);
  }
  return made;
}

Tensor channels_of(const Tensor& tensor, const std::vector<std::uint32_t>& channels) {
  if (channels.empty()) return tensor;
  Dims dims = tensor.dims();
  const std::size_t bytes = tensor.bytes() / static_cast<std::size_t>(dims[0] * dims[1]);
  dims[1] = static_cast<std::int64_t>(channels.size());
  Tensor result(tensor.type(), dims);
  auto* to = reinterpret_cast<std::uint8_t*>(result.mutable_raw());
  const std::uint8_t* from = bytes_of(tensor);
  for (std::int64_t image = 0; image < dims[0]; ++image) {
    for (const std::uint32_t channel : channels) {
      to = std::copy_n(from + channel * bytes, bytes, to);
    }
    from += static_cast<std::size_t>(tensor.dim(1)) * bytes;
  }
  return result;
}

}  // namespace gemm64
