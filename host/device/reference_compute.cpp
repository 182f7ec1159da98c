// SPDX-License-Identifier: Apache-2.0
// The reference device's products: of words as they follow each other, and of a window's pixels.
#include <algorithm>
#include <cstring>

#include "host/device/depthwise.hpp"
#include "host/device/reference_device.hpp"

namespace gemm64 {

bool ReferenceDevice::compute_tile() {
  if (matmuls_.empty()) return false;
  if (const auto* const set = std::get_if<SetWindowCommand>(&matmuls_.front())) {
    window_ = *set;
    matmuls_.pop_front();
    return true;
  }
  if (const auto* const depthwise = std::get_if<DepthwiseCommand>(&matmuls_.front())) {
    return compute_depthwise(DepthwiseCommand(*depthwise));
  }
  const auto& matmul = std::get<MatmulCommand>(matmuls_.front());
  if (is_window(matmul)) return compute_window_tile(matmul);
  const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
  const bool retain = (matmul.flags & flag::kRetain) != 0;
  const bool first = !accumulate || tile_ == 0;
  if (weights_.arrived - weights_.read < geometry_.n) return false;
  if (activations_.arrived - activations_.read < matmul.rows) return false;
  if (first && banks_used_ == banks_.size()) return false;

  multiply(matmul, first);
  activations_.read += matmul.rows;
  if (!retain || pass_ + 1 == matmul.passes) {
    activations_.released = activations_.read;
    activations_.forget(activations_.released);
  } else if (tile_ + 1 == matmul.count) {
    activations_.read = activations_.released;  // the next pass starts again at the block's start
  }
  end_tile(matmul, matmul.count);
  return true;
}

bool ReferenceDevice::compute_window_tile(const MatmulCommand& matmul) {
  if (!window_) return false;
  if (!block_taps_) block_taps_.emplace(*window_, matmul);
  const WindowTile tile = block_taps_->tile(pass_, tile_);
  const bool first = tile_ == 0;
  if (weights_.arrived - weights_.read < geometry_.n) return false;
  if (tile.first_read && !planes_.ready(matmul.new_pixels)) return false;
  if (first && banks_used_ + banks_of(matmul.rows) > banks_.size()) return false;

  if (tile.first_read) planes_.claim(matmul.new_pixels);
  multiply_window(tile, first);
  const std::uint64_t tiles = block_taps_->tiles();
  if (pass_ + 1 == matmul.passes && tile_ + 1 == tiles) {
    planes_.free(matmul.freed_pixels);
    block_taps_.reset();
  }
  end_tile(matmul, tiles);
  return true;
}

// Takes what there is of an image, or gives a block some of the rows that an image has left.
bool ReferenceDevice::compute_depthwise(const DepthwiseCommand& command) {
  Depthwise& d = depthwise_;
  const std::size_t n = geometry_.n;
  if (d.row * n == d.sums.size()) {
    if (d.image_number == std::uint64_t{command.passes} * command.count) {
      d = {};
      matmuls_.pop_front();
      return true;
    }
    if (d.weights.empty()) {
      if (weights_.arrived - weights_.read < weight_words(command)) return false;
      d.weights = take(weights_, weight_words(command));
    }
    const std::uint64_t left = image_words(command) - d.image.size() / n;
    const std::uint64_t some = std::min(left, activations_.arrived - activations_.read);
    if (some == 0) return false;
    const std::vector<std::uint8_t> words = take(activations_, some);
    d.image.insert(d.image.end(), words.begin(), words.end());
    if (some != left) return true;
    d.sums = depthwise_sums(command, geometry_.n, d.image, d.weights);
    d.row = 0;
    d.image.clear();
    if (++d.image_number % command.passes == 0) d.weights.clear();
    return true;
  }
  if (d.block_row == 0) {
    if (banks_used_ == banks_.size()) return false;
    ++banks_used_;
    flush();
  }
  const std::uint64_t rows =
      std::min<std::uint64_t>(command.rows - d.block_row, d.sums.size() / n - d.row);
  const auto from = d.sums.begin() + static_cast<std::ptrdiff_t>(d.row * n);
  std::copy(from, from + static_cast<std::ptrdiff_t>(rows * n),
            banks_[compute_bank_].begin() + static_cast<std::ptrdiff_t>(d.block_row * n));
  d.row += rows;
  d.block_row += static_cast<std::uint32_t>(rows);
  const bool plane_end = d.row * n == d.sums.size() && d.image_number % command.passes == 0;
  if (d.block_row == command.rows || plane_end) {
    d.block_row = 0;
    ++banks_done_;
    compute_bank_ ^= 1;
  }
  return true;
}

// The effects of all tiles: weights that were used, blocks that are finished, the next tile.
void ReferenceDevice::end_tile(const MatmulCommand& matmul, std::uint64_t tiles) {
  const bool last_tile = tile_ + 1 == tiles;
  weights_.read += geometry_.n;
  const bool stay = (matmul.flags & flag::kRetainWeights) != 0 &&
                    (is_window(matmul) || block_ + 1 != matmul.blocks);
  if (!stay) {
    weights_.released = weights_.read;
    weights_.forget(weights_.released);
  } else if (last_tile && pass_ + 1 == matmul.passes) {
    weights_.read = weights_.released;  // the next block takes them again
  }
  if ((matmul.flags & flag::kAccumulate) == 0 || last_tile) {
    banks_done_ += banks_of(matmul.rows);
    compute_bank_ = (compute_bank_ + banks_of(matmul.rows)) % 2;
  }
  if (!last_tile) {
    ++tile_;
    return;
  }
  tile_ = 0;
  if (++pass_ != matmul.passes) return;
  pass_ = 0;
  if (++block_ != matmul.blocks) return;
  block_ = 0;
  matmuls_.pop_front();
}

// The next words of a stream as they follow each other.
BlockBatch::Words ReferenceDevice::words(const WordStream& stream, std::uint64_t count) {
  const std::size_t n = geometry_.n;
  const WordStream::Run first = stream.run(stream.read, geometry_.n);
  if (first.words >= count) {
    before_read(first.address, count * n);
    return {first.address, false};
  }
  // They are read now, so what a STORE gives them must be there.
  for (std::uint64_t done = 0; done < count;) {
    const WordStream::Run run = stream.run(stream.read + done, geometry_.n);
    before_read(run.address, run.words * n);
    done += run.words;
  }
  std::uint8_t* room = nullptr;
  const BlockBatch::Words gathered = batch_.gather(count, room);
  for (std::uint64_t done = 0; done < count;) {
    const WordStream::Run run = stream.run(stream.read + done, geometry_.n);
    const std::uint64_t some = std::min(run.words, count - done);
    std::memcpy(room + done * n, memory_.read(run.address, some * n, scratch_), some * n);
    done += some;
  }
  return gathered;
}

void ReferenceDevice::multiply(const MatmulCommand& matmul, bool first) {
  if (batch_.full()) flush();
  BlockBatch::Words weights = words(weights_, geometry_.n);
  const std::size_t blocks = deferred_.size();
  const BlockBatch::Words activations = words(activations_, matmul.rows);
  if (deferred_.size() != blocks) weights = words(weights_, geometry_.n);  // it was flushed
  add_tile(matmul.rows, first, weights, activations);
}

// Passes that read the same planes share what their tiles gather, as long as nothing was flushed.
void ReferenceDevice::multiply_window(const WindowTile& tile, bool first) {
  if (batch_.full()) flush();
  const BlockBatch::Words weights = words(weights_, geometry_.n);
  if (tile.first_read && tile_ == 0) gathered_.clear();
  if (gathered_.size() <= tile_) gathered_.resize(tile_ + 1, kNotGathered);
  BlockBatch::Words& activations = gathered_[tile_];
  if (!activations.gathered) {
    std::uint8_t* room = nullptr;
    activations = batch_.gather(block_taps_->rows(), room);
    planes_.gather(*window_, *block_taps_, tile, room);
  }
  add_tile(block_taps_->rows(), first, weights, activations);
}

// Rows beyond those of a bank are in the other one.
void ReferenceDevice::add_tile(std::uint32_t rows, bool first, const BlockBatch::Words& weights,
                               const BlockBatch::Words& activations) {
  const std::uint32_t most = geometry_.accumulator_rows;
  if (first) banks_used_ += banks_of(rows);
  if (first || deferred(compute_bank_) == nullptr) {
    batch_.begin(rows, first ? nullptr : sums_of_banks(rows).data());
    for (std::uint32_t row = 0; row < rows; row += most) {
      const unsigned bank = row == 0 ? compute_bank_ : compute_bank_ ^ 1;
      deferred_.push_back({bank, batch_.blocks() - 1, row, std::min(rows - row, most)});
      last_block_[bank] = deferred_.size();
    }
  }
  batch_.add(weights, activations);
}

// The rows of the current block.
std::vector<std::uint32_t> ReferenceDevice::sums_of_banks(std::uint32_t rows) const {
  std::vector<std::uint32_t> sums = banks_[compute_bank_];
  const auto& other = banks_[compute_bank_ ^ 1];
  if (rows > geometry_.accumulator_rows) sums.insert(sums.end(), other.begin(), other.end());
  return sums;
}

}  // namespace gemm64
