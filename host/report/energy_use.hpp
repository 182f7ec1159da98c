// SPDX-License-Identifier: Apache-2.0
// The energy of programs, estimated from their counters.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "host/device/counters.hpp"
#include "host/device/geometry.hpp"

namespace gemm64 {

/// Energy by what takes it: logic by MACs and cycles, memories by bits. The energies assumed are in
/// host/report/energy_assumed.hpp.
struct EnergyUse {
  /// `tiles`: tiles of weights that enter the array, for each block of rows. `counters`: of the
  /// same programs.
  EnergyUse(const Geometry& geometry, std::uint64_t macs, std::uint64_t tiles,
            const Counters& counters);

  std::uint64_t sram_bits = 0;  // read and written in weight buffer, scratchpad and accumulator
  std::uint64_t dram_bits = 0;  // that cross a port
  double logic_mj = 0, sram_mj = 0, dram_mj = 0;
  double total_mj() const { return logic_mj + sram_mj + dram_mj; }
};

/// One line, with its end.
std::string to_text(const EnergyUse& use);
nlohmann::ordered_json to_json(const EnergyUse& use);

}  // namespace gemm64
