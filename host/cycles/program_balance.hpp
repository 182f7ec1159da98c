// SPDX-License-Identifier: Apache-2.0
// Do a program's loads, MATMULs and STOREs fit together?
#pragma once

#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"

namespace gemm64::cycles {

/// Throws UsageError, naming the command, if the loads do not bring the very words that the
/// MATMULs take, or the STOREs do not take the very blocks that these give. `set_window`: the
/// SET_WINDOW that was the last before the program; null where there was none.
void check_balance(const std::vector<Command>& program, const Geometry& geometry,
                   const Command* set_window);

}  // namespace gemm64::cycles
