// SPDX-License-Identifier: Apache-2.0
// What a wrong result of a user's array looks like: which cell, column or row, and which defect
// would explain all of it.
#pragma once

#include <string>

#include "host/dut/stimulus.hpp"

namespace gemm64::dut {

/// Why a run ended early, in words: a timeout with the state of each stream, a rule that was
/// broken, $finish, or the simulator's message. Empty if it did not.
std::string ending_in_words(const Description& description, const Observation& observation);

/// A tile and what the array made of it.
struct TileResult {
  Tile tile;
  Tile before;  // the tile that ran before; empty operands if there was none
  Values expected, got;
};

/// The defect that explains every value of `result`, such as "columns 2 and 3 are swapped" or "cell
/// row 1, column 2: its weight is taken as unsigned"; else which cells, rows or columns differ.
std::string diagnose(const Description& description, const TileResult& result);

}  // namespace gemm64::dut
