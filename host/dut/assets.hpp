// SPDX-License-Identifier: Apache-2.0
// Files of sim/dut that are part of the program, since it may run where no sources are.
#pragma once

#include <string_view>
#include <vector>

namespace gemm64::dut {

struct Asset {
  std::string_view name;  // "harness.cpp", "templates/weight-stationary/array.v"
  std::string_view text;
};

/// All of them, in alphabetical order.
std::vector<Asset> assets();

/// Throws std::out_of_range if there is none of that name.
std::string_view asset(std::string_view name);

}  // namespace gemm64::dut
