// SPDX-License-Identifier: Apache-2.0
// Calls of ONNX Runtime in which it computes values of a file that may be damaged.
#pragma once

#include <functional>

namespace gemm64::ort {

/// Calls `action`. ONNX Runtime crashes at INT64_MIN / -1 on this thread; that becomes an Error,
/// and memory that `action` allocated is lost.
void call_guarded(const std::function<void()>& action);

/// From now on sessions run guarded, too, for a process that must survive: an interpreter. Only a
/// fault on the calling thread is caught, where ONNX Runtime computes small tensors. The program's
/// commands have a child process in place of this.
void guard_runs();
bool runs_are_guarded();

}  // namespace gemm64::ort
