// SPDX-License-Identifier: Apache-2.0
// `manual`: all that can be said about all commands, as a page for man, or in Markdown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "host/cli/command_text.hpp"
#include "host/cli/commands.hpp"
#include "host/util/console.hpp"

namespace gemm64 {
namespace {

/// What an option takes, what it is if not given, and what it goes with: "1..1024; default 64".
std::string conditions(const OptionText& option) {
  std::vector<std::string> parts;
  if (option.required) parts.push_back("required");
  const bool described = std::all_of(
      option.choices.begin(), option.choices.end(), [&option](const std::string& choice) {
        return option.details.find(choice + ":") != std::string::npos;
      });
  if (!described) {
    parts.push_back(fmt::format("one of {}", fmt::join(option.choices, ", ")));
  }
  if (!option.range.empty()) parts.push_back("from " + option.range);
  if (!option.standard.empty()) parts.push_back("default " + option.standard);
  if (option.repeated && !option.positional) parts.push_back("may be given several times");
  if (!option.needs.empty()) {
    parts.push_back(fmt::format("needs {}", fmt::join(option.needs, " and ")));
  }
  if (!option.excludes.empty()) {
    parts.push_back(fmt::format("does not go with {}", fmt::join(option.excludes, ", ")));
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(text.front()));
  return text.empty() ? text : text + ".";
}

std::string typed(const OptionText& option) {
  std::string text = fmt::format("{}", fmt::join(option.names, ", "));
  if (!option.positional && !option.value.empty()) text += " " + option.value;
  return text;
}

/// Description, details and conditions, one after the other.
std::string all_of(const OptionText& option) {
  std::string text = option.brief;
  for (const std::string& more : {option.details, conditions(option)}) {
    if (more.empty()) continue;
    if (text.find_last_of(".:;") != text.size() - 1) text += '.';
    text += " " + more;
  }
  return text;
}

/// For groff: what it would take for its own is escaped.
std::string roff(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// `text` as it stands, line by line.
std::string roff_block(const std::string& text) {
  return fmt::format(".PP\n.nf\n{}\n.fi\n", roff(text));
}

std::string roff_options(const std::vector<OptionText>& options) {
  std::string out;
  for (const OptionText& option : options) {
    out += fmt::format(".TP\n.B {}\n{}\n", roff(typed(option)), roff(all_of(option)));
  }
  return out;
}

std::string man_page(const CLI::App& app) {
  const CommandText program = command_text(app);
  std::string out = fmt::format(".TH GEMM64 1 \"\" \"gemm64 {}\" \"gemm64\"\n", GEMM64_VERSION);
  out += fmt::format(".SH NAME\ngemm64 \\- {}\n", roff(program.brief));
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(program.usage));
  out += ".SH COMMANDS\n";
  for (const CLI::App* command : documented_commands(app)) {
    const CommandText text = command_text(*command);
    out += fmt::format(".SS {}\n{}\n.PP\n.B {}\n", roff(text.name), roff(text.brief),
                       roff(text.usage));
    out += roff_options(text.operands);
    for (const OptionGroup& group : text.groups) {
      out += fmt::format(".PP\n.I {}\n{}", roff(group.name), roff_options(group.options));
    }
    out += roff_block(text.example);
    if (!text.notes.empty()) out += roff_block(text.notes);
    if (!text.details.empty()) out += fmt::format(".PP\n{}\n", roff(text.details));
  }
  return out + fmt::format(".SH EXIT STATUS\n{}\n", roff(program.notes));
}

/// In a table: what ends a cell, and what Markdown takes for its own, is escaped.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '<' || c == '[' || c == ']' || c == '_') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void add_table(std::string& out, const std::string& heading,
               const std::vector<OptionText>& options) {
  if (options.empty()) return;
  out += fmt::format("\n| {} | does |\n|---|---|\n", heading);
  for (const OptionText& option : options) {
    std::string name = typed(option);
    out += fmt::format("| `{}` | {} |\n", name, cell(all_of(option)));
  }
}

std::string markdown(const CLI::App& app) {
  std::string out =
      "# Commands\n\nMade by `gemm64 manual --markdown`: what stands here is what `--help` and the "
      "man page say.\n\n" +
      command_text(app).notes + "\n";
  for (const CLI::App* command : documented_commands(app)) {
    const CommandText text = command_text(*command);
    out += fmt::format("\n## {}\n\n{}\n\n```text\n{}\n```\n", text.name, text.brief, text.usage);
    add_table(out, "operand", text.operands);
    for (const OptionGroup& group : text.groups) add_table(out, group.name, group.options);
    out += fmt::format("\nExample:\n\n```text\n{}\n```\n", text.example);
    if (text.notes.find('\n') != std::string::npos) {
      out += fmt::format("\n```text\n{}\n```\n", text.notes);
    } else if (!text.notes.empty()) {
      out += fmt::format("\n{}\n", text.notes);
    }
    if (!text.details.empty()) out += fmt::format("\n{}\n", text.details);
  }
  return out;
}

}  // namespace

void add_manual_command(CLI::App& app) {
  auto in_markdown = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("manual", "prints the manual of all commands, as a page for man");
  command->add_flag("--markdown", *in_markdown, "as Markdown instead");
  command->callback(
      [&app, in_markdown] { print_exactly(*in_markdown ? markdown(app) : man_page(app)); });
}

}  // namespace gemm64
