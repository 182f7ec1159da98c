// SPDX-License-Identifier: Apache-2.0
#include "host/cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "host/cli/command_text.hpp"
#include "host/util/columns.hpp"
#include "host/util/console.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kMostWidth = 100;
constexpr std::size_t kColumn = 30;  // where descriptions begin

/// That of a terminal, within limits.
std::size_t help_width() {
  constexpr std::size_t kLeastWidth = kColumn + 20;
  const std::size_t width = terminal_width();
  return width == 0 ? kMostWidth : std::clamp(width, kLeastWidth, kMostWidth);
}

/// A row: what is to be typed, and what it does next to it, or below it where it is long.
void add_row(std::string& help, const std::string& typed, const std::string& text) {
  std::string line = "  " + typed;
  if (line.size() + 2 > kColumn) {
    help += line + "\n";
    line.clear();
  }
  for (const std::string& part : wrapped(text, help_width() - kColumn)) {
    help += fmt::format("{:<{}}{}\n", line, kColumn, part);
    line.clear();
  }
}

/// With the words that it takes, even where they leave no room next to them.
std::string help_name(const OptionText& option) {
  std::string text = fmt::format("{}", fmt::join(option.names, ","));
  if (option.positional || option.value.empty()) return text;
  return text + " " +
         (option.choices.empty() ? option.value
                                 : fmt::format("{}", fmt::join(option.choices, "|")));
}

std::string describe(const OptionText& option) {
  std::string text = option.brief;
  std::vector<std::string> more;
  if (help_name(option).size() + 4 > kColumn && !option.choices.empty()) {
    more.push_back(fmt::format("{}", fmt::join(option.choices, "|")));
  }
  if (!option.standard.empty()) more.push_back("default " + option.standard);
  if (option.required && !option.positional) more.push_back("required");
  return more.empty() ? text : fmt::format("{} [{}]", text, fmt::join(more, "; "));
}

void add_options(std::string& help, const std::string& heading,
                 const std::vector<OptionText>& options) {
  if (options.empty()) return;
  help += fmt::format("\n{}:\n", heading);
  for (const OptionText& option : options) {
    const std::string whole = help_name(option);
    const bool fits = whole.size() + 4 <= kColumn || option.choices.empty();
    add_row(help, fits ? whole : option.names.back() + " " + option.value, describe(option));
  }
}

void add_commands(std::string& help, const CLI::App& app) {
  std::string group;
  for (const CLI::App* command : listed_commands(app)) {
    if (command->get_group() != group) help += fmt::format("\n{}:\n", command->get_group());
    group = command->get_group();
    add_row(help, command->get_name(), command->get_description());
  }
}

class Help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    const CommandText text = command_text(*app);
    std::string help;
    for (const std::string& line : wrapped(text.brief, help_width())) help += line + "\n";
    help += fmt::format("\nUsage: {}\n", text.usage);
    add_options(help, "Operands", text.operands);
    for (OptionGroup group : text.groups) {
      if (app->get_parent() != nullptr) {  // a reader of this has found --help
        group.options.erase(std::remove_if(group.options.begin(), group.options.end(),
                                           [](const OptionText& option) {
                                             return option.names.back() == "--help";
                                           }),
                            group.options.end());
      }
      add_options(help, group.name, group.options);
    }
    add_commands(help, *app);
    if (!text.example.empty()) {
      help += "\nExample:\n";
      for (const std::string& line : wrapped(text.example, help_width()))
        help += "  " + line + "\n";
    }
    if (!text.notes.empty()) help += "\n";
    for (const std::string& line : wrapped(text.notes, help_width())) help += line + "\n";
    if (app->get_parent() == nullptr) {
      help +=
          "`gemm64 COMMAND --help` lists a command's options, `gemm64 manual` lists all of them.\n";
    }
    return help;
  }
};

}  // namespace

void arrange_help(CLI::App& app) {
  group_commands(app);
  const auto help = std::make_shared<Help>();
  app.formatter(help);
  app.get_help_ptr()->description("prints this text");
  app.get_version_ptr()->description("prints the version");
  for (CLI::App* command : all_commands(app)) {
    command->formatter(help);
    if (command->get_help_ptr() != nullptr) {
      command->get_help_ptr()->description("prints this text");
    }
  }
}

}  // namespace gemm64
