// SPDX-License-Identifier: Apache-2.0
// A DRAM channel as far as cycles depend on it: the device's organization and its JEDEC timing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gemm64 {

/// Times are in cycles of the DRAM's command clock CK (JEDEC's nCK), from command to command, at
/// the default frequencies and sizes of one preset. Members have JEDEC's names;
/// docs/explanations/dram.md describes the policy of the controller and what is left out.
struct DramTiming {
  std::string preset = "lpddr4";   // its name
  std::uint32_t clock = 1000;      // MHz of the accelerator
  std::uint32_t ck = 1600;         // MHz of CK
  std::uint32_t data_rate = 3200;  // transfers per microsecond and pin
  std::uint32_t width = 32;        // pins of data
  std::uint32_t burst_length = 16;
  std::uint32_t groups = 1;           // bank groups
  std::uint32_t banks = 8;            // in each group
  std::uint32_t row_bytes = 4096;     // of all chips of the channel
  std::uint32_t write_buffer = 4096;  // bytes of results that the controller holds
  std::uint32_t rl = 34, wl = 15;     // command to first data, of a read and of a write
  std::uint32_t t_burst = 8;          // CK cycles of the data of a burst
  std::uint32_t t_ccd_s = 8;          // column to column, another bank group
  std::uint32_t t_ccd_l = 8;          // the same one
  std::uint32_t t_rcd = 29;           // ACT to column
  std::uint32_t t_rp = 34;            // PRE to ACT, and to REF
  std::uint32_t t_ras = 68;           // ACT to PRE
  std::uint32_t t_rtp = 12;           // read to PRE
  std::uint32_t t_wr = 29;            // end of write data to PRE
  std::uint32_t t_rrd_s = 16;         // ACT to ACT, another bank group
  std::uint32_t t_rrd_l = 16;         // the same one
  std::uint32_t t_faw = 64;           // in which there are four ACTs at most
  std::uint32_t t_wtr_s = 16;         // end of write data to read, another bank group
  std::uint32_t t_wtr_l = 16;         // the same one
  std::uint32_t t_rtw = 30;           // read to write
  std::uint32_t t_rfc = 448;          // REF to ACT
  std::uint32_t t_refi = 6246;        // REF to REF, on average

  /// Bytes of a column command.
  std::uint32_t burst_bytes() const { return burst_length * width / 8; }
  /// Bytes per cycle of the accelerator that the pins carry at most.
  double peak_bytes_per_cycle() const { return static_cast<double>(data_rate) * width / 8 / clock; }
  /// "dram:lpddr4", with the parameters that differ from the preset's: "dram:lpddr4,clock=800".
  std::string word() const;
};

/// Bursts of the channel, by row: a hit found its row open, since the last access to the bank after
/// its last refresh was to the same row; a conflict another row; any other miss a closed bank.
struct DramCounts {
  std::uint64_t reads = 0, writes = 0;  // bursts
  std::uint64_t hits = 0, conflicts = 0;

  std::uint64_t bursts() const { return reads + writes; }
  std::uint64_t misses() const { return bursts() - hits; }
  DramCounts& operator+=(const DramCounts& other) {
    reads += other.reads;
    writes += other.writes;
    hits += other.hits;
    conflicts += other.conflicts;
    return *this;
  }
  bool operator==(const DramCounts& other) const {
    return reads == other.reads && writes == other.writes && hits == other.hits &&
           conflicts == other.conflicts;
  }
};

/// The presets' names: "lpddr4" for LPDDR4-3200, "ddr4" for DDR4-2400, "lpddr5" for LPDDR5-6400.
const std::vector<std::string>& dram_presets();

/// Does the word ask for a DRAM channel, well-formed or not?
bool is_dram_word(const std::string& word);

/// Reads "dram:PRESET[,clock=MHZ][,width=PINS]". Throws UsageError, which lists the presets or the
/// values that a parameter has, for anything else.
DramTiming dram_timing(const std::string& word);

/// Throws UsageError for a channel that cannot work: sizes that are no powers of two, or times by
/// which it would do nothing but refresh.
void check(const DramTiming& timing);

}  // namespace gemm64
