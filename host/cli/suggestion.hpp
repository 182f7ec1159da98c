// SPDX-License-Identifier: Apache-2.0
// The message on a command or an option that does not exist, with the nearest existing names.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gemm64 {

/// Returns the names that `word` starts, or else those at the smallest distance (insertions,
/// deletions, replacements and swaps of neighbors), if that is at most a third of the word's
/// length. At most three, sorted.
std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& names);

/// Returns the message on the words that `command`, the innermost one that was read, does not
/// take.
std::string unexpected_words(const CLI::App& command, const std::vector<std::string>& words);

}  // namespace gemm64
