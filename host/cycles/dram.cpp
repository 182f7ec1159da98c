// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/dram.hpp"

#include <algorithm>

namespace gemm64::cycles {

DramChannel::DramChannel(const DramTiming& timing)
    : timing_(timing),
      banks_(std::size_t{timing.groups} * timing.banks),
      groups_(timing.groups),
      due_(timing.t_refi) {}

/// First tick for the ACT of a bank, which is closed for it where it is open.
Tick DramChannel::activate(const Bank& bank, const Last& group, Tick seen) const {
  const Tick closed = bank.open ? std::max(seen, bank.precharge) + timing_.t_rp : bank.activate;
  return std::max({seen, closed, all_.activate + timing_.t_rrd_s, group.activate + timing_.t_rrd_l,
                   activates_[oldest_] + timing_.t_faw});
}

/// First tick for the next column command.
Tick DramChannel::column(const Last& group, bool write) const {
  if (write) {
    return std::max(
        {all_.write + timing_.t_ccd_s, group.write + timing_.t_ccd_l, all_.read + timing_.t_rtw});
  }
  const Tick write_data = Tick{timing_.wl} + timing_.t_burst;
  return std::max({all_.read + timing_.t_ccd_s, group.read + timing_.t_ccd_l,
                   all_.write + write_data + timing_.t_wtr_s,
                   group.write + write_data + timing_.t_wtr_l});
}

/// All banks are closed, and refreshed.
void DramChannel::refresh() {
  Tick precharge = due_;
  for (const Bank& bank : banks_) {
    if (bank.open) precharge = std::max(precharge, bank.precharge);
  }
  const Tick end = precharge + timing_.t_rp + timing_.t_rfc;
  for (Bank& bank : banks_) {
    bank.open = false;
    bank.activate = end;
  }
  due_ += timing_.t_refi;
}

Tick DramChannel::issue(std::uint64_t address, bool write, Tick seen, Tick data) {
  const std::uint64_t burst = address / timing_.burst_bytes();
  const std::size_t in_group = burst % timing_.groups;
  const std::uint64_t row_of_group = burst / timing_.groups * timing_.burst_bytes();
  const std::uint64_t rows = row_of_group / timing_.row_bytes;
  const std::uint64_t row = rows / timing_.banks;
  Bank& bank = banks_[in_group * timing_.banks + rows % timing_.banks];
  Last& group = groups_[in_group];
  for (;;) {
    const bool hit = bank.open && bank.row == row;
    const Tick opened = hit ? kLongAgo : activate(bank, group, seen);
    // A row that could not be closed again by then is opened after the refresh.
    if (!hit && opened + timing_.t_ras > due_) {
      refresh();
      continue;
    }
    // A hit follows the column command that opened the row, which waited for tRCD.
    const Tick at = std::max({seen, data, opened + timing_.t_rcd, column(group, write)});
    if (at >= due_) {
      refresh();
      continue;
    }
    ++(write ? counts_.writes : counts_.reads);
    if (hit) {
      ++counts_.hits;
    } else {
      if (bank.open) ++counts_.conflicts;
      bank.open = true;
      bank.row = row;
      bank.precharge = opened + timing_.t_ras;
      all_.activate = group.activate = activates_[oldest_] = opened;
      oldest_ = (oldest_ + 1) % 4;
    }
    const Tick recovered =
        write ? Tick{timing_.wl} + timing_.t_burst + timing_.t_wr : Tick{timing_.t_rtp};
    bank.precharge = std::max(bank.precharge, at + recovered);
    (write ? all_.write : all_.read) = at;
    (write ? group.write : group.read) = at;
    return at;
  }
}

}  // namespace gemm64::cycles
