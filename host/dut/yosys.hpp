// SPDX-License-Identifier: Apache-2.0
// A user's array in Yosys.
#pragma once

#include <filesystem>
#include <string>

#include "host/dut/description.hpp"

namespace gemm64::dut {

/// Reads the sources, sets the parameters, and runs `script` on the flattened top module. Returns
/// what it prints. Throws UsageError with Yosys's first error: it knows less of SystemVerilog than
/// Verilator.
std::string run_yosys(const Description& description, const std::filesystem::path& folder,
                      const std::string& script);

struct Area {
  std::uint64_t cells = 0;
  double area = 0;  // in the library's unit; 0 without a library
};

/// Mapped to the cells of a Liberty file, or to Yosys's own gates if that is empty.
Area area_of(const Description& description, const std::string& liberty);

}  // namespace gemm64::dut
