// SPDX-License-Identifier: Apache-2.0
// The program: its subcommands, and exceptions as exit codes.
#pragma once

#include <CLI/CLI.hpp>

namespace gemm64 {

using AddCommand = void (*)(CLI::App& app, int& result);

/// Runs the program and returns its exit code: 0 (everything checked held), 1 (it did not), 2 (bad
/// usage or input), 3 (an output was lost), 4 (nothing was to be checked). It ends the process
/// itself, with 130 and 143, where Ctrl-C and SIGTERM do. `add_firmware` is for programs that hold
/// the SystemC platform.
int run_program(int argc, const char* const* argv, AddCommand add_firmware = nullptr);

}  // namespace gemm64
