// SPDX-License-Identifier: Apache-2.0
#include "host/device/block_batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "host/util/parallel_for.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kManySums = std::size_t{1} << 22;
constexpr std::size_t kManyGathered = std::size_t{1} << 25;
constexpr std::size_t kManyTiles = std::size_t{1} << 16;

// Multiplications for which starting a thread pays: some tenths of a millisecond.
constexpr std::uint64_t kWorthAThread = std::uint64_t{1} << 26;

/// Makes a vector hold `size` values; it grows by far more than that.
template <class T>
void hold(std::vector<T>& values, std::size_t size) {
  if (values.size() < size) values.resize(std::max(size, 2 * values.size()));
}

}  // namespace

BlockBatch::Words BlockBatch::gather(std::uint64_t count, std::uint8_t*& room) {
  const Words words{used_gathered_, true};
  used_gathered_ += count * n_;
  hold(gathered_, used_gathered_);
  room = gathered_.data() + words.place;
  return words;
}

void BlockBatch::begin(std::uint32_t rows, const std::uint32_t* sums) {
  blocks_.push_back({rows, sums != nullptr, used_sums_, tiles_.size(), 0});
  used_sums_ += rows * n_;
  hold(sums_, used_sums_);
  if (sums != nullptr) {
    std::copy(sums, sums + rows * n_, sums_.data() + blocks_.back().first_sum);
  }
}

void BlockBatch::add(const Words& weights, const Words& activations) {
  tiles_.push_back({weights, activations});
  ++blocks_.back().tiles;
}

bool BlockBatch::full() const {
  return used_sums_ >= kManySums || used_gathered_ >= kManyGathered || tiles_.size() >= kManyTiles;
}

void BlockBatch::clear() {
  blocks_.clear();
  tiles_.clear();
  used_sums_ = used_gathered_ = 0;
}

const std::uint8_t* BlockBatch::find(const Words& words, std::uint64_t count) {
  if (words.gathered) return gathered_.data() + words.place;
  return memory_.read(words.place, count * n_, scratch_);
}

void BlockBatch::find_operands() {
  // Words that the memory cannot show in place are gathered after all; and what it showed may move
  // when a higher address is read.
  const auto prepare = [&](Words& words, std::uint64_t count) {
    if (words.gathered) return;
    const std::uint8_t* const from = find(words, count);
    if (from != scratch_.data()) return;
    std::uint8_t* room = nullptr;
    words = gather(count, room);
    std::memcpy(room, from, count * n_);
  };
  for (const Block& block : blocks_) {
    for (std::size_t i = block.first_tile; i < block.first_tile + block.tiles; ++i) {
      prepare(tiles_[i].weights, n_);
      prepare(tiles_[i].activations, block.rows);
    }
  }
  operands_.clear();
  for (const Block& block : blocks_) {
    for (std::size_t i = block.first_tile; i < block.first_tile + block.tiles; ++i) {
      operands_.push_back({find(tiles_[i].weights, n_), find(tiles_[i].activations, block.rows)});
    }
  }
}

std::size_t BlockBatch::threads() const {
  std::uint64_t work = 0;
  for (const Block& block : blocks_) work += block.tiles * block.rows * n_ * n_;
  const std::uint64_t cores = std::thread::hardware_concurrency();  // 0: unknown
  return std::min({cores, work / kWorthAThread, std::uint64_t{blocks_.size()}});
}

void BlockBatch::compute() {
  find_operands();
  std::atomic<std::size_t> next{0};
  on_threads(threads(), [&](std::size_t) {
    TileProduct product(n_);
    for (std::size_t i = next++; i < blocks_.size(); i = next++) {
      const Block& block = blocks_[i];
      product.multiply(operands_.data() + block.first_tile, block.tiles, block.rows, block.add,
                       sums_.data() + block.first_sum);
    }
  });
}

}  // namespace gemm64
