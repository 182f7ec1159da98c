// SPDX-License-Identifier: Apache-2.0
// A user's array in Yosys.
#pragma once

#include <filesystem>
#include <string>

#include "host/dut/description.hpp"

namespace gemm64::dut {

/// The design as one module of plain Verilog, which slang reads and elaborates:
/// `folder`/elaborated.v. Returns the error; empty if there is none.
std::string elaborate(const Description& description, const std::filesystem::path& folder,
                      const std::filesystem::path& cache);

/// Reads the sources, sets the parameters, and runs `script` on the flattened top module. Returns
/// what it prints. Where Yosys's own reader knows too little of SystemVerilog, slang reads the
/// sources (a Python package in `cache`; empty: default_cache()). Throws UsageError with the first
/// error of both.
std::string run_yosys(const Description& description, const std::filesystem::path& folder,
                      const std::string& script, const std::filesystem::path& cache);

struct Area {
  std::uint64_t cells = 0;
  double area = 0;  // in the library's unit; 0 without a library
};

/// Mapped to the cells of a Liberty file, or to Yosys's own gates if that is empty.
Area area_of(const Description& description, const std::string& liberty,
             const std::filesystem::path& cache);

}  // namespace gemm64::dut
