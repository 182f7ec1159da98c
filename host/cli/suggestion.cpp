// SPDX-License-Identifier: Apache-2.0
#include "host/cli/suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "host/cli/command_text.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kMostNames = 3;

/// The optimal string alignment distance: Levenshtein's with swaps of neighbors.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    std::swap(last, row);
    row.resize(b.size() + 1);
  }
  return last[b.size()];
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* inner : command.get_subcommands({})) names.push_back(inner->get_name());
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string> found = nearest(word, names);
  return found.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(found, " or "));
}

}  // namespace

std::vector<std::string> nearest(const std::string& word, const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (word.size() > 2 && name.rfind(word, 0) == 0) found.push_back(name);
  }
  const std::size_t most = std::max<std::size_t>(1, word.size() / 3);
  for (std::size_t apart = 1; found.empty() && apart <= most; ++apart) {
    std::copy_if(names.begin(), names.end(), std::back_inserter(found),
                 [&](const std::string& name) { return distance(word, name) == apart; });
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min(found.size(), kMostNames));
  return found;
}

std::string unexpected_words(const CLI::App& command, const std::vector<std::string>& words) {
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word[0] == '-';
  });
  const std::string of =
      command.get_parent() == nullptr ? "" : fmt::format(" of {}", command_name(command));
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return fmt::format("no option{} is called {}{}", of, name,
                       did_you_mean(name, option_names(command)));
  }
  const std::vector<std::string> commands = command_names(command);
  const std::string word = words.empty() ? "" : words.front();
  if (commands.empty()) return fmt::format("unexpected argument{}: '{}'", of, word);
  const std::vector<std::string> options = option_names(command);
  if (std::find(options.begin(), options.end(), "--" + word) != options.end()) {
    return fmt::format("no command{} is called '{}'; did you mean --{}?", of, word, word);
  }
  return fmt::format("no command{} is called '{}'{}", of, word, did_you_mean(word, commands));
}

}  // namespace gemm64
