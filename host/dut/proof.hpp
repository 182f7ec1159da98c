// SPDX-License-Identifier: Apache-2.0
// A proof that a user's array computes the definition for all operands, by Yosys and Bitwuzla.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/dut/conformance.hpp"
#include "host/dut/model_build.hpp"

namespace gemm64::dut {

/// Beyond this side the solver needs hours.
inline constexpr unsigned kLargestProof = 8;

struct ProofOptions {
  BuildOptions build;
  unsigned tiles = 2;        // that follow each other after one reset
  std::uint64_t cycles = 0;  // after the reset; 0: as a simulated run needs, and some more
  double seconds = 600;      // of the solver
  std::string waveform;      // of a counterexample; empty: none
};

struct ProofResult {
  bool proven = false;
  std::vector<std::int64_t> lengths;    // of each tile's moving operand
  std::uint64_t operand_bits = 0;       // that are unknown
  std::uint64_t sums = 0;               // compared
  std::uint64_t cycles = 0, shown = 0;  // after the reset: asked for, and shown
  std::optional<Failure> counterexample;
  bool replayed = false;           // in the simulation too
  std::filesystem::path waveform;  // GTKWave's save file, or the solver's VCD; may be empty
  double seconds = 0;

  bool timed_out() const { return !proven && !counterexample; }
};

/// Throws UsageError if the array is larger than kLargestProof, if Yosys cannot read it, if a
/// register has another cycle than the rising edge of aclk, or if Bitwuzla cannot be installed.
ProofResult prove(const Description& description, const ProofOptions& options);

/// What the proof says and assumes, or the counterexample, or how far it came.
std::string proof_text(const Description& description, const ProofOptions& options,
                       const ProofResult& result);
nlohmann::ordered_json proof_json(const Description& description, const ProofResult& result);

}  // namespace gemm64::dut
