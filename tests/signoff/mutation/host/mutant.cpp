// SPDX-License-Identifier: Apache-2.0
// GEMM64_HOST_MUTANT selects a mutant. GEMM64_REACHED names a file; next to it, in one that ends in
// .map, a process and those that it starts note the mutants whose places they come by.
#include "mutant.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

unsigned char own[GEMM64_PLACES];

}  // namespace

extern "C" {
unsigned gemm64_host_mutant = 0;
unsigned char* gemm64_host_reached = own;
}

namespace {

// Before any object of a library is made.
__attribute__((constructor(101))) void select() {
  const char* const number = std::getenv("GEMM64_HOST_MUTANT");
  if (number != nullptr) {
    gemm64_host_mutant = static_cast<unsigned>(std::strtoul(number, nullptr, 10));
  }
  const char* const path = std::getenv("GEMM64_REACHED");
  if (path == nullptr) return;
  const int file = open((std::string(path) + ".map").c_str(), O_RDWR | O_CREAT, 0666);
  if (file < 0 || ftruncate(file, GEMM64_PLACES) != 0) std::abort();
  void* const map = mmap(nullptr, GEMM64_PLACES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) std::abort();
  close(file);
  gemm64_host_reached = static_cast<unsigned char*>(map);
}

}  // namespace
