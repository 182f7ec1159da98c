// SPDX-License-Identifier: Apache-2.0
#include "host/cli/program.hpp"

int main(int argc, char** argv) {
#ifdef GEMM64_PLATFORM
  return gemm64::run_program(argc, argv,
                             {gemm64::add_firmware_command, gemm64::add_platform_sides});
#else
  return gemm64::run_program(argc, argv);
#endif
}
