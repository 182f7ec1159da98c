// SPDX-License-Identifier: Apache-2.0
#include "host/cli/command_text.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace gemm64 {
namespace {

/// Groups in the order of --help, with their options. What is in none stays under "Options".
const std::vector<std::pair<std::string, std::vector<std::string>>> kGroups{
    {"Network",
     {"--model", "--data", "--input-shape", "--batch", "--layers", "--no-bias", "--tiled",
      "--block"}},
    {"Inputs", {"--a", "--b", "--compare"}},
    {"Campaign", {"--kind", "--program", "--flips", "--first", "--count", "--repeat"}},
    {"Images",
     {"--input", "--images", "--labels", "--names", "--preprocess", "--mean", "--std", "--scale",
      "--resize"}},
    {"Quantizing",
     {"--calibrate", "--calibrate-images", "--calibrate-method", "--calib-percentile",
      "--calib-bins", "--op-types-to-quantize", "--nodes-to-quantize", "--nodes-to-exclude"}},
    {"How it runs",
     {"--results",   "--quantized",   "--precision",       "--accumulate", "--convolutions",
      "--depthwise", "--one-program", "--icarus",          "--seed",       "--jobs",
      "--check",     "--host",        "--allow-host-only", "--elf",        "--max-instructions",
      "--cache",     "--mutants",     "--tiles",           "--cycles",     "--seconds"}},
    {"Device",
     {"--device", "--array", "--design", "--size", "--self-check", "--memory", "--memory-latency",
      "--memory-bytes-per-cycle", "--memory-stalls"}},
    {"Output",
     {"--junit",    "--output",  "--dump-activations", "--json",    "--csv",     "--plot",
      "--report",   "--engines", "--columns",          "--wide",    "--explain", "--quiet",
      "--progress", "--where",   "--sort-by",          "--reverse", "--top",     "--objectives",
      "--modules",  "--resume",  "--warnings",         "--score",   "--area",    "--liberty",
      "--markdown"}},
    {"Debugging",
     {"--trace", "--inject", "--self-test", "--watchdog", "--view", "--timeline", "--no-trace"}},
};

/// What an option's value is called where it is not a file, nor a number or one of some words.
const std::map<std::string, std::string> kValues{
    {"--input-shape", "NAME=SHAPE"},
    {"--dump-activations", "PATTERN=FOLDER"},
    {"--trace-window", "A:B"},
    {"--trace-tile", "TILE"},
    {"--inject", "FAULT"},
    {"--modules", "PATTERN"},
    {"--data", "FOLDER"},
    {"--op-types-to-quantize", "OPERATORS"},
    {"--nodes-to-quantize", "NODES"},
    {"--nodes-to-exclude", "NODES"},
    {"--sort-by", "COLUMN"},
    {"--columns", "COLUMNS"},
    {"--view", "VIEW"},
};

struct Entry {
  const char* command;
  const char* group;
  const char* example;
};

const std::vector<Entry> kCommands{
    {"run", "Run",
     "gemm64 run --batch 1                           AlexNet, one image\n"
     "gemm64 run --model q.onnx --input photo.png    a network of yours"},
    {"gemm", "Run",
     "gemm64 gemm 64 576 192                                random operands\n"
     "gemm64 gemm 8 64 32 --a a.npy --b b.npy -o c.npy      yours"},
    {"dut", "Your array", "gemm64 dut check my_array/array.toml"},
    {"dut new", "Commands", "gemm64 dut new output-stationary --size 8 my_array"},
    {"dut check", "Commands", "gemm64 dut check my_array/array.toml --junit results.xml"},
    {"dut mutants", "Commands", "gemm64 dut mutants my_array/array.toml --count 200"},
    {"dut prove", "Commands", "gemm64 dut prove my_array/array.toml --tiles 3"},
    {"dut compare", "Commands", "gemm64 dut compare a/array.toml b/array.toml 8 256 256 --area"},
    {"dut run", "Commands",
     "gemm64 dut run my_array/array.toml                     AlexNet's Linear layers\n"
     "gemm64 dut run my_array/array.toml 5 100 30            one product"},
    {"firmware", "Run",
     "gemm64 firmware --device tlm --batch 4        AlexNet's Linear layers\n"
     "gemm64 firmware q.g64 --input photo.jpg       a compiled network"},
    {"info", "Run", "gemm64 info --array 8"},
    {"replay", "Find errors", "gemm64 replay failure.json"},
    {"faults", "Find errors", "gemm64 faults --count 100 --array 8 --seed 1"},
    {"cosim", "Find errors", "gemm64 cosim 100 200 300"},
    {"analyze", "Compare", "gemm64 analyze net.onnx --sort-by macs --top 5"},
    {"report", "Compare", "gemm64 report --compare before.json after.json"},
    {"sweep", "Compare", "gemm64 sweep sweep.json --csv rows.csv"},
    {"quantize", "Write networks", "gemm64 quantize net.onnx --calibrate photos/ -o q.onnx"},
    {"compile", "Write networks", "gemm64 compile q.onnx -o q.g64 && gemm64 run q.g64"},
    {"tile", "Write networks", "gemm64 tile net.onnx -o tiled.onnx"},
    {"make-linear", "Write networks", "gemm64 make-linear 8 256 128 --tiled -o linear.onnx"},
    {"make-model", "Write networks", "gemm64 make-model lenet -o lenet.onnx"},
    {"completion", "Help", "source <(gemm64 completion bash)"},
    {"manual", "Help", "gemm64 manual | man -l -"},
};

const Entry* entry_of(const std::string& command) {
  for (const Entry& entry : kCommands) {
    if (command == entry.command) return &entry;
  }
  return nullptr;
}

std::vector<std::string> parts_of(const std::string& text, char border) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, border);) parts.push_back(part);
  return parts;
}

/// "--output" of "-o,--output".
std::string main_name(const CLI::Option& option) {
  if (!option.get_lnames().empty()) return "--" + option.get_lnames().front();
  return option.get_single_name();
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(main_name(*option));
  std::sort(names.begin(), names.end());
  return names;
}

/// The value's name for one of CLI11's types.
std::string value_of(const std::string& name, const std::string& type, const OptionText& text) {
  const auto named = kValues.find(name);
  if (named != kValues.end()) return named->second;
  if (!text.choices.empty()) return "WORD";
  if (type == "INT" || type == "UINT") return "N";
  if (type == "FLOAT") return "X";
  return type == "TEXT" ? "FILE" : type;
}

OptionText option_text(const CLI::Option& option) {
  OptionText text;
  text.positional = option.get_positional();
  if (text.positional) {
    text.names = {option.get_name(true)};
  } else {
    for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  }
  text.required = option.get_required();
  text.repeated = option.get_items_expected_max() > 1;
  if (option.get_type_size() != 0) {
    // "TYPE:CHECK:CHECK"; words that are allowed, "{a,b:c}", say more than a range.
    std::string whole = option.get_type_name();
    const std::size_t begin = whole.find('{'), end = whole.rfind('}');
    if (begin != std::string::npos && end != std::string::npos) {
      text.choices = parts_of(whole.substr(begin + 1, end - begin - 1), ',');
      whole = whole.substr(0, begin);
    }
    const std::vector<std::string> parts = parts_of(whole, ':');
    const std::string type = parts.empty() ? "" : parts.front();
    for (std::size_t i = 1; i < parts.size() && text.range.empty(); ++i) text.range = parts[i];
    if (!text.choices.empty()) text.range.clear();
    text.value = value_of(main_name(option), type, text);
    text.standard = option.get_default_str();
  }
  const std::string& description = option.get_description();
  const std::size_t border = description.find('\n');
  text.brief = description.substr(0, border);
  if (border != std::string::npos) text.details = description.substr(border + 1);
  text.needs = names_of(option.get_needs());
  text.excludes = names_of(option.get_excludes());
  return text;
}

std::string usage_of(const CLI::App& command, const CommandText& text) {
  std::string usage = command.get_parent() == nullptr ? "gemm64 COMMAND [OPTIONS]"
                                                      : "gemm64 " + text.name + " [OPTIONS]";
  for (const OptionText& operand : text.operands) {
    const std::string name = operand.names.front() + (operand.repeated ? "..." : "");
    usage += " " + (operand.required ? name : "[" + name + "]");
  }
  return usage;
}

}  // namespace

void group_commands(CLI::App& app) {
  for (CLI::App* command : all_commands(app)) {
    const Entry* const entry = entry_of(command_name(*command));
    if (entry != nullptr && !command->get_group().empty()) command->group(entry->group);
    for (CLI::Option* option : command->get_options()) {
      if (option->get_positional() || option->get_group() != "Options") continue;
      for (const auto& [group, names] : kGroups) {
        if (std::find(names.begin(), names.end(), main_name(*option)) != names.end()) {
          option->group(group);
        }
      }
    }
  }
}

CommandText command_text(const CLI::App& command) {
  CommandText text;
  text.name = command_name(command);
  text.group = command.get_group();
  text.brief = command.get_description();
  std::vector<std::string> order;
  for (const auto& [group, names] : kGroups) order.push_back(group);
  for (const std::string& group : command.get_groups()) {
    if (group.empty() || std::find(order.begin(), order.end(), group) != order.end()) continue;
    order.push_back(group);
  }
  for (const std::string& group : order) {
    OptionGroup found{group, {}};
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_positional() || option->get_group() != group) continue;
      found.options.push_back(option_text(*option));
    }
    if (!found.options.empty()) text.groups.push_back(found);
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) text.operands.push_back(option_text(*option));
  }
  if (const auto own = listed_commands(command); command.get_parent() != nullptr && !own.empty()) {
    OptionText operand;
    operand.names = {"command"};
    operand.positional = operand.required = true;
    operand.brief = "what to do; each has a --help of its own";
    for (const CLI::App* one : own) operand.choices.push_back(one->get_name());
    text.operands.push_back(operand);
  }
  text.usage = usage_of(command, text);
  if (const Entry* const entry = entry_of(text.name)) text.example = entry->example;
  const std::string footer = command.get_footer();
  const std::size_t border = footer.find('\f');
  text.notes = footer.substr(0, border);
  if (border != std::string::npos) text.details = footer.substr(border + 1);
  return text;
}

std::vector<const CLI::App*> listed_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) commands.push_back(command);
  }
  return commands;
}

std::vector<const CLI::App*> documented_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : listed_commands(app)) {
    commands.push_back(command);
    for (const CLI::App* own : documented_commands(*command)) commands.push_back(own);
  }
  return commands;
}

std::vector<CLI::App*> all_commands(CLI::App& app) {
  std::vector<CLI::App*> commands;
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    commands.push_back(command);
    for (CLI::App* own : all_commands(*command)) commands.push_back(own);
  }
  return commands;
}

std::string command_name(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  if (parent == nullptr || parent->get_parent() == nullptr) return command.get_name();
  return command_name(*parent) + " " + command.get_name();
}

}  // namespace gemm64
