// SPDX-License-Identifier: Apache-2.0
// The registers inside a debug model, found by their names in the RTL (debug.vlt opens them).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "host/device/debug_device.hpp"
#include "host/device/depthwise.hpp"
#include "sim/waves/signal_view.hpp"

class VerilatedContext;

namespace gemm64 {

/// Looks into one Verilated model and changes it. Only the debug models can be looked into.
class Inside final : public Probe {
 public:
  /// `n`: columns of the array. Throws std::logic_error if the model lacks a signal.
  Inside(const VerilatedContext& context, unsigned n);

  Events events() const override;
  std::int8_t weight(unsigned row, unsigned column) const override;
  std::int8_t activation(unsigned row, unsigned column) const override;
  std::int32_t partial_sum(unsigned stage, unsigned column) const override;
  std::int32_t accumulator(unsigned bank, unsigned row, unsigned column) const override;

  LanesShift lanes_shift() const override;
  std::int8_t lane_value(unsigned row, unsigned column, unsigned lane) const override;
  std::int8_t lane_line(unsigned line, unsigned column, unsigned lane) const override;

  /// Flips the bit of a fault whose kind is a register, or a word of memory, of the accelerator.
  void flip(const Fault& fault);
  /// Flips a bit of the array that is not as it is stuck.
  void hold(const Fault& fault);

 private:
  struct Stage {
    std::uint8_t* weights;      // column by column, a column's words of weight_bytes_ bytes
    std::uint8_t* activations;  // row by row, n + 1 bytes each
    std::uint32_t* sums;
  };

  /// Of the depthwise lanes.
  struct LaneSignals {
    std::uint8_t* weights;
    std::size_t weight_word;  // bytes from nine taps of all lanes to the next nine
    std::uint8_t* window;
    std::size_t window_word;  // bytes from a value of all lanes to the next one
    std::uint32_t* sums;
    std::array<std::uint8_t*, kLaneLines> lines;  // word after word of all lanes
    const std::uint8_t *shift, *column, *rows;
  };

  struct RegisterBit {
    std::uint8_t* byte;
    unsigned bit;
  };

  void find_lanes(const VerilatedContext& context);
  void find_registers(const VerilatedContext& context);
  std::uint8_t* weight_byte(unsigned row, unsigned column) const;
  std::uint8_t* activation_byte(unsigned row, unsigned column) const;
  std::uint8_t* lane_value_byte(unsigned row, unsigned column, unsigned lane) const;
  std::uint8_t* lane_line_byte(unsigned line, unsigned column, unsigned lane) const;

  unsigned n_;
  unsigned stage_rows_;
  unsigned weight_bytes_;  // that a column's weights of a stage take in the model
  const void* events_ = nullptr;
  bool events_are_wide_ = false;  // more than 32 of them
  std::vector<Stage> stages_;
  std::vector<std::array<std::uint32_t*, 2>> columns_;  // of the accumulator: the rows of each bank
  std::uint8_t* table_ = nullptr;                       // of the element-wise unit, entry by entry
  std::uint16_t* vector_ = nullptr;                     // its rounded sums, lane by lane
  LaneSignals lanes_{};
  // Word after word of n bytes, or of 4n
  std::uint8_t* scratchpad_ = nullptr;   // words of its first bank
  std::uint8_t* second_bank_ = nullptr;  // and of its second, if it has one
  std::size_t first_words_ = 0;
  std::uint8_t* weight_buffer_ = nullptr;
  std::uint8_t* operand_buffer_ = nullptr;
  std::uint8_t* biases_ = nullptr;
  std::uint8_t* scales_ = nullptr;
  std::vector<RegisterBit> registers_;  // bit after bit of kFaultRegisters
};

/// Every signal that debug.vlt opens, by its name below the top module.
NamedSignals inside_views(VerilatedContext& context);

}  // namespace gemm64
