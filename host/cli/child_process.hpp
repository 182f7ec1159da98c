// SPDX-License-Identifier: Apache-2.0
// Work that a damaged file may crash, in a process of its own.
#pragma once

#include <functional>
#include <string>

namespace gemm64 {

/// Calls `action` in a child process, which ends as the program does: exceptions and the exit code
/// are handled by the caller there. Signals that end the program end the child. Returns the child's
/// exit code; if the child crashed, prints that ONNX Runtime did over `model`, and returns 2.
int run_in_child(const std::string& model, const std::function<int()>& action);

/// Is this process such a child? Then it must not return to the caller of the program.
bool is_child_process();

}  // namespace gemm64
