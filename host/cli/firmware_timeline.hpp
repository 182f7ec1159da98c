// SPDX-License-Identifier: Apache-2.0
// A run of firmware on one axis: functions, registers, interrupts, the accelerator, its bursts.
#pragma once

#include <string>

#include "sim/platform/platform.hpp"

namespace gemm64 {

/// Writes the events of a run as a trace that Perfetto opens. Throws OutputError where it is lost.
void write_firmware_timeline(const std::string& file, const FirmwareReport& report);

}  // namespace gemm64
