// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/fpga/serial_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "host/device/geometry.hpp"
#include "host/util/error.hpp"
#include "host/util/escaped.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kFrameBytes = 9;
// Cycles of one wait: a millisecond of a board, a second of a slow simulation.
constexpr std::uint64_t kCyclesAtOnce = 1 << 16;

void put_word(std::uint8_t* bytes, std::uint32_t word) {
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

/// The name as its bytes come, the first one highest.
constexpr std::uint32_t wire_name() {
  return (bridge::kName & 0xff) << 16 | (bridge::kName & 0xff00) | bridge::kName >> 16;
}

}  // namespace

SerialDevice::SerialDevice(const std::string& path) : line_(path, bridge::kBaud) {
  // Zeros end whatever command was begun by who used the line before. What it answers comes before
  // the answer to the ping: status, name, size.
  const std::vector<std::uint8_t> zeros(kFrameBytes + bridge::kBlock);
  send(zeros.data(), zeros.size());
  ask(bridge::Command::kPing, 0, 0);
  std::uint64_t last = 0;
  for (std::size_t came = 0; (last & 0xffffffff00) != std::uint64_t{wire_name()} << 8; ++came) {
    if (came > kFrameBytes + bridge::kBlock) {
      throw DeviceError(
          fmt::format("{}: what answers is no gemm64; is it the right line, at {} baud?",
                      escaped(path), bridge::kBaud));
    }
    last = last << 8 | status();
  }
  memory_bytes_ = std::uint64_t{1} << (last & 0x1f);
}

void SerialDevice::send(const void* data, std::size_t bytes) { line_.send(data, bytes, kPatience); }

void SerialDevice::receive(void* data, std::size_t bytes) {
  const std::size_t got = line_.receive(data, bytes, kPatience);
  if (got == bytes) return;
  throw DeviceError(fmt::format("{}: the board has not answered for {} s ({} of {} bytes came)",
                                escaped(line_.path()), kPatience.count() / 1000, got, bytes));
}

void SerialDevice::ask(bridge::Command command, std::uint32_t address, std::uint32_t value) {
  std::array<std::uint8_t, kFrameBytes> bytes{static_cast<std::uint8_t>(command)};
  put_word(&bytes[1], address);
  put_word(&bytes[5], value);
  send(bytes.data(), bytes.size());
}

std::uint8_t SerialDevice::status() {
  std::uint8_t byte = 0;
  receive(&byte, 1);
  return byte;
}

std::uint32_t SerialDevice::word() {
  std::array<std::uint8_t, 4> bytes{};
  receive(bytes.data(), bytes.size());
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i) word |= std::uint32_t{bytes[i]} << (8 * i);
  return word;
}

void SerialDevice::check_response(std::uint8_t response, const char* access, std::uint32_t offset) {
  if (response == 0) return;
  throw DeviceError(fmt::format("{} of register 0x{:03x} was answered with bus error {}", access,
                                offset, response));
}

std::uint32_t SerialDevice::read_register(std::uint32_t offset) {
  ask(bridge::Command::kReadRegister, offset, 0);
  const std::uint8_t response = status();
  const std::uint32_t value = word();
  check_response(response, "a read", offset);
  return value;
}

void SerialDevice::write_register(std::uint32_t offset, std::uint32_t value) {
  ask(bridge::Command::kWriteRegister, offset, value);
  check_response(status(), "a write", offset);
}

void SerialDevice::check_range(std::uint64_t address, std::size_t bytes) const {
  if (address <= memory_bytes_ && bytes <= memory_bytes_ - address) return;
  throw std::out_of_range(fmt::format("{} bytes at address {} do not lie in a memory of {} bytes",
                                      bytes, address, memory_bytes_));
}

void SerialDevice::write_memory(std::uint64_t address, const void* data, std::size_t bytes) {
  check_range(address, bytes);
  const auto* next = static_cast<const std::uint8_t*>(data);
  for (std::size_t block = 0; bytes != 0; bytes -= block, next += block, address += block) {
    block = std::min(bytes, bridge::kBlock);
    ask(bridge::Command::kWriteMemory, static_cast<std::uint32_t>(address),
        static_cast<std::uint32_t>(block));
    send(next, block);
    status();
  }
}

void SerialDevice::read_memory(std::uint64_t address, void* data, std::size_t bytes) {
  check_range(address, bytes);
  auto* next = static_cast<std::uint8_t*>(data);
  for (std::size_t block = 0; bytes != 0; bytes -= block, next += block, address += block) {
    block = std::min(bytes, bridge::kBlock);
    ask(bridge::Command::kReadMemory, static_cast<std::uint32_t>(address),
        static_cast<std::uint32_t>(block));
    status();
    receive(next, block);
  }
}

bool SerialDevice::wait_interrupt(std::uint64_t max_cycles) {
  for (;;) {
    const std::uint64_t cycles = std::min(max_cycles, kCyclesAtOnce);
    ask(bridge::Command::kWait, 0, static_cast<std::uint32_t>(cycles));
    if (status() != 0) return true;
    max_cycles -= cycles;
    if (max_cycles == 0) return false;
  }
}

void SerialDevice::reset() {
  ask(bridge::Command::kReset, 0, 0);
  status();
}

DeviceKind serial_kind() {
  DeviceKind kind;
  kind.name = "serial";
  kind.summary = "a board at a serial line, as serial:/dev/ttyUSB0";
  kind.is_board = true;
  kind.arrays = {2, 4, 8, 16, 32, 64};
  kind.make_at = [](const DeviceOptions& options, const std::string& place) {
    auto device = std::make_unique<SerialDevice>(place);
    const auto n = static_cast<int>(read_geometry(*device).n);
    if (n != options.array) {
      throw UsageError(fmt::format("the board at {} has an array of {}x{}; give --array {}",
                                   escaped(place), n, n, n));
    }
    return device;
  };
  return kind;
}

}  // namespace gemm64
