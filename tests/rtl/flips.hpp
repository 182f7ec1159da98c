// SPDX-License-Identifier: Apache-2.0
// The registers that flips.vlt opens in a model, bit by bit.
#pragma once

#include <verilated.h>
#include <verilated_sym_props.h>
#include <verilated_syms.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gemm64::rtl_test {

class Flips {
 public:
  explicit Flips(VerilatedContext& context) {
    for (const auto& [scope, found] : *context.scopeNameMap()) {
      if (found->varsp() == nullptr) continue;
      for (const auto& [name, var] : *found->varsp()) {
        if (var.isParam() || !var.isPublicRW()) continue;
        Register one{name, static_cast<std::uint8_t*>(var.datap()), var.entSize(),
                     static_cast<std::size_t>(var.packed().elements()), 0};
        one.bits = one.word_bits * (var.totalSize() / one.word_bytes);
        // Verilator describes an array of bits as if it were one number.
        if (one.name.rfind("sign_", 0) == 0 || one.name == "large_8") {
          one.bits = one.word_bits;
          one.word_bits = 1;
        }
        registers_.push_back(one);
        bits_ += one.bits;
      }
    }
  }

  std::size_t bits() const { return bits_; }
  void flip(std::size_t bit) {
    const Register& one = found(bit);
    std::uint8_t* const word = one.bytes + bit / one.word_bits * one.word_bytes;
    bit %= one.word_bits;
    word[bit / 8] = static_cast<std::uint8_t>(word[bit / 8] ^ 1u << bit % 8);
  }
  std::string in_words(std::size_t bit) const {
    const Register& one = found(bit);
    return one.name + ", bit " + std::to_string(bit);
  }

 private:
  struct Register {
    std::string name;
    std::uint8_t* bytes;
    std::size_t word_bytes, word_bits, bits;
  };

  /// Takes from `bit` what is before its register.
  const Register& found(std::size_t& bit) const {
    std::size_t i = 0;
    for (; bit >= registers_.at(i).bits; ++i) bit -= registers_[i].bits;
    return registers_[i];
  }

  std::vector<Register> registers_;
  std::size_t bits_ = 0;
};

}  // namespace gemm64::rtl_test
