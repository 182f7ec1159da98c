// SPDX-License-Identifier: Apache-2.0
#include "host/device/device_memory.hpp"

#include <algorithm>
#include <cstring>

namespace gemm64 {

std::uint64_t OwnMemory::reach(std::uint64_t address, std::uint64_t bytes) {
  return address < size() ? std::min(bytes, size() - address) : 0;
}

void OwnMemory::write(std::uint64_t address, const void* data, std::uint64_t bytes) {
  if (bytes != 0) std::memcpy(pages_.at(address, bytes), data, bytes);
}

}  // namespace gemm64
