// SPDX-License-Identifier: Apache-2.0
// The RTL of a board, compiled by Verilator, its serial pins at a pseudo-terminal.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

class VerilatedContext;
class Vgemm64_board;

namespace gemm64 {

/// One end of a serial line, a cycle at a time: bytes that are sent bit by bit, and those that
/// come.
class SerialPin {
 public:
  explicit SerialPin(unsigned divisor) : divisor_(divisor) {}

  void send(std::uint8_t byte) { outgoing_.push_back(byte); }
  /// Bytes that are not sent yet.
  std::size_t waiting() const { return outgoing_.size(); }
  /// The level of the line in the next cycle.
  bool drive();
  /// Takes the level of the other line in this cycle; true where it ends `byte`.
  bool sample(bool level, std::uint8_t& byte);

 private:
  unsigned divisor_;
  std::deque<std::uint8_t> outgoing_;
  unsigned out_bits_ = 0x1;  // what is sent, the next bit lowest
  unsigned out_left_ = 0;    // cycles
  unsigned in_bits_ = 0;
  unsigned in_cycles_ = 0;  // since the start bit began; 0: none is in progress
};

class SimulatedBoard {
 public:
  /// Opens a pseudo-terminal. Throws std::system_error where there is none left.
  SimulatedBoard();
  ~SimulatedBoard();
  SimulatedBoard(const SimulatedBoard&) = delete;
  SimulatedBoard& operator=(const SimulatedBoard&) = delete;

  /// The terminal at which the board is.
  const std::string& path() const { return path_; }

  /// Simulates as long as there is something to do, and waits for `milliseconds` at most where
  /// there is not.
  void run(int milliseconds);

  std::uint64_t cycles() const { return cycles_; }

 private:
  void step();

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vgemm64_board> model_;
  SerialPin pin_;
  std::string path_;
  int terminal_ = -1;  // the board's end
  int held_ = -1;      // the host's, so that it stays while no host has it open
  std::uint64_t cycles_ = 0;
  std::uint64_t last_byte_ = 0;  // clock in which one last came or went
};

}  // namespace gemm64
