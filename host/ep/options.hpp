// SPDX-License-Identifier: Apache-2.0
// Options of a session of ONNX Runtime's that are for this provider.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/device/fault.hpp"
#include "host/runtime/run_settings.hpp"

namespace gemm64::ep {

/// What ONNX Runtime calls the provider.
inline constexpr const char* kProviderName = "Gemm64ExecutionProvider";

/// What becomes of a session, in addition to what the device and the run are.
struct ProviderSettings {
  std::string device = "rtl";
  std::string report;          // takes the report of the last run; empty: no file
  std::string trace;           // takes the waveform; empty: none
  std::string trace_window;    // "A:B"; empty: all cycles
  std::vector<Fault> faults;   // of `inject`
  std::uint32_t watchdog = 0;  // 0: as the driver chooses
  bool progress = false;
};

struct ProviderOptions : DeviceOptions, RunSettings, ProviderSettings {};

/// Options by name, as a session has them. Throws UsageError, which names the option, where one is
/// not known, a value is none that it accepts, or two do not go together.
ProviderOptions parse_options(const std::vector<std::pair<std::string, std::string>>& given);

}  // namespace gemm64::ep
