// SPDX-License-Identifier: Apache-2.0
#include "sim/memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>

#include "host/error.hpp"

namespace gemm64 {

Memory::Memory(std::uint64_t bytes) : size_(bytes), data_(nullptr) {
  if (bytes == 0) throw UsageError("the memory's size is 0 bytes; it must be at least 1");
  void* pages = MAP_FAILED;
  errno = ENOMEM;
  if (bytes <= std::numeric_limits<std::size_t>::max()) {
    // Without MAP_NORESERVE the kernel would count the whole range against its commit limit.
    pages = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (pages == MAP_FAILED) {
    throw UsageError("cannot reserve a memory of " + std::to_string(bytes) +
                     " bytes: " + std::strerror(errno));
  }
  data_ = static_cast<std::uint8_t*>(pages);
}

Memory::~Memory() { munmap(data_, static_cast<std::size_t>(size_)); }

void Memory::check(const char* what, std::uint64_t address, std::size_t bytes) const {
  if (address <= size_ && bytes <= size_ - address) return;
  std::ostringstream message;
  message << what << " of " << bytes << " bytes at address 0x" << std::hex << address << std::dec
          << " is outside the memory of " << size_ << " bytes";
  throw std::out_of_range(message.str());
}

void Memory::write(std::uint64_t address, const void* data, std::size_t bytes) {
  check("write", address, bytes);
  if (bytes != 0) std::memcpy(data_ + address, data, bytes);
}

void Memory::read(std::uint64_t address, void* data, std::size_t bytes) const {
  check("read", address, bytes);
  if (bytes != 0) std::memcpy(data, data_ + address, bytes);
}

}  // namespace gemm64
