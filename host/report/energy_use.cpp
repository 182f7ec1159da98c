// SPDX-License-Identifier: Apache-2.0
#include "host/report/energy_use.hpp"

#include <fmt/format.h>

#include "host/report/energy_assumed.hpp"

namespace gemm64 {

EnergyUse::EnergyUse(const Geometry& geometry, std::uint64_t macs, std::uint64_t tiles,
                     const Counters& counters) {
  const std::uint64_t n = geometry.n, word = 8 * n;
  const std::uint64_t rows = counters[counter::kComputeCompute];
  const std::uint64_t ports =
      counters[counter::kBytesWeights] + counters[counter::kBytesActivations] +
      counters[counter::kBytesCommands] + counters[counter::kBytesResults] +
      counters[counter::kBytesParameters] + counters[counter::kBytesOperands];
  dram_bits = 8 * ports;
  const std::uint64_t weights = 8 * counters[counter::kBytesWeights] + tiles * n * word;
  const std::uint64_t scratchpad = (counters[counter::kActivationsTransfer] + rows) * word;
  // Words that no port carried are those of the tensor memory.
  const std::uint64_t moved = counters[counter::kActivationsTransfer] +
                              counters[counter::kOperandsTransfer] +
                              counters[counter::kResultsTransfer];
  const std::uint64_t carried = counters[counter::kBytesActivations] +
                                counters[counter::kBytesOperands] +
                                counters[counter::kBytesResults];
  const std::uint64_t tensors = moved * word - 8 * carried;
  const std::uint64_t sums = 2 * rows * n * 32;  // each is read and written
  sram_bits = weights + scratchpad + tensors + sums;
  constexpr double kMjPerPj = 1e-9;
  const double cells = static_cast<double>(geometry.macs_per_clock()) *
                       static_cast<double>(counters[counter::kTotalClocks]);
  logic_mj =
      (static_cast<double>(macs) * energy::kLogicPjPerMac + cells * energy::kLogicPjPerCell) *
      kMjPerPj;
  sram_mj = static_cast<double>(sram_bits) * energy::kSramPjPerBit * kMjPerPj;
  dram_mj = static_cast<double>(dram_bits) * energy::kDramPjPerBit * kMjPerPj;
}

std::string to_text(const EnergyUse& use) {
  return fmt::format(
      "Energy, estimated: {:.3f} mJ: DRAM {:.3f} ({:g} pJ per bit), SRAM {:.3f} ({:g} pJ per bit), "
      "logic {:.3f}.\n",
      use.total_mj(), use.dram_mj, energy::kDramPjPerBit, use.sram_mj, energy::kSramPjPerBit,
      use.logic_mj);
}

nlohmann::ordered_json to_json(const EnergyUse& use) {
  return {{"total_mj", use.total_mj()},
          {"logic_mj", use.logic_mj},
          {"sram_mj", use.sram_mj},
          {"dram_mj", use.dram_mj},
          {"sram_bits", use.sram_bits},
          {"dram_bits", use.dram_bits},
          {"sram_pj_per_bit", energy::kSramPjPerBit},
          {"dram_pj_per_bit", energy::kDramPjPerBit},
          {"logic_pj_per_mac", energy::kLogicPjPerMac},
          {"logic_pj_per_cell", energy::kLogicPjPerCell}};
}

}  // namespace gemm64
