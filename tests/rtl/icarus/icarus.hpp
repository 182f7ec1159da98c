// SPDX-License-Identifier: Apache-2.0
// Runs a Verilog test bench of this folder in Icarus Verilog.
#pragma once

#include "tests/test.hpp"

namespace gemm64::icarus_test {

/// A path in the build folder for a file of the running test; no two tests share one.
std::string work_file(const std::string& name);

/// `bytes`, lowest address last, as $readmemh wants a word.
std::string hex_word(const std::uint8_t* bytes, std::size_t count);
void write_lines(const std::string& file, const std::vector<std::string>& lines);

/// Compiles `bench`.v with `parameters` and runs it with `plusargs`; returns what it printed.
/// Throws std::runtime_error with all that the tools said where one is missing, fails, or warns.
std::string run_bench(const std::string& bench, const std::map<std::string, unsigned>& parameters,
                      const std::map<std::string, std::string>& plusargs);

/// Elaborates the accelerator with `parameters` ("NAME=value NAME=value") in Icarus Verilog and in
/// Verilator; true where each succeeded. What they say is put into `said`. Throws
/// std::runtime_error where the two disagree.
bool elaborate(const std::string& parameters, std::string& said);

}  // namespace gemm64::icarus_test
