// SPDX-License-Identifier: Apache-2.0
#include "host/cli/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "host/cli/child_process.hpp"
#include "host/cli/command_text.hpp"
#include "host/cli/help.hpp"
#include "host/cli/inspected_device.hpp"
#include "host/cli/suggestion.hpp"
#include "host/cli/values.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/interrupt.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kLost = 3;

int complain(const std::string& what, int code) {
  print_error(what);
  return code;
}

/// The command whose words could not be read: of nested ones the inner.
const CLI::App* innermost(const CLI::App* command) {
  const auto own = command->get_subcommands();
  return own.empty() ? command : innermost(own.front());
}

/// The help on what would be right: that of the command, where there is one.
std::string help_of(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return fmt::format("(see gemm64 {}--help)",
                     commands.empty() ? "" : command_name(*innermost(commands.front())) + " ");
}

/// A command that this build lacks says how to get it; help does not list it.
[[maybe_unused]] void add_command_of_another_build(CLI::App& app, const std::string& name,
                                                   const std::string& make) {
  CLI::App& command = *app.add_subcommand(name)->group("")->allow_extras();
  command.set_help_flag();
  command.callback([name, make] {
    throw UsageError(fmt::format("this build has no command {}: `{}` builds it", name, make));
  });
}

/// CLI11 reports an unknown command of a command, as of `dut chek`, as one that is missing.
bool is_about_unknown_words(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return true;
  return dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
         !innermost(&app)->get_subcommands({}).empty() && !app.remaining(true).empty();
}

/// CLI11's sentence on a number of arguments, in the words of the other messages.
std::string plain(const std::string& message) {
  static const std::regex kCount("(.*): At (Least|Most) (\\d+) required but received (\\d+)",
                                 std::regex::icase);
  std::smatch parts;
  if (!std::regex_match(message, parts, kCount)) return message;
  const bool is_least = std::tolower(parts[2].str().front()) == 'l';
  return fmt::format("{}: at {} {} values are required, {} {} given", parts[1].str(),
                     is_least ? "least" : "most", parts[3].str(), parts[4].str(),
                     parts[4] == "1" ? "was" : "were");
}

/// `help COMMAND...` is `COMMAND... --help`. Throws UsageError if there is no such command.
std::vector<const char*> spelled_out(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (words.size() < 2 || std::string_view(words[1]) != "help") return words;
  words.erase(words.begin() + 1);
  const CLI::App* command = &app;
  for (std::size_t i = 1; i < words.size() && words[i][0] != '-'; ++i) {
    const std::vector<const CLI::App*> inner = command->get_subcommands(
        [&](const CLI::App* candidate) { return candidate->get_name() == words[i]; });
    if (inner.empty()) throw UsageError(unexpected_words(*command, {words[i]}));
    command = inner.front();
  }
  words.push_back("--help");
  return words;
}

/// A command's name, and what adds it with its options.
struct CommandOfProgram {
  std::string_view name;
  std::function<void()> add;
};

/// Adds all commands or, if `first` is the name of one, only that one, since a run needs no options
/// of the others. `completion` and `manual` describe all commands and need them.
void add_commands(CLI::App& app, int& result, const PlatformCommands& platform,
                  std::string_view first) {
  const auto simple = [&](std::string_view name, void (*add)(CLI::App&, int&)) {
    return CommandOfProgram{name, [&app, &result, add] { add(app, result); }};
  };
  const auto of_another_build = [&](const char* name, const char* make) {
    return CommandOfProgram{name,
                            [&app, name, make] { add_command_of_another_build(app, name, make); }};
  };
  const std::vector<CommandOfProgram> commands = {
      simple("run", add_run_command),
      simple("gemm", add_gemm_command),
      platform.add_firmware != nullptr ? simple("firmware", platform.add_firmware)
                                       : of_another_build("firmware", "make -C sim firmware"),
      simple("info", add_info_command),
      simple("replay", add_replay_command),
      simple("faults", add_faults_command),
      {"cosim", [&] { add_cosim_command(app, result, platform.add_sides); }},
      simple("dut", add_dut_command),
      simple("analyze", add_analyze_command),
      simple("report", add_report_command),
#ifdef GEMM64_SWEEP
      simple("sweep", add_sweep_command),
#else
      of_another_build("sweep", "make"),
#endif
      simple("quantize", add_quantize_command),
      simple("compile", add_compile_command),
      simple("tile", add_tile_command),
      simple("make-linear", add_make_linear_command),
      simple("make-model", add_make_model_command),
  };
  const auto named = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandOfProgram& one) { return one.name == first; });
  if (named != commands.end()) {
    named->add();
    return;
  }
  for (const CommandOfProgram& command : commands) command.add();
  add_completion_command(app);
  add_manual_command(app);
}

int run(int argc, const char* const* argv, const PlatformCommands& platform) {
  CLI::App app("A 64x64 systolic GEMM accelerator, simulated cycle by cycle and checked.",
               "gemm64");
  app.set_version_flag("-V,-v,--version", GEMM64_VERSION);
  app.require_subcommand(0, 1);  // none: reported below, after words that are no command
  const std::string exit_codes =
      "Exit codes: 0 everything checked held, 1 it did not, 2 bad usage or input, 3 an output was "
      "lost";
  app.footer(exit_codes + ".");  // of commands that have none of their own
  int result = 0;
  add_commands(app, result, platform, argc > 1 ? argv[1] : "");
  app.footer(exit_codes + ", 4 nothing was to be checked (run --check none).");
  refuse_unusable_values(app);
  arrange_help(app);
  try {
    const std::vector<const char*> words = spelled_out(app, argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
    if (app.get_subcommands().empty()) {
      return complain("a command is required, such as run, gemm or info (see gemm64 --help)",
                      kBadUsage);
    }
  } catch (const CLI::ParseError& error) {
    if (is_about_unknown_words(app, error)) {
      return complain(fmt::format("{} {}", unexpected_words(*innermost(&app), app.remaining(true)),
                                  help_of(app)),
                      kBadUsage);
    }
    if (error.get_exit_code() != 0) {
      return complain(fmt::format("{} {}", plain(error.what()), help_of(app)), kBadUsage);
    }
    std::ostringstream help;  // or the version
    app.exit(error, help, help);
    print_report(help.str());
  } catch (const UsageError& error) {
    return complain(error.what(), kBadUsage);
  } catch (const OutputError& error) {
    note_lost(error);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for a product of this size", kBadUsage);
  } catch (const std::length_error&) {
    return complain("not enough memory for a product of this size", kBadUsage);
  } catch (const std::system_error& error) {
    return complain(fmt::format("the system refused what is needed: {}", error.what()), kBadUsage);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
  return result;
}

}  // namespace

int run_program(int argc, const char* const* argv, const PlatformCommands& platform) {
  secure_standard_streams();
  catch_interrupts();
  const int result = run(argc, argv, platform);
  const std::optional<std::string> loss = report_loss();
  if (loss && !loss->empty()) print_error(*loss);
  end_is_wanted();
  const bool lost = loss || any_output_lost();
  const int code = (result == 0 || result == kNotChecked) && lost ? kLost : result;
  if (is_child_process()) _exit(code);
  return code;
}

}  // namespace gemm64
