// SPDX-License-Identifier: Apache-2.0
#include "host/device/device_memory.hpp"

#include <algorithm>
#include <cstring>

namespace gemm64 {

std::uint64_t OwnMemory::reach(std::uint64_t address, std::uint64_t bytes) {
  return address < size() ? std::min(bytes, size() - address) : 0;
}

const std::uint8_t* OwnMemory::run(std::uint64_t address, std::uint64_t& bytes) {
  const auto next = placed_.upper_bound(address);
  if (next != placed_.begin()) {
    const auto& [first, over] = *std::prev(next);
    if (address < over.end) {
      bytes = std::min(bytes, over.end - address);
      return over.bytes.data() + over.offset + (address - first);
    }
  }
  if (next != placed_.end()) bytes = std::min(bytes, next->first - address);
  return pages_.at(address, bytes);
}

const std::uint8_t* OwnMemory::read(std::uint64_t address, std::uint64_t bytes,
                                    std::vector<std::uint8_t>& scratch) {
  std::uint64_t some = bytes;
  const std::uint8_t* from = run(address, some);
  if (some == bytes) return from;
  scratch.resize(bytes);
  for (std::uint64_t done = 0; done < bytes; done += some) {
    some = bytes - done;
    from = run(address + done, some);
    std::memcpy(scratch.data() + done, from, some);
  }
  return scratch.data();
}

// Takes away what was placed from `first` to before `end`.
void OwnMemory::uncover(std::uint64_t first, std::uint64_t end) {
  auto it = placed_.upper_bound(first);
  if (it != placed_.begin()) --it;
  while (it != placed_.end() && it->first < end) {
    const std::uint64_t start = it->first;
    const Placed over = it->second;
    if (over.end <= first) {
      ++it;
      continue;
    }
    it = placed_.erase(it);
    if (start < first) placed_.insert({start, {first, over.bytes, over.offset}});
    if (end < over.end) placed_.insert({end, {over.end, over.bytes, over.offset + (end - start)}});
  }
}

void OwnMemory::write(std::uint64_t address, const void* data, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (!placed_.empty()) uncover(address, address + bytes);
  std::memcpy(pages_.at(address, bytes), data, bytes);
}

void OwnMemory::place(std::uint64_t address, const SharedBytes& bytes) {
  if (bytes.size() == 0) return;
  uncover(address, address + bytes.size());
  placed_.insert({address, {address + bytes.size(), bytes, 0}});
}

}  // namespace gemm64
