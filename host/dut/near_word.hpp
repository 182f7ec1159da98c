// SPDX-License-Identifier: Apache-2.0
// The known word that an unknown one was probably meant to be.
#pragma once

#include <string>
#include <vector>

namespace gemm64::dut {

/// Returns the word of `known` with the fewest insertions, deletions and replacements from `word`;
/// empty if more than half of the word would change.
std::string near_word(const std::string& word, const std::vector<std::string>& known);

}  // namespace gemm64::dut
