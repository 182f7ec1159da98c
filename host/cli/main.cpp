// SPDX-License-Identifier: Apache-2.0
// gemm64: exit codes are 0 (all that was checked held), 1 (it did not), 2 (bad usage or input).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>

#include "host/cli/commands.hpp"
#include "host/error.hpp"

namespace {

constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

int complain(const char* what, int code) {
  fmt::print(stderr, "gemm64: {}\n", what);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A 64x64 systolic GEMM accelerator, simulated clock by clock and checked.",
               "gemm64");
  app.set_version_flag("--version", GEMM64_VERSION);
  app.require_subcommand(0, 1);  // none: told below, after words that are no command
  app.footer("Exit codes: 0 all that was checked held, 1 it did not, 2 bad usage or input.");
  int result = 0;
  gemm64::add_run_command(app, result);
  gemm64::add_gemm_command(app, result);
  gemm64::add_replay_command(app, result);
  gemm64::add_info_command(app, result);
  gemm64::add_analyze_command(app, result);
  gemm64::add_tile_command(app, result);
  gemm64::add_make_linear_command(app, result);
  gemm64::add_make_model_command(app, result);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) {
      return complain("a command is required, such as run, gemm or info (see gemm64 --help)",
                      kBadUsage);
    }
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return complain(fmt::format("{} (see gemm64 --help)", error.what()).c_str(), kBadUsage);
  } catch (const gemm64::UsageError& error) {
    return complain(error.what(), kBadUsage);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for a product of this size", kBadUsage);
  } catch (const std::exception& error) {
    return complain(error.what(), kFailed);
  }
  return result;
}
