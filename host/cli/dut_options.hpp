// SPDX-License-Identifier: Apache-2.0
// What the commands below `dut` share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/dut/description.hpp"
#include "host/dut/model_build.hpp"

namespace gemm64 {

struct DutOptions {
  std::string file;   // the description
  std::string cache;  // --cache
  std::string json;
  bool warnings = false;
  bool icarus = false;
};

/// The description as an operand, --cache, --warnings and --json.
void add_dut_options(CLI::App& command, DutOptions& options);

/// --icarus.
void add_icarus_option(CLI::App& command, DutOptions& options);

/// M K N of one product.
void add_sizes_option(CLI::App& command, std::vector<std::int64_t>& sizes);

dut::BuildOptions build_options(const DutOptions& options);

/// Builds it, and prints how many warnings the compiler has, or all of them.
dut::BuiltModel build_dut(const dut::Description& description, const DutOptions& options);

void add_dut_new_command(CLI::App& dut, int& result);
void add_dut_check_command(CLI::App& dut, int& result);
void add_dut_run_command(CLI::App& dut, int& result);
void add_dut_mutants_command(CLI::App& dut, int& result);
void add_dut_prove_command(CLI::App& dut, int& result);
void add_dut_compare_command(CLI::App& dut, int& result);

}  // namespace gemm64
