// SPDX-License-Identifier: Apache-2.0
// Outputs that could not be written, while the program goes on with what else it owes.
#pragma once

#include <string>

#include "host/util/error.hpp"

namespace gemm64 {

/// Reports the loss on standard error and remembers it. From then on the program's exit code is 3
/// instead of 0. May be called by several threads.
void note_lost(const OutputError& error);

/// Runs `write`. Where it throws OutputError, the loss is noted and the caller goes on; returns
/// whether all was written.
template <class Write>
bool keep_going(Write&& write) {
  try {
    write();
    return true;
  } catch (const OutputError& error) {
    note_lost(error);
    return false;
  }
}

/// Was this output lost? By the name that was asked for.
bool is_lost(const std::string& file);
bool any_output_lost();

}  // namespace gemm64
