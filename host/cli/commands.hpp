// SPDX-License-Identifier: Apache-2.0
// The program's subcommands. Each adds itself to `app` and sets `result` when it has run.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gemm64 {

struct CosimWork;
struct DeviceOptions;
class Cosim;

/// Runs work on further sides.
using AddSides = void (*)(const DeviceOptions& options, const CosimWork& work, Cosim& cosim);

void add_run_command(CLI::App& app, int& result);
void add_gemm_command(CLI::App& app, int& result);
void add_faults_command(CLI::App& app, int& result);
void add_replay_command(CLI::App& app, int& result);
/// `platform`: what adds the sides of the SystemC platform, in programs that hold it; else nullptr.
void add_cosim_command(CLI::App& app, int& result, AddSides platform);
/// Only in programs that hold the SystemC platform.
void add_firmware_command(CLI::App& app, int& result);
void add_info_command(CLI::App& app, int& result);
/// Reports that were written before: as a page, or two compared.
void add_report_command(CLI::App& app, int& result);
void add_analyze_command(CLI::App& app, int& result);
void add_sweep_command(CLI::App& app, int& result);
/// The bench for a user's own array: commands of its own below `dut`.
void add_dut_command(CLI::App& app, int& result);
void add_compile_command(CLI::App& app, int& result);
void add_tile_command(CLI::App& app, int& result);
void add_quantize_command(CLI::App& app, int& result);
void add_make_linear_command(CLI::App& app, int& result);
void add_make_model_command(CLI::App& app, int& result);
/// What makes bash, zsh and fish complete command lines. These two show all commands of `app`.
void add_completion_command(CLI::App& app);
/// The page for man, and its text in Markdown.
void add_manual_command(CLI::App& app);

/// An AddSides: on both accelerators in the SystemC platform, by the driver and by firmware.
void add_platform_sides(const DeviceOptions& options, const CosimWork& work, Cosim& cosim);

/// The firmware next to this program.
std::string firmware_file();

}  // namespace gemm64
