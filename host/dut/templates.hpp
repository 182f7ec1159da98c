// SPDX-License-Identifier: Apache-2.0
// `dut new`: a wrapper, a small array, its description and a Makefile.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gemm64::dut {

/// "input-stationary", "output-stationary", "weight-stationary".
std::vector<std::string> template_names();

/// Writes the template for an array of `size` x `size` to `folder`, which may exist. Returns the
/// files. Throws UsageError if one of them exists, or cannot be written.
std::vector<std::filesystem::path> write_template(const std::string& name, unsigned size,
                                                  const std::filesystem::path& folder);

}  // namespace gemm64::dut
