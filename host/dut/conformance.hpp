// SPDX-License-Identifier: Apache-2.0
// The conformance suite: what every array that keeps the contract does.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/dut/verilated_bench.hpp"

namespace gemm64::dut {

struct Failure {
  std::string rule;
  std::string problem;                            // what went wrong, in words
  std::string diagnosis;                          // the defect that explains it; may be empty
  Stimulus stimulus;                              // the smallest input found that fails
  std::int64_t tile = -1, row = -1, column = -1;  // of the first wrong value; -1: there is none
  std::uint64_t cycle = 0;
  std::int64_t expected = 0;
  std::string got{};
  std::uint32_t seed = 1;       // of registers that nothing initializes
  std::int64_t holds_from = 0;  // the rule holds if all tiles have as many beats; 0: not known
};

struct RuleResult {
  std::string rule, title;
  std::uint64_t cases = 0;
  std::optional<Failure> failure;
  std::string skipped;  // why it was not tried; empty if it was

  bool passed() const { return skipped.empty() && !failure; }
};

struct CheckResult {
  std::vector<RuleResult> rules;
  double seconds = 0;

  std::size_t passed() const;
  std::size_t tried() const;
};

/// A bench whose registers without a reset start with values of `seed`.
using MakeBench = std::function<VerilatedBench&(std::uint32_t seed)>;

/// Runs all rules. `progress`: the rule that is tried and the share done. In Icarus, values that
/// are unknown are a failure too.
CheckResult check_conformance(const Description& description, const MakeBench& bench,
                              const std::function<void(const std::string&, double)>& progress,
                              Simulator simulator = Simulator::kVerilator);

/// The first case that fails, as it is; empty if all rules hold.
std::optional<Failure> first_failure(const Description& description, const MakeBench& bench);

/// The defect that explains a failure of the suite's small inputs; empty if none does.
std::string defect_of_suite(const Description& description, const MakeBench& bench);

/// Does a diagnosis name a defect, rather than only the values that differ?
bool names_defect(const std::string& diagnosis);

/// The first thing that is wrong in a run of `stimulus`; empty if all is right. `rule`: what a
/// wrong value is a failure of. `before`: the tile that ran before, whose operands a cell may still
/// hold; or nullptr.
std::optional<Failure> evaluate(const Description& description, const std::string& rule,
                                const Stimulus& stimulus, const Observation& seen,
                                const Tile* before = nullptr);

/// "1 tile, 2 rows of activations" of a stimulus, and its operands where they are few.
std::string stimulus_in_words(const Description& description, const Stimulus& stimulus);

}  // namespace gemm64::dut
