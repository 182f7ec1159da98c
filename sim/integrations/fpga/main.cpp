// SPDX-License-Identifier: Apache-2.0
// A board without a board: prints the terminal at which it is, then runs until it is ended.
#include <cstdio>
#include <exception>

#include "sim/integrations/fpga/simulated_board.hpp"

int main() {
  try {
    gemm64::SimulatedBoard board;
    std::printf("%s\n", board.path().c_str());
    std::fflush(stdout);
    for (;;) board.run(1000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gemm64_board: %s\n", error.what());
    return 1;
  }
}
