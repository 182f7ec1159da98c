// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/memory.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace gemm64 {

void Memory::check(const char* what, std::uint64_t address, std::size_t bytes) const {
  if (address <= size() && bytes <= size() - address) return;
  std::ostringstream message;
  message << what << " of " << bytes << " bytes at address 0x" << std::hex << address << std::dec
          << " is outside the memory of " << size() << " bytes";
  throw std::out_of_range(message.str());
}

void Memory::write(std::uint64_t address, const void* data, std::size_t bytes) {
  check("write", address, bytes);
  if (bytes != 0) std::memcpy(at(address, bytes), data, bytes);
}

void Memory::read(std::uint64_t address, void* data, std::size_t bytes) const {
  check("read", address, bytes);
  if (bytes != 0) std::memcpy(data, pages_.at(address, bytes), bytes);
}

void Memory::begin_write(std::uint64_t address, std::size_t bytes) {
  writes_.push_back({address, {}});
  if (bytes == 0) return;
  for (MemoryReader* reader : readers_) reader->before_write(address, bytes);
  const std::uint8_t* const from = at(address, bytes);
  writes_.back().before.assign(from, from + bytes);
}

std::vector<std::uint8_t> Memory::bytes_before_writes(std::uint64_t address, std::size_t bytes) {
  const std::uint64_t end = address + bytes;
  const auto meets = [&](const Write& write) {
    return write.address < end && address < write.address + write.before.size();
  };
  if (bytes == 0 || std::none_of(writes_.begin(), writes_.end(), meets)) return {};
  const std::uint8_t* const now = at(address, bytes);
  std::vector<std::uint8_t> old(now, now + bytes);
  // Backwards, since the first of several writes to a place kept the oldest bytes.
  for (auto write = writes_.rbegin(); write != writes_.rend(); ++write) {
    if (!meets(*write)) continue;
    const std::uint64_t first = std::max(address, write->address);
    const std::uint64_t last = std::min(end, write->address + write->before.size());
    std::memcpy(old.data() + (first - address), write->before.data() + (first - write->address),
                last - first);
  }
  return old;
}

}  // namespace gemm64
