// SPDX-License-Identifier: Apache-2.0
// Which commands are refused, as the tables of rtl/README.md say it.
#pragma once

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/device/window_order.hpp"

namespace gemm64 {

/// Why an accelerator of these sizes refuses the command behind those that `before` has seen,
/// whatever its memory holds; kNone where it takes it.
ErrorCode check_command(const Command& command, const WindowOrder& before,
                        const Geometry& geometry);

}  // namespace gemm64
