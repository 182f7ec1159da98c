// SPDX-License-Identifier: Apache-2.0
// The memory at the accelerator's AXI ports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "host/device/pages.hpp"

namespace gemm64 {

/// An object with reads in flight.
class MemoryReader {
 public:
  /// Bytes that it may have been asked for are about to be written.
  virtual void before_write(std::uint64_t address, std::size_t bytes) = 0;

 protected:
  ~MemoryReader() = default;
};

/// Flat byte-addressed storage, zero until written. Address space and real memory are taken as far
/// as addresses are used, so a large size costs nothing.
class Memory {
 public:
  static constexpr std::uint64_t kDefaultBytes = std::uint64_t{4} << 30;

  /// Throws UsageError if `bytes` is 0; so do all below where the system refuses the memory.
  explicit Memory(std::uint64_t bytes = kDefaultBytes) : pages_(bytes) {}

  std::uint64_t size() const { return pages_.size(); }

  /// Copies `bytes` into the memory at `address`, or out of it. Throws std::out_of_range, and
  /// copies nothing, if any byte of the range is outside.
  void write(std::uint64_t address, const void* data, std::size_t bytes);
  void read(std::uint64_t address, void* data, std::size_t bytes) const;

  /// The bytes themselves, for the ports, which check the bounds once a burst.
  std::uint8_t* at(std::uint64_t address, std::size_t bytes) { return pages_.at(address, bytes); }
  // Writes in progress, from the acceptance of a burst to that of its answer. A read that is asked
  // for before the answer may find the old bytes or the new ones; here it is the old ones, so that
  // an accelerator that reads too early is found out.
  /// Called with each write before it begins. The reader outlives the memory's use.
  void add_reader(MemoryReader& reader) { readers_.push_back(&reader); }
  /// A write of `bytes` from `address` begins; keeps what is there.
  void begin_write(std::uint64_t address, std::size_t bytes);
  /// The oldest is answered.
  void end_write() { writes_.pop_front(); }
  void forget_writes() { writes_.clear(); }
  bool is_written() const { return !writes_.empty(); }
  /// What is read from `address` now, where some of it is being written; nothing otherwise.
  std::vector<std::uint8_t> bytes_before_writes(std::uint64_t address, std::size_t bytes);

  /// All of them, which reserves them all.
  std::uint8_t* data() { return pages_.at(0, size()); }
  const std::uint8_t* data() const { return pages_.at(0, size()); }

 private:
  void check(const char* what, std::uint64_t address, std::size_t bytes) const;

  struct Write {
    std::uint64_t address;
    std::vector<std::uint8_t> before;
  };

  std::vector<MemoryReader*> readers_;
  std::deque<Write> writes_;
  mutable Pages pages_;  // reserving more changes no byte
};

}  // namespace gemm64
