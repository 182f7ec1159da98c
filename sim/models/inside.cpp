// SPDX-License-Identifier: Apache-2.0
#include "sim/models/inside.hpp"

#include <verilated.h>
#include <verilated_sym_props.h>
#include <verilated_syms.h>

#include <map>
#include <stdexcept>
#include <string>

#include "sim/waves/signals.hpp"

namespace gemm64 {
namespace {

const VerilatedVar* find(const VerilatedContext& context, const std::string& scope,
                         const char* name) {
  const VerilatedScope* const found = context.scopeFind(scope.c_str());
  return found == nullptr ? nullptr : found->varFind(name);
}

const VerilatedVar& get(const VerilatedContext& context, const std::string& scope,
                        const char* name) {
  const VerilatedVar* const found = find(context, scope, name);
  if (found == nullptr) {
    throw std::logic_error("the model has no signal " + scope + "." + name +
                           "; see sim/waves/debug.vlt");
  }
  return *found;
}

// Words of a half of the lanes' weights.
constexpr std::size_t kWeightHalf = 8;

template <class Word>
void flip_bit(Word& word, unsigned bit) {
  word = static_cast<Word>(word ^ Word{1} << bit);
}

/// The words of a memory of one write and one read port, which fill whole bytes.
std::uint8_t* memory(const VerilatedContext& context, const std::string& scope) {
  return static_cast<std::uint8_t*>(get(context, scope, signals::kMemory).datap());
}

/// The signals that hold a register's bits, the lowest first: one for all, or one a bit.
std::vector<const char*> signals_of(const std::string& name) {
  static const std::map<std::string, std::vector<const char*>> known{
      {"CONTROL", {signals::kControlReset, signals::kControlClearCounters}},
      {"INTERRUPT", {signals::kInterruptDone, signals::kInterruptError}},
      {"WATCHDOG", {signals::kWatchdog}},
      {"RING_BASE_LOW", {signals::kRingBaseLow}},
      {"RING_BASE_HIGH", {signals::kRingBaseHigh}},
      {"RING_MASK", {signals::kRingMask}},
      {"RING_TAIL", {signals::kRingTail}},
      {"INTERRUPT_ENABLE", {signals::kInterruptEnable}},
      {"TENSOR_MEMORY", {signals::kTensorMemory}}};
  return known.at(name);
}

}  // namespace

Inside::Inside(const VerilatedContext& context, unsigned n) : n_(n) {
  // A Verilated array of words is plain memory, the lowest word first.
  const VerilatedVar& events = get(context, signals::kTop, signals::kEvents);
  events_ = events.datap();
  events_are_wide_ = events.entSize() == sizeof(std::uint64_t);
  for (unsigned g = 0;; ++g) {
    const std::string scope = signals::stage(g);
    if (find(context, scope, signals::kSums) == nullptr) break;
    const VerilatedVar& weights = get(context, scope, signals::kWeights);
    weight_bytes_ = weights.entSize();
    stages_.push_back(
        {static_cast<std::uint8_t*>(weights.datap()),
         static_cast<std::uint8_t*>(get(context, scope, signals::kActivations).datap()),
         static_cast<std::uint32_t*>(get(context, scope, signals::kSums).datap())});
  }
  if (stages_.empty()) throw std::logic_error("the model has no stages; see sim/waves/debug.vlt");
  stage_rows_ = n / static_cast<unsigned>(stages_.size());
  for (unsigned c = 0; c < n; ++c) {
    const auto bank = [&](unsigned index) {
      const char* const sums = signals::kStoredSums[index];
      return static_cast<std::uint32_t*>(
          get(context, signals::accumulator_column(c), sums).datap());
    };
    columns_.push_back({bank(0), bank(1)});
  }
  const auto vector = [&](const char* signal) {
    return get(context, signals::kVectorPath, signal).datap();
  };
  table_ = static_cast<std::uint8_t*>(vector(signals::kTable));
  vector_ = static_cast<std::uint16_t*>(vector(signals::kVectorSums));
  scratchpad_ = memory(context, signals::kScratchpad);
  const VerilatedVar& first = get(context, signals::kScratchpad, signals::kMemory);
  first_words_ = static_cast<std::size_t>(first.elements(1));
  if (find(context, signals::kSecondBank, signals::kMemory) != nullptr) {
    second_bank_ = memory(context, signals::kSecondBank);
  }
  weight_buffer_ = memory(context, signals::kWeightBuffer);
  operand_buffer_ = memory(context, signals::kOperandBuffer);
  biases_ = memory(context, signals::kBiases);
  scales_ = memory(context, signals::kScales);
  find_lanes(context);
  find_registers(context);
}

void Inside::find_lanes(const VerilatedContext& context) {
  const VerilatedVar& weights = get(context, signals::kLaneWeightRam, signals::kLaneWeights);
  const VerilatedVar& window = get(context, signals::kLanes, signals::kLaneWindow);
  const auto signal = [&](const char* name) { return get(context, signals::kLanes, name).datap(); };
  lanes_.weights = static_cast<std::uint8_t*>(weights.datap());
  lanes_.weight_word = weights.entSize();
  lanes_.window = static_cast<std::uint8_t*>(window.datap());
  lanes_.window_word = window.entSize();
  lanes_.sums = static_cast<std::uint32_t*>(signal(signals::kLaneSums));
  for (unsigned line = 0; line < kLaneLines; ++line) {
    lanes_.lines[line] = memory(context, signals::lane_line(line));
  }
  lanes_.shift = static_cast<std::uint8_t*>(signal(signals::kLanesShift));
  lanes_.column = static_cast<std::uint8_t*>(signal(signals::kLanesColumn));
  lanes_.rows = static_cast<std::uint8_t*>(signal(signals::kLanesRows));
}

void Inside::find_registers(const VerilatedContext& context) {
  for (const FaultRegister& known : kFaultRegisters) {
    const std::vector<const char*> names = signals_of(known.name);
    for (unsigned bit = 0; bit < known.bits; ++bit) {
      const bool whole = names.size() == 1;
      const VerilatedVar& var = get(context, signals::kRegisters, names[whole ? 0 : bit]);
      // Verilator keeps a signal in a little-endian word of 1, 2 or 4 bytes.
      const unsigned at = whole ? bit : 0;
      registers_.push_back({static_cast<std::uint8_t*>(var.datap()) + at / 8, at % 8});
    }
  }
}

std::uint8_t* Inside::weight_byte(unsigned row, unsigned column) const {
  return stages_[row / stage_rows_].weights + std::size_t{column} * weight_bytes_ +
         row % stage_rows_;
}

std::uint8_t* Inside::activation_byte(unsigned row, unsigned column) const {
  return stages_[row / stage_rows_].activations + std::size_t{row % stage_rows_} * (n_ + 1) +
         column;
}

std::uint8_t* Inside::lane_value_byte(unsigned row, unsigned column, unsigned lane) const {
  return lanes_.window + (row * kLaneWindow + column) * lanes_.window_word + lane;
}

std::uint8_t* Inside::lane_line_byte(unsigned line, unsigned column, unsigned lane) const {
  return lanes_.lines[line] + std::size_t{column} * n_ + lane;
}

Events Inside::events() const {
  return events_are_wide_ ? *static_cast<const std::uint64_t*>(events_)
                          : *static_cast<const std::uint32_t*>(events_);
}

std::int8_t Inside::weight(unsigned row, unsigned column) const {
  return static_cast<std::int8_t>(*weight_byte(row, column));
}

std::int8_t Inside::activation(unsigned row, unsigned column) const {
  return static_cast<std::int8_t>(*activation_byte(row, column));
}

std::int32_t Inside::partial_sum(unsigned stage, unsigned column) const {
  return static_cast<std::int32_t>(stages_[stage].sums[column]);
}

std::int32_t Inside::accumulator(unsigned bank, unsigned row, unsigned column) const {
  return static_cast<std::int32_t>(columns_[column][bank][row]);
}

Probe::LanesShift Inside::lanes_shift() const {
  return {*lanes_.shift != 0, *lanes_.column, *lanes_.rows};
}

std::int8_t Inside::lane_value(unsigned row, unsigned column, unsigned lane) const {
  return static_cast<std::int8_t>(*lane_value_byte(row, column, lane));
}

std::int8_t Inside::lane_line(unsigned line, unsigned column, unsigned lane) const {
  return static_cast<std::int8_t>(*lane_line_byte(line, column, lane));
}

void Inside::flip(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::kWeight:
      flip_bit(*weight_byte(fault.row, fault.column), fault.bit);
      break;
    case Fault::Kind::kActivation:
      flip_bit(*activation_byte(fault.row, fault.column), fault.bit);
      break;
    case Fault::Kind::kPartialSum:
      flip_bit(stages_[fault.row].sums[fault.column], fault.bit);
      break;
    case Fault::Kind::kAccumulator:
      flip_bit(columns_[fault.column][fault.bank][fault.row], fault.bit);
      break;
    case Fault::Kind::kTable:
      flip_bit(table_[fault.place], fault.bit);
      break;
    case Fault::Kind::kVector:
      flip_bit(vector_[fault.place], fault.bit);
      break;
    case Fault::Kind::kLaneWeight: {
      const std::size_t word = fault.bank * kWeightHalf + fault.row / kLaneTaps;
      flip_bit(lanes_.weights[word * lanes_.weight_word + std::size_t{fault.row % kLaneTaps} * n_ +
                              fault.column],
               fault.bit);
      break;
    }
    case Fault::Kind::kLaneValue:
      flip_bit(
          lanes_.window[(fault.bank * kLaneWindow + fault.row) * lanes_.window_word + fault.column],
          fault.bit);
      break;
    case Fault::Kind::kLaneSum:
      flip_bit(lanes_.sums[fault.place], fault.bit);
      break;
    case Fault::Kind::kLaneLine:
      flip_bit(*lane_line_byte(fault.bank, fault.row, fault.column), fault.bit);
      break;
    case Fault::Kind::kScratchpad:
      flip_bit(fault.row < first_words_
                   ? scratchpad_[std::size_t{fault.row} * n_ + fault.column]
                   : second_bank_[(fault.row - first_words_) * n_ + fault.column],
               fault.bit);
      break;
    case Fault::Kind::kStoredWeight:
      flip_bit(weight_buffer_[std::size_t{fault.row} * n_ + fault.column], fault.bit);
      break;
    case Fault::Kind::kStoredOperand:
      flip_bit(operand_buffer_[std::size_t{fault.row} * n_ + fault.column], fault.bit);
      break;
    case Fault::Kind::kStoredBias:
    case Fault::Kind::kStoredScale: {
      std::uint8_t* const set = (fault.kind == Fault::Kind::kStoredBias ? biases_ : scales_) +
                                std::size_t{4} * fault.row * n_;
      flip_bit(set[4 * fault.column + fault.bit / 8], fault.bit % 8);
      break;
    }
    case Fault::Kind::kRegister: {
      std::size_t at = fault.bit;
      for (unsigned i = 0; i < fault.place; ++i) at += kFaultRegisters[i].bits;
      flip_bit(*registers_[at].byte, registers_[at].bit);
      break;
    }
    default:
      throw std::logic_error(name(fault.kind) + std::string(": not inside the accelerator"));
  }
}

void Inside::hold(const Fault& fault) {
  const std::int32_t held = fault.kind == Fault::Kind::kWeight ? weight(fault.row, fault.column)
                            : fault.kind == Fault::Kind::kActivation
                                ? activation(fault.row, fault.column)
                                : partial_sum(fault.row, fault.column);
  if ((held >> fault.bit & 1) != *fault.stuck) flip(fault);
}

NamedSignals inside_views(VerilatedContext& context) {
  NamedSignals views;
  for (const auto& [scope, found] : *context.scopeNameMap()) {
    const std::string below = std::string(scope) + ".";
    if (found->varsp() == nullptr || below.rfind(signals::kTop + ".", 0) != 0) continue;
    for (const auto& [name, var] : *found->varsp()) {
      if (var.isParam() || var.entSize() == 0) continue;
      const std::size_t words = var.udims() == 0 ? 0 : var.totalSize() / var.entSize();
      const auto bits = static_cast<std::size_t>(var.isPublicRW() ? var.packed().elements() : 0);
      views.emplace_back(
          below.substr(signals::kTop.size() + 1) + name,
          SignalView{var.datap(), words == 0 ? var.totalSize() : var.entSize(), words, bits});
    }
  }
  return views;
}

}  // namespace gemm64
