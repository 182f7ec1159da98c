// SPDX-License-Identifier: Apache-2.0
// --help: a command's options in groups, with an example.
#pragma once

#include <CLI/CLI.hpp>

namespace gemm64 {

/// To be called once all commands stand.
void arrange_help(CLI::App& app);

}  // namespace gemm64
