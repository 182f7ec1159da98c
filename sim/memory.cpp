// SPDX-License-Identifier: Apache-2.0
#include "sim/memory.hpp"

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

}  // namespace gemm64
