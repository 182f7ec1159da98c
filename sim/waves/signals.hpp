// SPDX-License-Identifier: Apache-2.0
// Names of signals inside the accelerator, as the simulation and waveforms call them.
#pragma once

#include <string>

namespace gemm64::signals {

/// Scopes, and the signals in them.
inline const std::string kTop = "gemm64.gemm64";
inline constexpr const char* kEvents = "events";  // what counts in this cycle

/// The register file, and what holds the bits of each register that the host can write.
inline const std::string kRegisters = kTop + ".u_registers";
inline constexpr const char* kControlReset = "reset_o";
inline constexpr const char* kControlClearCounters = "clear_counters_o";
inline constexpr const char* kInterruptDone = "done_q";
inline constexpr const char* kInterruptError = "error_q";
inline constexpr const char* kInterruptEnable = "interrupt_enable_q";
inline constexpr const char* kTensorMemory = "tensor_o";
inline constexpr const char* kWatchdog = "watchdog_o";
inline constexpr const char* kRingBaseLow = "ring_base_low_q";
inline constexpr const char* kRingBaseHigh = "ring_base_high_q";
inline constexpr const char* kRingMask = "ring_mask_o";
inline constexpr const char* kRingTail = "ring_tail_o";

/// A stage of the array.
inline std::string stage(unsigned index) {
  return kTop + ".u_array.stage[" + std::to_string(index) + "].u_stage";
}
inline constexpr const char* kActivations = "activation_q";  // N + 1 words for each row
inline constexpr const char* kWeights = "weight_q";          // a word a column, a byte a row
inline constexpr const char* kSums = "sum_o";                // a lane of 32 bits a column

/// A column of the accumulator.
inline std::string accumulator_column(unsigned index) {
  return kTop + ".u_accumulator.column[" + std::to_string(index) + "].u_column";
}
inline constexpr const char* kStoredSums[] = {"sums_0_q",
                                              "sums_1_q"};           // of each bank, a word a row
inline constexpr const char* kOldSums[] = {"read_0_q", "read_1_q"};  // of each bank
inline constexpr const char* kAddedSum = "sum_i";

/// The element-wise unit.
inline const std::string kVectorPath = kTop + ".u_output.u_results.u_vector";
inline constexpr const char* kTable = "table_q";        // a byte an entry
inline constexpr const char* kVectorSums = "whole_10";  // a word of 11 bits a lane

/// The depthwise lanes. Their weights lie word by word, nine taps a word, a byte a lane.
inline const std::string kLanes = kTop + ".u_lanes";
inline constexpr const char* kLaneWindow = "window_q";  // a word of N bytes for each place
inline constexpr const char* kLaneSums = "sum_4_q";     // a lane of 32 bits
inline constexpr const char* kLanesShift = "shift_1_q";
inline constexpr const char* kLanesColumn = "column_1_q";
inline constexpr const char* kLanesRows = "row_q";
inline const std::string kLaneWeightRam = kLanes + ".u_weights";
inline constexpr const char* kLaneWeights = "memory_q";
/// The memory of the row that came `index` + 1 rows before the last one.
inline std::string lane_line(unsigned index) {
  return kLanes + ".above[" + std::to_string(index + 1) + "].kept.u_line";
}

/// What a memory of one write and one read port holds: a word of N bytes a place.
inline constexpr const char* kMemory = "memory_q";
inline const std::string kScratchpad = kTop + ".u_activations.u_scratchpad.u_first";
/// Its words after those, where it has a second bank.
inline const std::string kSecondBank = kTop + ".u_activations.u_scratchpad.banks.u_second";
inline const std::string kWeightBuffer = kTop + ".u_weights.u_buffer";
inline const std::string kOperandBuffer = kTop + ".u_output.u_operands.u_buffer";
/// A word of N biases or scales of four bytes for each set.
inline const std::string kBiases = kTop + ".u_output.u_parameter_sets.u_biases";
inline const std::string kScales = kTop + ".u_output.u_parameter_sets.u_scales";

/// "scope.signal", and "scope.signal[index]" for a word of an array.
inline std::string in(const std::string& scope, const char* signal) { return scope + "." + signal; }
inline std::string in(const std::string& scope, const char* signal, std::size_t index) {
  return in(scope, signal) + "[" + std::to_string(index) + "]";
}

}  // namespace gemm64::signals
