// SPDX-License-Identifier: Apache-2.0
// What there is to say about commands and their options, for --help, the manual and the shells'
// completion alike.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gemm64 {

struct OptionText {
  std::vector<std::string> names;  // "-o", "--output"; of a positional argument only its name
  bool positional = false;
  bool required = false;
  bool repeated = false;
  std::string value;  // "FILE"; empty: a flag
  std::vector<std::string> choices;
  std::string range;  // "1..1024"
  std::string
      standard;         // its value where it is not given; empty: the description says what happens
  std::string brief;    // the description's first line, in --help
  std::string details;  // its other lines, in the manual only
  std::vector<std::string> needs, excludes;
};

struct OptionGroup {
  std::string name;
  std::vector<OptionText> options;
};

struct CommandText {
  std::string name, group, brief;
  std::string usage;                 // "gemm64 run [OPTIONS] [network]"
  std::vector<OptionText> operands;  // positional
  std::vector<OptionGroup> groups;   // in their order
  std::string example;               // command lines, each with what it does
  std::string notes;                 // "Exit codes: ..."
  std::string details;               // notes in the manual only
};

/// To be called once all commands stand: they and their options in groups.
void group_commands(CLI::App& app);

/// Of the program itself, or of one of its commands.
CommandText command_text(const CLI::App& command);

/// The commands that help lists, in their order.
std::vector<const CLI::App*> listed_commands(const CLI::App& app);
/// The same, each followed by its own commands, such as "dut" by "dut run".
std::vector<const CLI::App*> documented_commands(const CLI::App& app);
/// Every command below `app`, listed or not.
std::vector<CLI::App*> all_commands(CLI::App& app);
/// "dut run".
std::string command_name(const CLI::App& command);

}  // namespace gemm64
