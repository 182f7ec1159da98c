// SPDX-License-Identifier: Apache-2.0
#include "host/device/pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kStep = std::uint64_t{64} << 20;

void* map(std::uint8_t* old, std::uint64_t old_bytes, std::uint64_t bytes) {
  errno = ENOMEM;
  if (bytes > std::numeric_limits<std::size_t>::max()) return MAP_FAILED;
  if (old != nullptr) {
    return mremap(old, static_cast<std::size_t>(old_bytes), static_cast<std::size_t>(bytes),
                  MREMAP_MAYMOVE);
  }
  // Without MAP_NORESERVE the kernel would count the whole range against its commit limit.
  return mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

Pages::Pages(std::uint64_t bytes) : size_(bytes) {
  if (bytes == 0) throw UsageError("the memory's size is 0 bytes; it must be at least 1");
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(reserved_));
}

void Pages::reserve(std::uint64_t bytes) {
  const std::uint64_t least = std::min(size_, (bytes + kStep - 1) / kStep * kStep);
  std::uint64_t wanted = std::min(size_, std::max(least, 2 * reserved_));
  void* pages = map(data_, reserved_, wanted);
  if (pages == MAP_FAILED && wanted > least) {
    wanted = least;
    pages = map(data_, reserved_, wanted);
  }
  if (pages == MAP_FAILED) {
    throw UsageError("cannot reserve a memory of " + std::to_string(wanted) +
                     " bytes for the device: " + std::strerror(errno));
  }
  // Large pages where there are any: touching the memory for the first time is then three times as
  // fast.
  static_cast<void>(madvise(pages, static_cast<std::size_t>(wanted), MADV_HUGEPAGE));
  data_ = static_cast<std::uint8_t*>(pages);
  reserved_ = wanted;
}

}  // namespace gemm64
