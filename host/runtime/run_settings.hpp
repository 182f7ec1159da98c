// SPDX-License-Identifier: Apache-2.0
// What a user can say of a device, and of how a network or a product runs on it.
#pragma once

#include <optional>
#include <string>

#include "host/device/registry.hpp"
#include "host/runtime/run_options.hpp"
#include "host/runtime/setting.hpp"

namespace gemm64 {

/// How messages name options: --precision int8, or precision='int8'.
enum class Spelling { kOption, kArgument };

struct RunSettings {
  Precision precision = Precision::kFile;
  Accumulate accumulate = Accumulate::kDevice;
  std::optional<ResultCode> results;  // of quantized layers; empty: int8 where it can be
  CheckLevel check = CheckLevel::kLayers;
  bool convolutions = true;  // on the device
  bool lanes = true;         // depthwise ones on the depthwise unit
  bool one_program = false;

  /// Does only the host run a network? The reference device has no time and would only cut into
  /// slices what float32 can do itself.
  bool is_host_only(const std::string& device) const {
    return device == "reference" && precision == Precision::kFloat32;
  }
  /// Throws UsageError where they do not fit together on a device of that kind.
  void check_together(const std::string& device, Spelling spelling = Spelling::kOption) const;
  /// What quantized layers give.
  ResultCode result_code() const;
  /// `options` with all that is said here.
  RunOptions applied_to(RunOptions options) const;
};

/// Of a device: array, seed, memory.
const Settings<DeviceOptions>& device_settings();
/// Of a run.
const Settings<RunSettings>& run_settings();

}  // namespace gemm64
