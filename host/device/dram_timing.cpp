// SPDX-License-Identifier: Apache-2.0
#include "host/device/dram_timing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "host/device/memory_timing.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr char kPrefix[] = "dram:";
constexpr std::uint32_t kMostClock = 4000;  // MHz
const std::vector<std::uint32_t> kWidths{16, 32, 64};

// JESD209-4, LPDDR4-3200, tCK 0.625 ns: two x16 dies of 8 Gb per channel in lockstep. RL 28 and WL
// 14 are of set A without DBI; rl adds tDQSCK(max) = 3.5 ns, wl a cycle of tDQSS. tRCD and tWR 18
// ns, tRPab 21 ns, tRAS 42 ns, tRTP 7.5 ns, tRRD and tWTR 10 ns, tFAW 40 ns, tRFCab 280 ns, tREFI
// 3.904 us. tRTW = RL + tDQSCK + BL/2 - WL + tWPRE.
DramTiming lpddr4() { return {}; }

// JESD79-4, DDR4-2400 of grade R (17-17-17), tCK 0.833 ns: eight x8 chips of 8 Gb. CL 17, CWL 12,
// tRCD and tRP 14.16 ns, tRAS 32 ns, tRTP 7.5 ns, tWR 15 ns, tRRD_S 3.3 and tRRD_L 4.9 ns, tFAW 21
// ns (1 KiB pages), tWTR_S 2.5 and tWTR_L 7.5 ns, tCCD_S 4 and tCCD_L 6 cycles, tRFC1 350 ns, tREFI
// 7.8 us. tRTW = CL + BL/2 + 2 - CWL.
DramTiming ddr4() {
  DramTiming t;
  t.preset = "ddr4";
  t.ck = 1200;
  t.data_rate = 2400;
  t.width = 64;
  t.burst_length = 8;
  t.groups = 4;
  t.banks = 4;
  t.row_bytes = 8192;
  t.rl = 17;
  t.wl = 12;
  t.t_burst = 4;
  t.t_ccd_s = 4;
  t.t_ccd_l = 6;
  t.t_rcd = 17;
  t.t_rp = 17;
  t.t_ras = 39;
  t.t_rtp = 9;
  t.t_wr = 18;
  t.t_rrd_s = 4;
  t.t_rrd_l = 6;
  t.t_faw = 26;
  t.t_wtr_s = 3;
  t.t_wtr_l = 9;
  t.t_rtw = 11;
  t.t_rfc = 420;
  t.t_refi = 9360;
  return t;
}

// JESD209-5, LPDDR5-6400 in bank group mode, WCK:CK 4:1, tCK 1.25 ns: two x16 dies of 16 Gb in
// lockstep. RL 17 (set 0) and WL 9 (set A); rl adds tWCKDQO(max) = 1.6 ns. BL16 in another group
// after 2 cycles, in the same one after 4. tRCD 18 ns, tRPab 21 ns, tRAS 42 ns, tRBTP 7.5 ns, tWR
// 34 ns, tRRD 5 ns, tFAW 20 ns, tWTR_S 6.25 and tWTR_L 12 ns, tRFCab 280 ns, tREFI 3.906 us. tRTW =
// RL
// + BL/n + tWCKDQO - WL.
DramTiming lpddr5() {
  DramTiming t;
  t.preset = "lpddr5";
  t.ck = 800;
  t.data_rate = 6400;
  t.groups = 4;
  t.banks = 4;
  t.rl = 19;
  t.wl = 9;
  t.t_burst = 2;
  t.t_ccd_s = 2;
  t.t_ccd_l = 4;
  t.t_rcd = 15;
  t.t_rp = 17;
  t.t_ras = 34;
  t.t_rtp = 6;
  t.t_wr = 28;
  t.t_rrd_s = 4;
  t.t_rrd_l = 4;
  t.t_faw = 16;
  t.t_wtr_s = 5;
  t.t_wtr_l = 10;
  t.t_rtw = 12;
  t.t_rfc = 224;
  t.t_refi = 3124;
  return t;
}

const std::vector<DramTiming>& presets() {
  static const std::vector<DramTiming> all{lpddr4(), ddr4(), lpddr5()};
  return all;
}

const DramTiming* find_preset(const std::string& name) {
  for (const DramTiming& preset : presets()) {
    if (preset.preset == name) return &preset;
  }
  return nullptr;
}

[[noreturn]] void refuse(const std::string& word, const std::string& why) {
  throw UsageError(fmt::format("memory '{}': {}", word, why));
}

std::uint32_t whole(const std::string& word, const std::string& key, const std::string& value) {
  std::uint32_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [last, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || last != end) {
    refuse(word, fmt::format("{} is '{}'; it is a whole number", key, value));
  }
  return number;
}

}  // namespace

std::string DramTiming::word() const {
  std::string text = kPrefix + preset;
  const DramTiming* const usual = find_preset(preset);
  if (usual == nullptr) return text;
  if (clock != usual->clock) text += fmt::format(",clock={}", clock);
  if (width != usual->width) text += fmt::format(",width={}", width);
  return text;
}

const std::vector<std::string>& dram_presets() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const DramTiming& preset : presets()) all.push_back(preset.preset);
    return all;
  }();
  return names;
}

bool is_dram_word(const std::string& word) {
  return word.compare(0, 4, kPrefix, 4) == 0 && (word.size() == 4 || word[4] == ':');
}

DramTiming dram_timing(const std::string& word) {
  const std::string known = fmt::format("dram:{}", fmt::join(dram_presets(), ", dram:"));
  const std::size_t prefix = sizeof kPrefix - 1;
  if (word.compare(0, prefix, kPrefix) != 0) {
    refuse(word, "a DRAM channel is one of " + known);
  }
  std::size_t comma = std::min(word.find(','), word.size());
  const DramTiming* const preset = find_preset(word.substr(prefix, comma - prefix));
  if (preset == nullptr) {
    refuse(word, fmt::format("no DRAM is called '{}'; use one of {}",
                             word.substr(prefix, comma - prefix), known));
  }
  DramTiming timing = *preset;
  while (comma != word.size()) {
    const std::size_t begin = comma + 1;
    comma = std::min(word.find(',', begin), word.size());
    const std::string parameter = word.substr(begin, comma - begin);
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const std::string key = parameter.substr(0, equals);
    const std::string value = parameter.substr(std::min(equals + 1, parameter.size()));
    if (key == "clock") {
      timing.clock = whole(word, key, value);
      if (timing.clock == 0 || timing.clock > kMostClock) {
        refuse(word, fmt::format("clock is '{}'; it is from 1 to {} MHz", value, kMostClock));
      }
    } else if (key == "width") {
      const std::uint32_t width = whole(word, key, value);
      if (std::find(kWidths.begin(), kWidths.end(), width) == kWidths.end()) {
        refuse(word,
               fmt::format("width is '{}'; it is one of {} pins", value, fmt::join(kWidths, ", ")));
      }
      timing.row_bytes = preset->row_bytes / preset->width * width;
      timing.width = width;
    } else {
      refuse(word, fmt::format("'{}' is no parameter; use clock=MHZ or width=PINS", parameter));
    }
  }
  return timing;
}

void check(const DramTiming& t) {
  const auto refuse_timing = [&t](const std::string& why) { refuse(t.word(), why); };
  if (t.clock == 0 || t.ck == 0) refuse_timing("a clock of 0 MHz");
  if (t.t_rcd == 0 || t.t_rp == 0 || t.t_ras == 0 || t.t_rtp == 0) {
    refuse_timing("tRCD, tRP, tRAS and tRTP are at least 1");
  }
  for (const std::uint32_t size : {t.burst_bytes(), t.groups, t.banks, t.row_bytes}) {
    if (size == 0 || (size & (size - 1)) != 0) {
      refuse_timing(fmt::format("the size {} is no power of two", size));
    }
  }
  if (t.row_bytes < t.burst_bytes()) refuse_timing("a row holds no burst");
  if (t.write_buffer < std::max(64U, t.burst_bytes())) {
    refuse_timing("its write buffer is smaller than a beat or a burst");
  }
  if (t.t_burst == 0 || t.t_ccd_s < t.t_burst || t.t_ccd_l < t.t_ccd_s) {
    refuse_timing("bursts overlap; tCCD_L >= tCCD_S >= the cycles of a burst > 0");
  }
  if (t.t_rrd_s == 0 || t.t_rrd_l < t.t_rrd_s || t.t_wtr_l < t.t_wtr_s || t.t_rtw == 0) {
    refuse_timing("tRRD_L >= tRRD_S > 0, tWTR_L >= tWTR_S and tRTW > 0");
  }
  // ACTs before a refresh do not delay those after it.
  const std::uint64_t refresh = std::uint64_t{t.t_rp} + t.t_rfc;
  if (t.t_faw > refresh + t.t_ras || t.t_rrd_l > refresh + t.t_ras) {
    refuse_timing("tFAW and tRRD are at most tRAS + tRP + tRFC");
  }
  // An access ends between two refreshes.
  const std::uint64_t column =
      std::uint64_t{t.rl} + t.wl + t.t_burst + t.t_wtr_l + t.t_wr + t.t_rtp + t.t_rtw;
  if (t.t_refi <= refresh + t.t_ras + t.t_rcd + 2 * column) {
    refuse_timing("tREFI leaves no time between two refreshes");
  }
}

void check(const MemoryTiming& memory) {
  if (memory.sharing != MemorySharing::kDram) return;
  check(memory.dram);
  if (memory.bytes_per_cycle == 0) return;
  throw UsageError(fmt::format(
      "memory '{}': its pins limit the bytes per cycle; leave memory-bytes-per-cycle out, or give "
      "it a width",
      memory.word()));
}

bool set_memory(MemoryTiming& memory, const std::string& word) {
  if (is_dram_word(word)) {
    memory.dram = dram_timing(word);
    memory.sharing = MemorySharing::kDram;
    return true;
  }
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    if (word != name(sharing)) continue;
    memory.sharing = sharing;
    return true;
  }
  return false;
}

}  // namespace gemm64
