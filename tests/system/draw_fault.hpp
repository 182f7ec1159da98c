// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/check/failure.hpp"
#include "host/device/fault.hpp"
#include "tests/test.hpp"

namespace gemm64::system_test {

/// A fault in an array of n x n in the first `cycles` cycles: in a bit of an operand from
/// `least_of_8` on, of a sum from `least_of_32` on.
inline Fault draw_fault(std::mt19937& random, Fault::Kind kind, unsigned n, std::uint64_t cycles,
                        unsigned least_of_8, unsigned least_of_32) {
  using Kind = Fault::Kind;
  const bool operand = kind == Kind::kWeight || kind == Kind::kActivation ||
                       kind == Kind::kScratchpad || kind == Kind::kStoredWeight;
  Fault fault;
  fault.kind = kind;
  fault.clock = draw(random, 60, static_cast<unsigned>(cycles));
  fault.bank = draw(random, 0, 1);
  fault.row = kind == Kind::kPartialSum ? draw(random, 0, n / std::min(n, 4u) - 1)
              : kind == Kind::kAccumulator || kind == Kind::kScratchpad ? draw(random, 0, 39)
              : kind == Kind::kStoredWeight                             ? draw(random, 0, 63)
                                                                        : draw(random, 0, n - 1);
  fault.column = draw(random, 0, n - 1);
  fault.bit = operand ? draw(random, least_of_8, 7) : draw(random, least_of_32, 31);
  return fault;
}

/// Compares a diagnosis with the fault that it is of.
inline void expect_found(const Fault& fault, const Finding& finding) {
  using Kind = Fault::Kind;
  using Place = Finding::Place;
  const bool moves = fault.kind == Kind::kActivation;  // a column per cycle
  EXPECT_EQ(finding.place, fault.kind == Kind::kWeight       ? Place::kWeight
                           : moves                           ? Place::kActivation
                           : fault.kind == Kind::kPartialSum ? Place::kPartialSum
                                                             : Place::kAccumulator);
  EXPECT_EQ(finding.row, fault.row);
  if (fault.kind == Kind::kAccumulator) {
    EXPECT_EQ(finding.bank, fault.bank);
  } else {
    EXPECT_LE(finding.wrong_clock, finding.clock);
  }
  if (moves) {  // it may meet zeros first
    EXPECT_GE(finding.column, fault.column);
    EXPECT_EQ(finding.wrong_clock - fault.clock, finding.column - fault.column);
  } else {
    EXPECT_EQ(finding.column, fault.column);
  }
  // A weight stays until those of the next tile come; the element's row passes meanwhile.
  EXPECT_GE(finding.wrong_clock, fault.clock);
  EXPECT_TRUE(fault.kind != Kind::kPartialSum || finding.wrong_clock == fault.clock);
}

}  // namespace gemm64::system_test
