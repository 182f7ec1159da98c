// SPDX-License-Identifier: Apache-2.0
// A user's array in Icarus Verilog, which knows unknown values: what a register without a reset
// holds reaches the results as X.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/dut/conformance.hpp"
#include "host/dut/model_build.hpp"
#include "host/dut/stimulus.hpp"

namespace gemm64::dut {

/// Compiles and runs once for each stimulus; random stalls are not simulated.
class IcarusBench : public Bench {
 public:
  IcarusBench(const Description& description, std::vector<Port> ports);

  /// Throws UsageError with Icarus's first error if it does not compile there.
  Observation run(const Stimulus& stimulus) override;

 private:
  const Description& description_;
  std::vector<Port> ports_;
};

/// The rule "x-after-reset": after a reset, neither handshakes nor results are unknown.
RuleResult check_unknowns(const Description& description, const std::vector<Port>& ports);

}  // namespace gemm64::dut
