// SPDX-License-Identifier: Apache-2.0
// The inputs of each rule of the conformance suite, from small to large.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/dut/stimulus.hpp"

namespace gemm64::dut {

struct Case {
  Stimulus stimulus;
  std::uint32_t seed = 1;  // of registers that nothing initializes
};

struct RuleCases {
  std::string rule, title;
  std::function<std::vector<Case>(const Description&)> cases;
};

/// Every rule that values decide, in the order in which they are tried.
const std::vector<RuleCases>& rules_with_cases();

/// A tile of random operands whose moving one has `length` beats.
Tile random_tile(const Description& description, std::int64_t length, std::uint32_t seed);

}  // namespace gemm64::dut
