// SPDX-License-Identifier: Apache-2.0
#include "host/dut/stimulus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "host/util/text.hpp"

namespace gemm64::dut {

std::int64_t scaled(const Description& description, std::int64_t product) {
  const unsigned shift = description.product_shift;
  if (shift == 0) return product;
  return (product + (description.round_products ? std::int64_t{1} << (shift - 1) : 0)) >> shift;
}

Values multiplied(const Description& of, const Values& x, const Values& s, const Values& sums) {
  Values result = sums.size() != 0 ? sums : Values(Values::Zero(x.rows(), s.cols()));
  const bool each = of.overflow == Overflow::kSaturateEach;
  if (of.product_shift == 0 && !each) return result + x * s;
  const auto fit = [&of, each](std::int64_t value) { return each ? fitted(of, value) : value; };
  for (Eigen::Index k = 0; k < x.cols(); ++k) {
    const Values products = x.col(k) * s.row(k);
    result += products.unaryExpr([&](std::int64_t v) { return fit(scaled(of, v)); });
    result = result.unaryExpr(fit).eval();
  }
  return result;
}

Values product(const Description& description, const Tile& tile) {
  switch (description.dataflow) {
    case Dataflow::kWeightStationary:
      return multiplied(description, tile.activations, tile.weights, tile.sums);
    case Dataflow::kOutputStationary:
      return multiplied(description, tile.activations.transpose(), tile.weights, tile.sums);
    case Dataflow::kInputStationary:
      return multiplied(description, tile.weights, tile.activations, tile.sums);
  }
  return {};
}

std::int64_t fitted(const Description& description, std::int64_t sum) {
  const Operand& sums = description.sums;
  if (description.overflow == Overflow::kSaturate ||
      description.overflow == Overflow::kSaturateEach) {
    return std::clamp(sum, sums.low(), sums.high());
  }
  const std::int64_t span = std::int64_t{1} << sums.bits;
  std::int64_t rest = sum & (span - 1);
  if (sums.is_signed && rest > sums.high()) rest -= span;
  return rest;
}

void append_beats(std::vector<std::uint8_t>& bytes, const Values& values, int bits) {
  const auto width = static_cast<unsigned>(bits);
  const std::size_t beat = (static_cast<std::size_t>(values.cols()) * width + 7) / 8;
  std::size_t at = bytes.size();
  bytes.resize(at + beat * static_cast<std::size_t>(values.rows()));
  for (Eigen::Index row = 0; row < values.rows(); ++row, at += beat) {
    if (width == 8) {
      for (Eigen::Index i = 0; i < values.cols(); ++i) {
        bytes[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(values(row, i));
      }
      continue;
    }
    for (Eigen::Index i = 0; i < values.cols(); ++i) {
      const auto value = static_cast<std::uint64_t>(values(row, i));
      for (unsigned bit = 0; bit < width; ++bit) {
        const std::size_t place = static_cast<std::size_t>(i) * width + bit;
        bytes[at + place / 8] |= static_cast<std::uint8_t>(((value >> bit) & 1U) << (place % 8));
      }
    }
  }
}

std::vector<std::int64_t> values_of(const std::uint8_t* beat, std::size_t count,
                                    const Operand& of) {
  const auto width = static_cast<unsigned>(of.bits);
  std::vector<std::int64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t value = 0;
    if (width % 8 == 0) {
      for (unsigned byte = 0; byte < width / 8; ++byte) {
        value |= std::uint64_t{beat[i * width / 8 + byte]} << (8 * byte);
      }
    } else {
      for (unsigned bit = 0; bit < width; ++bit) {
        const std::size_t place = i * width + bit;
        value |= std::uint64_t{(beat[place / 8] >> (place % 8)) & 1U} << bit;
      }
    }
    if (of.is_signed && ((value >> (width - 1)) & 1U) != 0) value |= ~std::uint64_t{0} << width;
    values[i] = static_cast<std::int64_t>(value);
  }
  return values;
}

std::string stream_states(const Description& description, const Observation& observation) {
  static constexpr const char* kNames[] = {"s_axis_weights", "s_axis_activations", "s_axis_sums",
                                           "m_axis_results"};
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    if (i == kSums && !description.partial_sums) continue;
    const StreamState& state = observation.answer.streams[i];
    all.push_back(fmt::format("{}: {} moved, {} {}, TVALID {}, TREADY {}", kNames[i],
                              counted(state.beats, "beat"), grouped(state.pending),
                              i == kResults ? "expected" : "wait", state.valid, state.ready));
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace gemm64::dut
