// SPDX-License-Identifier: Apache-2.0
// One product as it is in memory, commands and all, and what must lie there afterwards. It shares
// no code with the driver: neither its plan nor its layout nor its arithmetic.
#pragma once

#include "host/device/registers.hpp"
#include "host/device/snapshot.hpp"
#include "tests/test.hpp"

namespace gemm64::system_test {

/// One product of m x k activations and k x n weights on an array of `array` x `array`, `block`
/// rows at a time.
struct GemmJob {
  unsigned array, m, k, n, block;
  bool accumulate = true;  // on the device; else each tile's product comes back
  bool retain = true;  // activations stay on chip; else they are loaded for each tile of columns
  ResultCode format = ResultCode::kInt32;
  ResultCode rest_format = format;  // of the rows that make no whole block
  unsigned gap = 0;                 // rows in memory between tiles
};

class GemmImage {
 public:
  GemmImage(const GemmJob& job, std::size_t memory_bytes)
      : memory(memory_bytes), job_(job), tiles_k_(ceil(job.k)), tiles_n_(ceil(job.n)) {
    std::mt19937 random(job.m * 10000 + job.k * 100 + job.n);
    const auto operand = [&random] {  // never zero: a product that stays away must be missed
      return static_cast<std::int8_t>(random() | 1);
    };
    for (unsigned i = 0; i < job.m * job.k; ++i) a_.push_back(operand());
    for (unsigned i = 0; i < job.k * job.n; ++i) w_.push_back(operand());
    const double spread = 5000 * std::sqrt(static_cast<double>(job.k));  // of sums
    for (unsigned c = 0; c < tiles_n_ * job.array; ++c) {
      bias_.push_back(static_cast<std::int32_t>(random() % 40001) - 20000);
      scale_.push_back(
          static_cast<float>(60 / spread * (1 + static_cast<double>(random() % 100) / 100)));
    }
    commands_.reserve(16);  // add() gives references
    pack_weights();
    pack_activations();
    pack_parameters();
    // Rows in blocks of job.block, and a last smaller one; each kind has commands of its own, and
    // results of its own.
    const unsigned whole = job.m / job.block, rest = job.m % job.block;
    results_ = place_;
    for (std::size_t i = results_; i < memory.size(); ++i) memory[i] = 0xa5;
    if (whole > 0) add_blocks(0, job.block, whole, job.format);
    if (rest > 0) add_blocks(whole * job.block, rest, 1, job.rest_format);
    results_end_ = place_;
    Command fence{Opcode::kFence, flag::kSnapshot};
    fence.set_address(results_end_);
    commands_.push_back(fence);
    commands_.push_back({Opcode::kFinish});
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      commands_[i].encode(&memory[i * kCommandBytes]);
    }
    if (end() > memory.size()) throw std::runtime_error("the job is too large for the memory");
    expected_.assign(memory.begin() + static_cast<std::ptrdiff_t>(results_),
                     memory.begin() + static_cast<std::ptrdiff_t>(results_end_));
    for (const auto& [address, byte] : written_) expected_.at(address - results_) = byte;
  }

  /// Registers to be written, in order.
  std::vector<std::array<std::uint32_t, 2>> script() const {
    return {{reg::kControl, 3},  // a soft reset first, and counters at zero
            {reg::kRingBaseLow, 0},
            {reg::kRingMask, 15},
            {reg::kRingTail, static_cast<std::uint32_t>(commands_.size())}};
  }

  std::vector<std::uint8_t> memory;
  std::uint64_t first() const { return results_; }
  /// A snapshot of the counters follows the results.
  std::uint64_t snapshot() const { return results_end_; }
  std::uint64_t end() const { return results_end_ + kSnapshotBytes; }
  /// Bytes from first() to snapshot(), those between tiles untouched.
  const std::vector<std::uint8_t>& expected() const { return expected_; }
  /// Beats of parameters that are loaded.
  unsigned parameter_words() const { return parameter_words_; }

 private:
  unsigned ceil(unsigned x) const { return (x + job_.array - 1) / job_.array; }
  std::int32_t a(unsigned row, unsigned k) const { return k < job_.k ? a_[row * job_.k + k] : 0; }
  std::int32_t w(unsigned k, unsigned column) const {
    return k < job_.k && column < job_.n ? w_[k * job_.n + column] : 0;
  }
  void put(std::int32_t byte) { memory.at(place_++) = static_cast<std::uint8_t>(byte); }
  void put_word(std::uint32_t word) {
    for (unsigned i = 0; i < 4; ++i) put(static_cast<std::int32_t>(word >> (8 * i) & 0xff));
  }

  void pack_weights() {
    place_ = weights_ = 4096 - job_.array;  // a page ends after the first word
    for (unsigned nt = 0; nt < tiles_n_; ++nt) {
      for (unsigned kt = 0; kt < tiles_k_; ++kt) {
        for (unsigned c = 0; c < job_.array; ++c) {
          for (unsigned k = 0; k < job_.array; ++k) {
            put(w(kt * job_.array + k, nt * job_.array + c));
          }
        }
      }
    }
  }

  void pack_activations() {
    activations_ = place_;
    for (unsigned kt = 0; kt < tiles_k_; ++kt) {
      for (unsigned row = 0; row < job_.m + job_.gap; ++row) {
        for (unsigned k = 0; k < job_.array; ++k) {
          put(row < job_.m ? a(row, kt * job_.array + k) : 99);
        }
      }
    }
  }

  void pack_parameters() {
    parameters_ = place_;
    for (unsigned nt = 0; nt < tiles_n_; ++nt) {
      for (unsigned c = 0; c < job_.array; ++c) {
        put_word(static_cast<std::uint32_t>(bias_[nt * job_.array + c]));
      }
      for (unsigned c = 0; c < job_.array; ++c) {
        std::uint32_t bits;
        std::memcpy(&bits, &scale_[nt * job_.array + c], sizeof bits);
        put_word(bits);
      }
    }
  }

  void add_blocks(unsigned row, unsigned rows, unsigned blocks, ResultCode format) {
    const bool narrow = format != ResultCode::kInt32;
    const unsigned row_bytes = job_.array * (narrow ? 1 : 4);
    const unsigned stride = rows * blocks + job_.gap;
    if (narrow) {
      if (!job_.accumulate) throw std::logic_error("8-bit results of parts of sums mean nothing");
      add(Opcode::kLoadParameters, 0, 8 * tiles_n_, blocks, 0, parameters_);
      parameter_words_ += 8 * tiles_n_ * blocks;
    }
    add(Opcode::kLoadWeights, 0, tiles_n_ * tiles_k_ * job_.array, blocks, 0, weights_);
    Command& load = add(Opcode::kLoadActivations, rows, tiles_k_, job_.retain ? 1 : tiles_n_,
                        blocks, activations_ + row * job_.array);
    load.stride = job_.m + job_.gap;
    Command& matmul = add(Opcode::kMatmul, rows, tiles_k_, tiles_n_, blocks, 0);
    matmul.flags = (job_.accumulate ? flag::kAccumulate : 0) | (job_.retain ? flag::kRetain : 0);
    const unsigned parts = job_.accumulate ? 1 : tiles_k_;
    Command& store = add(Opcode::kStore, rows, tiles_n_ * parts, 0, blocks, place_);
    store.stride = stride;
    store.format = static_cast<std::uint32_t>(format);
    const bool is_signed = format == ResultCode::kInt8;
    const int zero = is_signed ? -7 : 131, low = is_signed ? -100 : 3, high = is_signed ? 90 : 240;
    if (narrow) {
      store.zero = static_cast<std::uint8_t>(zero);
      store.low = static_cast<std::uint8_t>(low);
      store.high = static_cast<std::uint8_t>(high);
    }
    for (unsigned tile = 0; tile < tiles_n_ * parts; ++tile) {
      for (unsigned r = 0; r < rows * blocks; ++r) {
        std::uint64_t to = place_ + (std::uint64_t{tile} * stride + r) * row_bytes;
        for (unsigned i = 0; i < job_.array; ++i) {
          const unsigned column = tile / parts * job_.array + i;
          const std::int32_t value = sum(row + r, column, tile % parts);
          if (narrow) {
            written_.push_back({to++, result(value, column, zero, low, high)});
            continue;
          }
          for (unsigned byte = 0; byte < 4; ++byte) {
            written_.push_back({to++, static_cast<std::uint8_t>(value >> (8 * byte))});
          }
        }
      }
    }
    place_ += std::uint64_t{tiles_n_ * parts} * stride * row_bytes;
  }

  Command& add(Opcode opcode, unsigned rows, unsigned count, unsigned passes, unsigned blocks,
               std::uint64_t address) {
    Command command{opcode, 0, rows, count, passes, blocks};
    command.set_address(address);
    commands_.push_back(command);
    return commands_.back();
  }

  /// A sum over all of K, or over tile `part` of it.
  std::int32_t sum(unsigned row, unsigned column, unsigned part) const {
    const unsigned depth = job_.accumulate ? tiles_k_ * job_.array : job_.array;
    std::int32_t sum = 0;
    for (unsigned k = part * depth; k < (part + 1) * depth; ++k) sum += a(row, k) * w(k, column);
    return sum;
  }

  /// clamp(rint(float32(sum + bias) * scale) + zero, low, high), in the processor's own floats.
  std::uint8_t result(std::int32_t sum, unsigned column, int zero, int low, int high) const {
    const float scaled = static_cast<float>(sum + bias_[column]) * scale_[column];
    const int moved = static_cast<int>(std::nearbyintf(scaled)) + zero;
    return static_cast<std::uint8_t>(std::clamp(moved, low, high));
  }

  GemmJob job_;
  unsigned tiles_k_, tiles_n_;
  std::vector<std::int8_t> a_, w_;
  std::vector<std::int32_t> bias_;
  std::vector<float> scale_;
  std::vector<Command> commands_;
  std::vector<std::pair<std::uint64_t, std::uint8_t>> written_;
  std::vector<std::uint8_t> expected_;
  unsigned parameter_words_ = 0;
  std::uint64_t place_ = 0, weights_ = 0, activations_ = 0, parameters_ = 0, results_ = 0,
                results_end_ = 0;
};

}  // namespace gemm64::system_test
