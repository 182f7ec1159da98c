// SPDX-License-Identifier: Apache-2.0
// The program: its subcommands, and exceptions as exit codes.
#pragma once

#include <CLI/CLI.hpp>

#include "host/cli/commands.hpp"

namespace gemm64 {

/// What only programs that hold the SystemC platform can do.
struct PlatformCommands {
  void (*add_firmware)(CLI::App& app, int& result) = nullptr;
  AddSides add_sides = nullptr;  // of cosim
};

/// Runs the program and returns its exit code: 0 (everything checked held), 1 (it did not), 2 (bad
/// usage or input), 3 (an output was lost), 4 (nothing was to be checked). It ends the process
/// itself, with 130 and 143, where Ctrl-C and SIGTERM do.
int run_program(int argc, const char* const* argv, const PlatformCommands& platform = {});

}  // namespace gemm64
