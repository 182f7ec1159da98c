// SPDX-License-Identifier: Apache-2.0
// The compiled bench of a user's array, Verilated or in Icarus, as a child process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/dut/model_build.hpp"
#include "host/dut/stimulus.hpp"
#include "host/dut/subprocess.hpp"

namespace gemm64::dut {

/// Beats as they go over the pipe.
struct Chunk {
  Request request{};
  std::vector<std::uint8_t> data[kInputs], last[kInputs];

  void add(const Description& description, const Tile& tile);
};

class VerilatedBench {
 public:
  VerilatedBench(const Description& description, const BuiltModel& model);

  Observation run(const Stimulus& stimulus);
  /// Sends a chunk as it is. Throws DeviceError if the design never returns or crashes.
  Observation exchange(const Chunk& chunk);

  /// The next run writes this waveform; only with a model built for that.
  void trace(const std::string& file) { trace_ = file; }
  /// Registers that nothing initializes start with other values from now on.
  void restart(std::uint32_t seed);
  /// Of a design with mutants, the active one from the next restart on.
  void choose_mutant(unsigned mutant) { mutant_ = mutant; }

 private:
  const Description& description_;
  std::vector<std::string> command_;
  std::string loop_;  // the combinational loop that the compiler warned of; may be empty
  std::unique_ptr<Child> child_;
  std::uint32_t seed_ = 1;
  unsigned mutant_ = 0;
  std::string trace_;
};

/// The same tiles as one request.
Chunk chunk_of(const Description& description, const Stimulus& stimulus);

}  // namespace gemm64::dut
