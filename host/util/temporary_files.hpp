// SPDX-License-Identifier: Apache-2.0
// Files of unfinished outputs, which a process leaves when it crashes.
#pragma once

namespace gemm64 {

/// Removes all files that a TemporaryName of this process or of its child processes names.
void remove_temporary_files();

}  // namespace gemm64
