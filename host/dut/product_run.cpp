// SPDX-License-Identifier: Apache-2.0
#include "host/dut/product_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>

#include "host/dut/diagnosis.hpp"

namespace gemm64::dut {
namespace {

/// Tiles in a request: enough that pipes cost nothing, few enough for the processor's cache.
constexpr std::size_t kTilesAtOnce = 1024;

struct Pending {
  std::size_t tile;
  Values expected;
  Eigen::Index row = 0;  // that comes next
};

class Run {
 public:
  Run(VerilatedBench& bench, const Description& description, const Operands& a, const Operands& w)
      : bench_(bench),
        description_(description),
        a_(a),
        w_(w),
        shape_{a.rows(), a.cols(), w.rows()},
        tiles_(tiles_of(description, shape_)),
        totals_(Values::Zero(shape_.m, shape_.n)) {}

  ProductRun run(const std::function<void(double)>& progress) {
    out_.shape = shape_;
    out_.tiles = tiles_.size();
    out_.bound = stream_bound(description_, tiles_);
    for (std::size_t first = 0; first < tiles_.size() && out_.error.empty();) {
      const std::size_t end = chunk_end(first);
      send(first, end);
      first = end;
      progress(static_cast<double>(first) / static_cast<double>(tiles_.size()));
    }
    if (out_.error.empty()) compare_totals();
    return out_;
  }

 private:
  /// With partial sums, results of one K are sums of the next: all must be there before.
  std::size_t chunk_end(std::size_t first) const {
    std::size_t end = std::min(first + kTilesAtOnce, tiles_.size());
    if (!description_.partial_sums) return end;
    end = first;
    while (end < tiles_.size() && tiles_[end].k == tiles_[first].k) ++end;
    return end;
  }

  void send(std::size_t first, std::size_t end) {
    Chunk chunk;
    for (std::size_t i = first; i < end; ++i) {
      Tile tile = tile_at(description_, a_, w_, tiles_[i]);
      if (description_.partial_sums) add_sums(tile, tiles_[i]);
      chunk.add(description_, tile);
      pending_.push_back({i, product(description_, tile)});
    }
    chunk.request.flags = (first == 0 ? kReset : 0U) | kKeepStalls |
                          (end < tiles_.size() && !description_.partial_sums ? kMore : 0U) |
                          (description_.overlaps() ? 0U : kOneTile);
    receive(bench_.exchange(chunk));
  }

  void add_sums(Tile& tile, const TilePlace& place) const {
    const Values own = product(description_, tile);
    tile.sums = Values::Zero(own.rows(), own.cols());
    for (std::int64_t m = 0; m < place.rows; ++m) {
      for (std::int64_t n = 0; n < place.columns; ++n) {
        const bool swapped = description_.dataflow == Dataflow::kInputStationary;
        tile.sums(swapped ? n : m, swapped ? m : n) = totals_(place.m + m, place.n + n);
      }
    }
  }

  void receive(const Observation& seen) {
    for (const ResultBeat& beat : seen.results) take(beat);
    const Answer& answer = seen.answer;
    if (answer.status != kDone && answer.status != kWaiting) {
      out_.error = ending_in_words(description_, seen);
    }
    out_.cycles = answer.cycles;
    std::copy(std::begin(answer.between), std::end(answer.between), out_.between);
    std::copy(std::begin(answer.within), std::end(answer.within), out_.within);
    const StreamState& moving = answer.streams[description_.moving()];
    out_.fill = moving.first;
    out_.drain = answer.cycles - (moving.last + 1);
    for (std::uint32_t i = 0; i < kStreams; ++i) {
      out_.beats[i] = answer.streams[i].beats;
      out_.bytes[i] = out_.beats[i] * ((description_.beat_bits(static_cast<Stream>(i)) + 7) / 8);
    }
  }

  void take(const ResultBeat& beat) {
    if (pending_.empty()) return;
    Pending& tile = pending_.front();
    const TilePlace& place = tiles_[tile.tile];
    const bool swapped = description_.dataflow == Dataflow::kInputStationary;
    const Eigen::Index row = tile.row++;
    const bool ends = tile.row == tile.expected.rows();
    for (std::size_t i = 0; i < beat.values.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      ++out_.sums;
      const std::int64_t expected = fitted(description_, tile.expected(row, column));
      if (beat.values[i] != expected) {
        ++out_.mismatches;
        if (!out_.first) {
          out_.first = Mismatch{static_cast<std::int64_t>(tile.tile),
                                row,
                                column,
                                beat.cycle,
                                expected,
                                beat.values[i]};
        }
      }
      const std::int64_t m = swapped ? column : row;
      const std::int64_t n = swapped ? row : column;
      if (m >= place.rows || n >= place.columns) continue;
      std::int64_t& total = totals_(place.m + m, place.n + n);
      total = description_.partial_sums ? beat.values[i] : total + beat.values[i];
    }
    if (description_.results_tlast && beat.last != ends && out_.error.empty()) {
      out_.error = fmt::format(
          "TLAST of m_axis_results is {} with row {} of tile {}, cycle {}: "
          "it marks a tile's last row, which is row {}",
          beat.last ? 1 : 0, row, tile.tile, beat.cycle, tile.expected.rows() - 1);
    }
    if (ends) pending_.pop_front();
  }

  /// Against Eigen's product of the whole operands, in double, which is exact here: 32 bits of a
  /// product and K below 2^21.
  void compare_totals() {
    constexpr std::int64_t kColumns = 256;
    const Matrix<double> a = a_.cast<double>();
    for (std::int64_t n = 0; n < shape_.n; n += kColumns) {
      const std::int64_t some = std::min(kColumns, shape_.n - n);
      const Matrix<double> w = w_.middleRows(n, some).cast<double>();
      const Matrix<double> expected = description_.product_shift == 0
                                          ? Matrix<double>(a * w.transpose())
                                          : scaled_product(a, w);
      const auto differ = static_cast<std::uint64_t>(
          (expected.cast<std::int64_t>().array() != totals_.middleCols(n, some).array()).count());
      // Tiles were compared with what the description says of sums beyond their bits.
      (description_.overflow == Overflow::kRefuse ? out_.total_mismatches : out_.overflowed) +=
          differ;
    }
  }

  /// Each product loses its low bits before it is added.
  Matrix<double> scaled_product(const Matrix<double>& a, const Matrix<double>& w) const {
    Matrix<double> sum = Matrix<double>::Zero(a.rows(), w.rows());
    for (Eigen::Index k = 0; k < a.cols(); ++k) {
      const double half = description_.round_products ? 0.5 : 0;
      sum.array() += ((a.col(k) * w.col(k).transpose()).array() /
                          std::ldexp(1.0, static_cast<int>(description_.product_shift)) +
                      half)
                         .floor();
    }
    return sum;
  }

  VerilatedBench& bench_;
  const Description& description_;
  const Operands& a_;
  const Operands& w_;
  ProductShape shape_;
  std::vector<TilePlace> tiles_;
  Values totals_;
  std::deque<Pending> pending_;
  ProductRun out_;
};

}  // namespace

void ProductRun::add(const ProductRun& other) {
  count += other.count;
  tiles += other.tiles;
  sums += other.sums;
  mismatches += other.mismatches;
  total_mismatches += other.total_mismatches;
  overflowed += other.overflowed;
  if (!first) first = other.first;
  cycles += other.cycles;
  bound += other.bound;
  fill += other.fill;
  drain += other.drain;
  for (std::uint32_t i = 0; i < kIdles; ++i) {
    between[i] += other.between[i];
    within[i] += other.within[i];
  }
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    beats[i] += other.beats[i];
    bytes[i] += other.bytes[i];
  }
  if (error.empty()) error = other.error;
  random_weights = random_weights || other.random_weights;
  random_activations = random_activations || other.random_activations;
  seconds += other.seconds;
}

ProductRun run_product(VerilatedBench& bench, const Description& description, const Operands& a,
                       const Operands& w, const std::function<void(double)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  ProductRun run = Run(bench, description, a, w).run(progress);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

}  // namespace gemm64::dut
