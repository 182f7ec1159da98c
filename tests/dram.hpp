// SPDX-License-Identifier: Apache-2.0
// DRAM channels that no preset has.
#pragma once

#include "host/device/dram_timing.hpp"
#include "tests/test.hpp"

namespace gemm64 {

/// A channel with few small rows, often refreshed, so that a short program meets all of its rules.
inline DramTiming random_dram(std::mt19937& random) {
  const auto power = [&](unsigned low, unsigned high) { return 1U << draw(random, low, high); };
  DramTiming t;
  t.preset = "random";
  t.clock = draw(random, 200, 2000);
  t.ck = draw(random, 200, 2000);
  t.width = power(3, 5);
  t.burst_length = power(3, 4);
  t.groups = power(0, 2);
  t.banks = power(0, 2);
  t.row_bytes = t.burst_bytes() * power(0, 4);
  t.write_buffer = std::max(64U, t.burst_bytes()) * draw(random, 1, 8);
  t.rl = draw(random, 1, 30);
  t.wl = draw(random, 1, 30);
  t.t_burst = draw(random, 1, 8);
  t.t_ccd_s = t.t_burst + draw(random, 0, 2);
  t.t_ccd_l = t.t_ccd_s + draw(random, 0, 4);
  t.t_rcd = draw(random, 1, 30);
  t.t_rp = draw(random, 1, 30);
  t.t_ras = draw(random, 1, 60);
  t.t_rtp = draw(random, 1, 12);
  t.t_wr = draw(random, 1, 30);
  t.t_rrd_s = draw(random, 1, 12);
  t.t_rrd_l = t.t_rrd_s + draw(random, 0, 6);
  t.t_faw = draw(random, 1, 60);
  t.t_wtr_s = draw(random, 1, 12);
  t.t_wtr_l = t.t_wtr_s + draw(random, 0, 6);
  t.t_rtw = draw(random, 1, 30);
  t.t_rfc = 60 + draw(random, 1, 100);
  const unsigned column = t.rl + t.wl + t.t_burst + t.t_wtr_l + t.t_wr + t.t_rtp + t.t_rtw;
  t.t_refi = t.t_rp + t.t_rfc + t.t_ras + t.t_rcd + 2 * column + draw(random, 1, 1000);
  return t;
}

}  // namespace gemm64
