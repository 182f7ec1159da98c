// SPDX-License-Identifier: Apache-2.0
// A fault to be put inside the accelerator, as the user names it.
#pragma once

#include <cstdint>
#include <string>

#include "host/device/geometry.hpp"

namespace gemm64 {

/// One flipped bit of one register, or a memory that stops answering, at one clock.
struct Fault {
  enum class Kind {
    kWeight,       // register of the array that holds a weight
    kActivation,   // register of the array that holds an activation
    kPartialSum,   // register behind a stage of the array
    kAccumulator,  // word of the accumulator
    kHang          // a memory port never answers again
  };
  enum class Port { kWeights, kData, kResults };

  Kind kind = Kind::kWeight;
  std::uint64_t clock = 0;  // the register holds the flipped bit from the start of this clock on
  unsigned bank = 0;        // of the accumulator
  unsigned row = 0;         // of K for operands, the stage of partial sums, of M in the accumulator
  unsigned column = 0;      // of N
  unsigned bit = 0;         // 0 to 7 of operands, 0 to 31 of sums
  Port port = Port::kWeights;
};

/// The forms that parse_fault() takes, for help texts and messages.
extern const char* const kFaultForms;

/// Reads "weight:ROW,COLUMN:BIT@CLOCK" and its like. Throws UsageError, with the forms, where it is
/// none.
Fault parse_fault(const std::string& text);

/// Throws UsageError where the place does not exist in such an accelerator, and says what does.
void check_fault(const Fault& fault, const Geometry& geometry);

/// The fault as parse_fault() reads it, and in words: "bit 7 of the weight at row 3, column 5".
std::string to_string(const Fault& fault);
std::string in_words(const Fault& fault);

}  // namespace gemm64
