// SPDX-License-Identifier: Apache-2.0
// Inputs that can be read once only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace gemm64 {

/// Returns all that standard input ("-") or a pipe gives, however often it is asked for; nullptr if
/// `path` is neither. Throws UsageError if it cannot be read, gives more than `most` bytes, or
/// standard input is neither a pipe nor a file.
std::shared_ptr<const std::string> piped_contents(const std::string& path, std::uint64_t most);

}  // namespace gemm64
