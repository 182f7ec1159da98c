// SPDX-License-Identifier: Apache-2.0
// A serial line of this machine, for bytes as they are.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gemm64 {

class SerialLine {
 public:
  /// Opens the terminal `path` at `baud`, 8 bits, no parity, one stop bit, for this process only.
  /// Throws UsageError where it cannot be opened, is no terminal or cannot be as fast.
  SerialLine(std::string path, std::uint32_t baud);
  ~SerialLine();
  SerialLine(const SerialLine&) = delete;
  SerialLine& operator=(const SerialLine&) = delete;

  const std::string& path() const { return path_; }

  /// Sends all of it. Throws DeviceError where the line is gone or takes nothing for `timeouts`.
  void send(const void* data, std::size_t bytes, std::chrono::milliseconds timeouts);

  /// Up to `bytes` of what comes; fewer where nothing comes for `timeouts`. Throws DeviceError
  /// where the line is gone.
  std::size_t receive(void* data, std::size_t bytes, std::chrono::milliseconds timeouts);

 private:
  bool wait(short event, std::chrono::milliseconds timeouts);
  [[noreturn]] void give_up(const std::string& why) const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace gemm64
