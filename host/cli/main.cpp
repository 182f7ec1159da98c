// SPDX-License-Identifier: Apache-2.0
// gemm64: exit codes are 0 (everything checked held), 1 (it did not), 2 (bad usage or input),
// 3 (an output was lost), 4 (nothing was to be checked: --check none); 130 and 143 where Ctrl-C and
// SIGTERM ended it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/cli/values.hpp"
#include "host/console.hpp"
#include "host/error.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/interrupt.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kLost = 3;

int complain(const std::string& what, int code) {
  gemm64::print_error(what);
  return code;
}

/// The help that tells what would be right: that of the command, where there is one.
std::string help_of(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return fmt::format("(see gemm64 {}--help)",
                     commands.empty() ? "" : commands.front()->get_name() + " ");
}

/// A command that this build lacks says how to get it; help does not list it.
[[maybe_unused]] void add_command_of_another_build(CLI::App& app, const std::string& name,
                                                   const std::string& make) {
  CLI::App& command = *app.add_subcommand(name)->group("")->allow_extras();
  command.set_help_flag();
  command.callback([name, make] {
    throw gemm64::UsageError(
        fmt::format("this build has no command {}: `{}` builds it", name, make));
  });
}

int run(int argc, char** argv) {
  CLI::App app("A 64x64 systolic GEMM accelerator, simulated clock by clock and checked.",
               "gemm64");
  app.set_version_flag("--version", GEMM64_VERSION);
  app.require_subcommand(0, 1);  // none: told below, after words that are no command
  app.footer(
      "Exit codes: 0 everything checked held, 1 it did not, 2 bad usage or input, 3 an output was "
      "lost, 4 nothing was to be checked (--check none).");
  int result = 0;
  gemm64::add_run_command(app, result);
  gemm64::add_gemm_command(app, result);
  gemm64::add_faults_command(app, result);
  gemm64::add_replay_command(app, result);
  gemm64::add_cosim_command(app, result);
#ifdef GEMM64_PLATFORM
  gemm64::add_firmware_command(app, result);
#else
  add_command_of_another_build(app, "firmware", "make firmware");
#endif
  gemm64::add_info_command(app, result);
  gemm64::add_analyze_command(app, result);
  gemm64::add_report_command(app, result);
#ifdef GEMM64_SWEEP
  gemm64::add_sweep_command(app, result);
#else
  add_command_of_another_build(app, "sweep", "make");
#endif
  gemm64::add_tile_command(app, result);
  gemm64::add_quantize_command(app, result);
  gemm64::add_make_linear_command(app, result);
  gemm64::add_make_model_command(app, result);
  gemm64::refuse_unusable_values(app);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) {
      return complain("a command is required, such as run, gemm or info (see gemm64 --help)",
                      kBadUsage);
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      return complain(fmt::format("{} {}", error.what(), help_of(app)), kBadUsage);
    }
    std::ostringstream help;  // or the version
    app.exit(error, help, help);
    gemm64::print_report(help.str());
  } catch (const gemm64::UsageError& error) {
    return complain(error.what(), kBadUsage);
  } catch (const gemm64::OutputError& error) {
    gemm64::note_lost(error);
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

int main(int argc, char** argv) {
  gemm64::secure_standard_streams();
  gemm64::catch_interrupts();
  const int result = run(argc, argv);
  const std::string loss = gemm64::report_loss();
  if (!loss.empty()) gemm64::print_error(loss);
  gemm64::end_is_wanted();
  const bool lost = !loss.empty() || gemm64::any_output_lost();
  return (result == 0 || result == gemm64::kNotChecked) && lost ? kLost : result;
}
