// SPDX-License-Identifier: Apache-2.0
// Can a program run to its end, as far as its commands by themselves tell?
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"

namespace gemm64::cycles {

/// "command 3 (STORE rows=64 count=1 address=4096 format=0)".
std::string describe(const std::vector<Command>& program, std::size_t index);

/// Throws UsageError: which command, and why.
[[noreturn]] void refuse(const std::vector<Command>& program, std::size_t index,
                         const std::string& why);

/// Throws UsageError, naming the command, if the accelerator would reject one, if FINISH is
/// not the last command and no other, and as check_balance() does.
void check_program(const std::vector<Command>& program, const Geometry& geometry,
                   const Command* set_window = nullptr);

}  // namespace gemm64::cycles
