// SPDX-License-Identifier: Apache-2.0
// Which commands are refused, as the tables of rtl/README.md say it.
#pragma once

#include <optional>
#include <string>

#include "host/device/command_types.hpp"
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

/// The commands dispatched since the reset, as far as later ones depend on them.
class CommandOrder {
 public:
  /// The next command is dispatched.
  void add(const Command& command);
  const WindowOrder& windows() const { return windows_; }
  /// The last STORE that loaded settings of the element-wise unit, which KEEP needs.
  const std::optional<StoreCommand>& vector_settings() const { return vector_settings_; }

 private:
  WindowOrder windows_;
  std::optional<StoreCommand> vector_settings_;
};

/// Is the command legal on an accelerator of these sizes, as far as it does not depend on the
/// commands before it? It keeps the rules of rtl/gemm64.json, and its words are within the memory.
bool is_legal(const Command& command, const Geometry& geometry);

/// Why an accelerator of these sizes refuses the command after those that `before` has seen,
/// whatever its memory holds. Of several reasons the one that the accelerator reports.
Refusal check_command(const Command& command, const CommandOrder& before, const Geometry& geometry);

}  // namespace gemm64
