// SPDX-License-Identifier: Apache-2.0
#include "host/report/dram_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/util/text.hpp"

namespace gemm64 {

DramUse::DramUse(const DramTiming& timing, const DramCounts& of, const Counters& counters)
    : counts(of),
      bytes(of.bursts() * timing.burst_bytes()),
      peak_bytes_per_cycle(timing.peak_bytes_per_cycle()) {
  const auto cycles = static_cast<double>(counters[counter::kTotalClocks]);
  if (cycles == 0) return;
  bytes_per_cycle = static_cast<double>(bytes) / cycles;
  waiting = static_cast<double>(counters[counter::kComputeWaitWeights] +
                                counters[counter::kComputeWaitActivations] +
                                counters[counter::kComputeWaitResults]) /
            cycles;
}

std::string to_text(const DramUse& use) {
  return fmt::format(
      "DRAM: {} bytes in {} bursts, {} row hits ({}), {} misses; {:.2f} bytes per cycle, {} of the "
      "peak of {:.2f}; the array waits for memory in {} of the cycles.\n",
      grouped(use.bytes), grouped(use.counts.bursts()), grouped(use.counts.hits),
      percent(static_cast<double>(use.counts.hits) /
              static_cast<double>(std::max<std::uint64_t>(use.counts.bursts(), 1))),
      grouped(use.counts.misses()), use.bytes_per_cycle, percent(use.share_of_peak()),
      use.peak_bytes_per_cycle, percent(use.waiting));
}

nlohmann::ordered_json to_json(const DramUse& use) {
  return {{"bytes", use.bytes},
          {"reads", use.counts.reads},
          {"writes", use.counts.writes},
          {"row_hits", use.counts.hits},
          {"row_misses", use.counts.misses()},
          {"row_conflicts", use.counts.conflicts},
          {"bytes_per_cycle", use.bytes_per_cycle},
          {"peak_bytes_per_cycle", use.peak_bytes_per_cycle},
          {"share_of_peak", use.share_of_peak()},
          {"waiting_share", use.waiting}};
}

}  // namespace gemm64
