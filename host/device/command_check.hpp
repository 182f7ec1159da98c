// SPDX-License-Identifier: Apache-2.0
// Which commands are refused, as the tables of rtl/README.md say it.
#pragma once

#include <string>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/device/window_order.hpp"

namespace gemm64 {

/// Why a command is refused: the accelerator's code, and the reason in words; kNone, without words,
/// where it is taken.
struct Refusal {
  ErrorCode code = ErrorCode::kNone;
  std::string why;
};

/// Why an accelerator of these sizes refuses the command behind those that `before` has seen,
/// whatever its memory holds. Of several reasons the one that the accelerator tells.
Refusal check_command(const Command& command, const WindowOrder& before, const Geometry& geometry);

}  // namespace gemm64
