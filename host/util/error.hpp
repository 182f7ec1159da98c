// SPDX-License-Identifier: Apache-2.0
// The kinds of failure that a caller can act on.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

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

/// A file that was asked for could not be written: a full disk, a closed pipe. What was computed is
/// as good as before; the program goes on with what else it owes, and exits with 3.
class OutputError : public std::runtime_error {
 public:
  OutputError(std::string file, const std::string& message)
      : std::runtime_error(message), file_(std::move(file)) {}

  /// As the option named it.
  const std::string& file() const { return file_; }

 private:
  std::string file_;
};

}  // namespace gemm64
