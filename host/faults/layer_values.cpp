// SPDX-License-Identifier: Apache-2.0
#include "host/faults/layer_values.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/numerics/initialize.hpp"
#include "host/util/float_bits.hpp"

namespace gemm64 {
namespace {

using Index = Eigen::Index;

MatrixI8 draw_matrix(std::uint64_t rows, std::uint64_t columns, std::mt19937& random) {
  MatrixI8 matrix(static_cast<Index>(rows), static_cast<Index>(columns));
  fill_int8(random, matrix.data(), static_cast<std::size_t>(matrix.size()));
  return matrix;
}

/// The value, or what is beyond the border, that a tap meets.
std::int8_t met(const Convolution& c, const MatrixI8& a, Index pixel, std::uint32_t tap,
                std::uint32_t channel) {
  const auto out = static_cast<std::uint64_t>(pixel);
  const std::uint64_t image = out / c.out_width / c.out_height;
  const std::uint64_t y = out / c.out_width % c.out_height, x = out % c.out_width;
  const auto row =
      static_cast<std::int64_t>(y * c.stride_height +
                                std::uint64_t{tap / c.kernel_width} * c.dilation_height) -
      c.pad_top;
  const auto column =
      static_cast<std::int64_t>(x * c.stride_width +
                                std::uint64_t{tap % c.kernel_width} * c.dilation_width) -
      c.pad_left;
  if (row < 0 || row >= c.height || column < 0 || column >= c.width) return c.zero;
  const auto line = static_cast<Index>(image * c.height) + row;
  return a(line * c.width + column, channel);
}

std::int64_t sum_of(const FaultLayer& layer, const LayerValues& values, const MatrixI8& a,
                    Index row, Index column) {
  std::int64_t sum = 0;
  if (!layer.convolution) {
    for (Index k = 0; k < a.cols(); ++k) sum += std::int64_t{a(row, k)} * values.w(column, k);
    return sum;
  }
  const Convolution& c = *layer.convolution;
  std::int8_t largest = -128;
  const auto first = static_cast<std::uint32_t>(column) / c.group_out_channels();
  for (std::uint32_t channel = 0; channel < c.group_channels(); ++channel) {
    for (std::uint32_t tap = 0; tap < c.taps(); ++tap) {
      const std::int8_t value = met(c, a, row, tap, first * c.group_channels() + channel);
      largest = std::max(largest, value);
      sum += layer.sum == LaneSum::kProducts
                 ? std::int64_t{value} * values.w(column, channel * c.taps() + tap)
                 : value;
    }
  }
  return layer.sum == LaneSum::kMaximum ? largest : sum;
}

/// ONNX Runtime's QLinearAdd and QLinearMul, as the settings of a STORE say them.
int met_by_operand(const Output& output, int result, int operand) {
  const StoreCommand& store = *output.vector;
  const float scale = from_bits(store.operand_scale), offset = from_bits(store.offset);
  const auto value = [&output](std::uint32_t byte) { return output.format.value(byte); };
  float sum;
  if (store.add != 0) {
    if (store.swap != 0) std::swap(result, operand);
    sum = std::fma(static_cast<float>(result), from_bits(store.result_scale),
                   std::fma(static_cast<float>(operand), scale, offset));
  } else {
    const auto product = static_cast<float>((result - value(store.result_zero)) *
                                            (operand - value(store.operand_zero)));
    const volatile float scaled = product * scale;  // rounded by itself
    sum = scaled + offset;
  }
  return std::clamp(static_cast<int>(std::lrint(sum)), value(store.function_min),
                    value(store.function_max));
}

/// An 8-bit result after the element-wise unit; `operand` as it is in memory.
int on_vector_path(const Output& output, const LayerValues& values, int result, int operand) {
  const StoreCommand& store = *output.vector;
  if (store.table != 0) {
    result = output.format.value(values.table[static_cast<std::size_t>(result & 0xff)]);
  }
  const int moved = output.format.is_signed() ? 128 : -128;  // where the other kind has its zero
  if (output.takes_operands()) {
    const int given = store.operand_moved != 0 ? operand - moved : operand;
    result = met_by_operand(output, result, given);
  }
  return store.result_moved != 0 ? result + moved : result;
}

}  // namespace

LayerValues draw_values(const FaultLayer& layer, std::mt19937& random) {
  LayerValues values;
  if (!layer.source) values.a = draw_matrix(layer.rows_read(), layer.columns_read(), random);
  values.w = draw_matrix(layer.columns(), layer.weights_each(), random);
  const Output& output = layer.output;
  if (!output.format.takes_parameters()) return values;
  // A maximum is of 8 bits already; an average is the sum by its pixels.
  const double k = static_cast<double>(layer.weights_each());
  const double usual = layer.sum == LaneSum::kProducts  ? 60 / (5000 * std::sqrt(k))
                       : layer.sum == LaneSum::kMaximum ? 1.0
                                                        : 1.0 / layer.convolution->taps();
  const auto most = static_cast<std::uint32_t>(20 / usual);
  // All channels of a pool have the same.
  const std::uint64_t own = layer.sum == LaneSum::kProducts ? layer.columns() : 1;
  for (std::uint64_t i = 0; i < own; ++i) {
    values.bias.push_back(static_cast<std::int32_t>(random() % (2 * most + 1)) -
                          static_cast<std::int32_t>(most));
    values.scale.push_back(static_cast<float>(usual * (0.5 + random() % 1000 / 1000.0)));
  }
  values.bias.resize(layer.columns(), values.bias[0]);
  values.scale.resize(layer.columns(), values.scale[0]);
  for (unsigned i = 0; output.takes_table() && i < 256; ++i) {
    values.table.push_back(static_cast<std::uint8_t>(random()));
  }
  if (output.takes_operands() && !layer.operand) {
    const std::uint64_t rows = output.broadcasts() ? output.operand_images : layer.rows();
    values.operands = draw_matrix(rows, layer.columns(), random);
  }
  return values;
}

MatrixI32 layer_results(const FaultLayer& layer, const LayerValues& values, const MatrixI8& a,
                        const MatrixI8& operands) {
  const Output& output = layer.output;
  MatrixI32 results(static_cast<Index>(layer.rows()), static_cast<Index>(layer.columns()));
  const Index rows_each = operands.rows() == 0 ? 1 : results.rows() / operands.rows();
  for (Index row = 0; row < results.rows(); ++row) {
    for (Index column = 0; column < results.cols(); ++column) {
      const auto sum = static_cast<std::int32_t>(sum_of(layer, values, a, row, column));
      results(row, column) = sum;
      if (!output.format.takes_parameters()) continue;
      const auto at = static_cast<std::size_t>(column);
      const float scaled = static_cast<float>(sum + values.bias[at]) * values.scale[at];
      const float whole = std::nearbyint(scaled) + static_cast<float>(output.zero);
      const auto result = static_cast<int>(
          std::clamp(whole, static_cast<float>(output.low), static_cast<float>(output.high)));
      const int operand = operands.size() == 0 ? 0 : operands(row / rows_each, column);
      results(row, column) =
          output.vector ? on_vector_path(output, values, result, operand) : result;
    }
  }
  return results;
}

}  // namespace gemm64
