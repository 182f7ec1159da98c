// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/fpga/serial_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "host/util/error.hpp"
#include "host/util/escaped.hpp"

namespace gemm64 {
namespace {

speed_t speed_of(std::uint32_t baud) {
  switch (baud) {
    case 115200:
      return B115200;
    case 1000000:
      return B1000000;
    case 3000000:
      return B3000000;
    default:
      throw UsageError(
          fmt::format("a serial line of {} baud; give 115200, 1000000 or 3000000", baud));
  }
}

/// Bytes as they are, in both directions.
bool make_raw(int descriptor, speed_t speed) {
  termios settings{};
  if (tcgetattr(descriptor, &settings) != 0) return false;
  cfmakeraw(&settings);
  settings.c_cflag |= CLOCAL | CREAD;
  settings.c_cflag &= ~static_cast<tcflag_t>(CSTOPB | CRTSCTS);
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 0;
  return cfsetspeed(&settings, speed) == 0 && tcsetattr(descriptor, TCSANOW, &settings) == 0;
}

}  // namespace

SerialLine::SerialLine(std::string path, std::uint32_t baud) : path_(std::move(path)) {
  const speed_t speed = speed_of(baud);
  descriptor_ = open(path_.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw UsageError(fmt::format("{}: cannot be opened as a serial line: {}", escaped(path_),
                                 std::strerror(errno)));
  }
  std::string why;
  if (isatty(descriptor_) == 0) {
    why = "is no serial line";
  } else if (ioctl(descriptor_, TIOCEXCL) != 0 || !make_raw(descriptor_, speed)) {
    why = fmt::format("cannot be set to {} baud: {}", baud, std::strerror(errno));
  }
  if (why.empty()) return;
  close(descriptor_);
  throw UsageError(fmt::format("{} {}", escaped(path_), why));
}

SerialLine::~SerialLine() {
  ioctl(descriptor_, TIOCNXCL);
  close(descriptor_);
}

void SerialLine::give_up(const std::string& why) const {
  throw DeviceError(fmt::format("{}: {}", escaped(path_), why));
}

bool SerialLine::wait(short event, std::chrono::milliseconds timeouts) {
  pollfd waits{descriptor_, event, 0};
  int found = 0;
  do {
    found = poll(&waits, 1, static_cast<int>(timeouts.count()));
  } while (found < 0 && errno == EINTR);
  if (found < 0) give_up(std::strerror(errno));
  if (found > 0 && (waits.revents & event) == 0) give_up("the serial line was closed");
  return found > 0;
}

void SerialLine::send(const void* data, std::size_t bytes, std::chrono::milliseconds timeouts) {
  const char* next = static_cast<const char*>(data);
  while (bytes != 0) {
    if (!wait(POLLOUT, timeouts)) give_up("the serial line takes nothing");
    const ssize_t sent = write(descriptor_, next, bytes);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) give_up(std::strerror(errno));
    if (sent <= 0) continue;
    next += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

std::size_t SerialLine::receive(void* data, std::size_t bytes, std::chrono::milliseconds timeouts) {
  char* next = static_cast<char*>(data);
  std::size_t got = 0;
  while (got != bytes && wait(POLLIN, timeouts)) {
    const ssize_t came = read(descriptor_, next + got, bytes - got);
    if (came == 0) give_up("the serial line was closed");
    if (came < 0 && errno != EAGAIN && errno != EINTR) give_up(std::strerror(errno));
    if (came > 0) got += static_cast<std::size_t>(came);
  }
  return got;
}

}  // namespace gemm64
