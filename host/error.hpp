// SPDX-License-Identifier: Apache-2.0
// The two kinds of failure that a caller can act on.
#pragma once

#include <stdexcept>

namespace gemm64 {

/// The request is at fault: an option, a size, a file. The message names what was wrong, where, and
/// what would be right; the program prints it as one line and exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device is at fault: a bus error, a rejected command, a wait that reached its limit.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gemm64
