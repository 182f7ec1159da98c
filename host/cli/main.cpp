// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "host/cli/program.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Freed blocks stay in the process, because the kernel clears each page that it provides again:
  // that took an eighth of the processor time of AlexNet.
  mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
#ifdef GEMM64_PLATFORM
  return gemm64::run_program(argc, argv,
                             {gemm64::add_firmware_command, gemm64::add_platform_sides});
#else
  return gemm64::run_program(argc, argv);
#endif
}
