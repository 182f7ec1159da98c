// SPDX-License-Identifier: Apache-2.0
// What the bytes and rows of a work are, in the reader's own words: which element of which matrix.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/web/work.hpp"

namespace gemm64::web {

/// An element of a job's operands or results.
struct Element {
  enum class Matrix { kActivations, kWeights, kSecond, kResults };

  Matrix matrix = Matrix::kActivations;
  std::size_t job = 0;
  std::uint64_t row = 0;     // of weights one for each column of results
  std::uint64_t column = 0;  // of weights along K, of a convolution [channel][tap row][tap column]
};

/// What is at an address when its job has ended; nothing where it is no element, such as the
/// zeros that pad a tile. Results that another job reads are called results.
std::optional<Element> element_at(const Work& work, std::uint64_t address);

/// "A[3, 5] of the product", "channel 5 of pixel (2, 3) that enters the convolution".
std::string in_words(const Work& work, const Element& element);

/// The tile and row of activations that enters the array as number `ordinal` of the program:
/// {"job", "row" (of M), "k", "n" (tiles), "block" (of results, over the whole program)}. Null
/// after the last.
nlohmann::json row_entering(const Work& work, std::uint64_t ordinal);

/// The row of results that leaves over the results port in beat `ordinal`, snapshots of counters
/// not counted: {"job", "row" (of M), "n" (tile), "quarter" (of the row), "address"}; and the block
/// of results of that number: {"job", "row" (its first), "rows", "n"}. Null after the last.
nlohmann::json row_leaving(const Work& work, std::uint64_t ordinal);
nlohmann::json block_of_results(const Work& work, std::uint64_t ordinal);

}  // namespace gemm64::web
