// SPDX-License-Identifier: Apache-2.0
// Small changes of a user's RTL, one at a time, and which of them the conformance suite notices.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/dut/model_build.hpp"

namespace gemm64::dut {

struct Mutant {
  std::string change;  // "inv of bit 4 of u_array.row[1].column[3].u_pe.weight_q"
  std::string source;  // "pe.v:19"
  std::string rule;    // that noticed it; empty: none
};

struct MutationResult {
  std::vector<Mutant> mutants;

  std::uint64_t killed() const;
  /// Mutants by the rule that noticed them first.
  std::map<std::string, std::uint64_t> by_rule() const;
};

/// Makes `count` mutants with Yosys (`mutate`), all in one model of which an input chooses one.
/// Throws UsageError if Yosys cannot read the design, or if the suite fails without a mutant.
MutationResult run_mutants(const Description& description, const BuildOptions& options,
                           unsigned count, std::uint32_t seed,
                           const std::function<void(double)>& progress);

}  // namespace gemm64::dut
