// SPDX-License-Identifier: Apache-2.0
#include "sim/inside.hpp"

#include <verilated.h>
#include <verilated_sym_props.h>
#include <verilated_syms.h>

#include <stdexcept>
#include <string>

#include "sim/signals.hpp"

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
    throw std::logic_error("the model has no signal " + scope + "." + name + "; see sim/debug.vlt");
  }
  return *found;
}

void flip_bit(std::uint32_t& word, unsigned bit) { word ^= std::uint32_t{1} << bit; }

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
  if (stages_.empty()) throw std::logic_error("the model has no stages; see sim/debug.vlt");
  stage_rows_ = n / static_cast<unsigned>(stages_.size());
  for (unsigned c = 0; c < n; ++c) {
    const auto bank = [&](unsigned index) {
      const char* const sums = signals::kStoredSums[index];
      return static_cast<std::uint32_t*>(
          get(context, signals::accumulator_column(c), sums).datap());
    };
    columns_.push_back({bank(0), bank(1)});
  }
}

std::uint8_t* Inside::weight_byte(unsigned row, unsigned column) const {
  return stages_[row / stage_rows_].weights + column * weight_bytes_ + row % stage_rows_;
}

std::uint8_t* Inside::activation_byte(unsigned row, unsigned column) const {
  return stages_[row / stage_rows_].activations + (row % stage_rows_) * (n_ + 1) + column;
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

void Inside::flip(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::kWeight:
      *weight_byte(fault.row, fault.column) ^= static_cast<std::uint8_t>(1u << fault.bit);
      break;
    case Fault::Kind::kActivation:
      *activation_byte(fault.row, fault.column) ^= static_cast<std::uint8_t>(1u << fault.bit);
      break;
    case Fault::Kind::kPartialSum:
      flip_bit(stages_[fault.row].sums[fault.column], fault.bit);
      break;
    case Fault::Kind::kAccumulator:
      flip_bit(columns_[fault.column][fault.bank][fault.row], fault.bit);
      break;
    case Fault::Kind::kHang:
      break;
  }
}

}  // namespace gemm64
