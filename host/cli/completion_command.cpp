// SPDX-License-Identifier: Apache-2.0
// `completion`: what makes a shell complete commands, options, words and files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "host/cli/command_text.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/values.hpp"
#include "host/util/console.hpp"

namespace gemm64 {
namespace {

std::vector<OptionText> options_of(const CommandText& command) {
  std::vector<OptionText> options;
  for (const OptionGroup& group : command.groups) {
    options.insert(options.end(), group.options.begin(), group.options.end());
  }
  return options;
}

/// The words that the command itself can be followed by.
std::vector<std::string> operand_words(const CommandText& command) {
  return command.operands.empty() ? std::vector<std::string>{} : command.operands.front().choices;
}

/// In single quotes: no shell reads more into it than what it says.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  std::string values, words;
  for (const CommandText& command : commands) {
    names.push_back(command.name);
    std::vector<std::string> typed;
    for (const OptionText& option : options_of(command)) {
      typed.insert(typed.end(), option.names.begin(), option.names.end());
      if (option.choices.empty()) continue;
      for (const std::string& name : option.names) {
        values += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", command.name, name,
                              fmt::join(option.choices, " "));
      }
    }
    words += fmt::format("      {}) options=\"{}\" words=\"{}\" ;;\n", command.name,
                         fmt::join(typed, " "), fmt::join(operand_words(command), " "));
  }
  return fmt::format(R"(# bash: source <(gemm64 completion bash)
_gemm64() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  local options= words=
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case "$command $before" in
{}    *) case $command in
{}    esac
    [[ $current == -* ]] && words=$options ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _gemm64 gemm64
)",
                     fmt::join(names, " "), values, words);
}

/// In zsh's specifications of options, [ ] and : are borders.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_values(const OptionText& option) {
  if (option.choices.empty()) return ":" + option.value + ":_files";
  return fmt::format(":{}:({})", option.value, fmt::join(option.choices, " "));
}

std::string zsh(const std::vector<CommandText>& commands) {
  std::string names, cases;
  for (const CommandText& command : commands) {
    names += fmt::format("    {}\n", quoted(command.name + ":" + zsh_text(command.brief)));
    cases += fmt::format("    {}) _arguments", command.name);
    for (const OptionText& option : options_of(command)) {
      for (const std::string& name : option.names) {
        cases += fmt::format(" \\\n      {}",
                             quoted(fmt::format("{}{}[{}]{}", option.repeated ? "*" : "", name,
                                                zsh_text(option.brief),
                                                option.value.empty() ? "" : zsh_values(option))));
      }
    }
    const std::vector<std::string> words = operand_words(command);
    const std::string rest =
        words.empty() ? "*:file:_files" : fmt::format("*:word:({})", fmt::join(words, " "));
    cases += fmt::format(" \\\n      {} ;;\n", quoted(rest));
  }
  return fmt::format(R"(#compdef gemm64
# zsh: source <(gemm64 completion zsh), or as _gemm64 in a folder of $fpath
_gemm64() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
{}  esac
}}
if [[ ${{funcstack[1]}} == _gemm64 ]]; then _gemm64 "$@"; else compdef _gemm64 gemm64; fi
)",
                     names, cases);
}

std::string fish(const std::vector<CommandText>& commands) {
  std::string out = "# fish: gemm64 completion fish | source\n";
  for (const CommandText& command : commands) {
    out += fmt::format("complete -c gemm64 -f -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       quoted(command.brief));
    const std::string seen =
        fmt::format("complete -c gemm64 -n '__fish_seen_subcommand_from {}'", command.name);
    const std::vector<std::string> words = operand_words(command);
    if (!words.empty()) out += fmt::format("{} -f -a '{}'\n", seen, fmt::join(words, " "));
    for (const OptionText& option : options_of(command)) {
      out += seen;
      for (const std::string& name : option.names) {
        out += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        out += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      } else if (!option.value.empty()) {
        out += " -r -F";
      }
      out += fmt::format(" -d {}\n", quoted(option.brief));
    }
  }
  return out;
}

}  // namespace

void add_completion_command(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "prints a shell completion script");
  command->add_option("shell", *shell, "the shell that reads it")
      ->required()
      ->check(one_of(std::vector<std::string>{"bash", "zsh", "fish"}));
  command->callback([&app, shell] {
    std::vector<CommandText> commands;
    for (const CLI::App* one : listed_commands(app)) commands.push_back(command_text(*one));
    print_exactly(*shell == "bash"  ? bash(commands)
                  : *shell == "zsh" ? zsh(commands)
                                    : fish(commands));
  });
}

}  // namespace gemm64
