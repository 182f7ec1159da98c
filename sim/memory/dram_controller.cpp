// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/dram_controller.hpp"

#include <algorithm>

namespace gemm64 {

DramController::DramController(const DramTiming& timing, unsigned width)
    : timing_(timing), width_(width) {
  reset();
}

unsigned DramController::join(bool writes) {
  ports_.emplace_back();
  ports_.back().writes = writes;
  return static_cast<unsigned>(ports_.size() - 1);
}

void DramController::reset() {
  for (Port& port : ports_) {
    port.there = 0;
    port.coming.clear();
  }
  banks_.assign(std::size_t{timing_.groups} * timing_.banks, {});
  group_opened_.assign(timing_.groups, kLongAgo);
  group_read_ = group_write_ = group_opened_;
  opened_ = read_ = write_ = refreshed_ = kLongAgo;
  four_opened_.assign(4, kLongAgo);
  due_ = timing_.t_refi;
  tick_ = 0;
  bursts_.clear();
  first_ = rowless_ = seen_ = next_ = 0;
  taken_ = seen_beats_ = freed_ = asked_ = 0;
  counts_ = {};
  is_new_ = true;
}

void DramController::rest(std::uint64_t clock) {
  if (!is_new_) {
    const bool delivered = std::all_of(ports_.begin(), ports_.end(), [](Port& port) {
      return port.there == 0 && port.coming.empty();
    });
    if (!bursts_.empty() || !delivered) return;
    const DramCounts counts = counts_;
    reset();
    counts_ = counts;
  }
  epoch_ = clock + 1;
  tick_ = 0;
}

bool DramController::may_move(unsigned number) {
  Port& port = ports_[number];
  if (port.writes) return (taken_ - freed_ + 1) * width_ <= std::max(timing_.write_buffer, width_);
  return arrived(port);
}

bool DramController::arrived(Port& port) {
  while (!port.coming.empty() && port.coming.front().clock <= clock_) {
    port.there += port.coming.front().count;
    port.coming.pop();
  }
  return port.there != 0;
}

void DramController::moved(unsigned number) {
  Port& port = ports_[number];
  if (port.writes) {
    ++taken_;
    is_new_ = false;
  } else {
    --port.there;
  }
}

void DramController::accepted(unsigned port, std::uint64_t address, unsigned beats) {
  is_new_ = false;
  const bool write = ports_[port].writes;
  const std::uint64_t end = address + std::uint64_t{beats} * width_;
  const std::uint64_t size = timing_.burst_bytes();
  for (std::uint64_t from = address; from != end;) {
    const std::uint64_t to = std::min(end, from / size * size + size);
    Burst burst{};
    burst.port = port;
    burst.write = write;
    burst.last = to == end;
    // Columns of a row are spread over the bank groups; the banks of a group follow row by row.
    std::uint64_t place = from / size;
    burst.group = static_cast<unsigned>(place % timing_.groups);
    place /= timing_.groups;
    place /= timing_.row_bytes / size;
    burst.bank = burst.group * timing_.banks + static_cast<unsigned>(place % timing_.banks);
    burst.row = place / timing_.banks;
    // Beats that end in it: all of several in one burst, one of several bursts with the last.
    burst.beats = (to - address) / width_ - (from - address) / width_;
    if (write) {
      burst.needs = asked_ + (to - address + width_ - 1) / width_;
    }
    banks_[burst.bank].waiting.push_back(next_++);
    bursts_.push_back(burst);
    from = to;
  }
  if (write) asked_ += beats;
}

/// The ticks that begin before `clock`, counted from that in which the first began. They see what
/// was handed over before the cycle before.
void DramController::run(std::uint64_t clock) {
  const auto until = static_cast<Tick>(clock * timing_.ck);
  for (; tick_ * timing_.clock < until; ++tick_) tick();
  seen_ = next_;
  seen_beats_ = taken_;
}

void DramController::tick() {
  if (tick_ >= due_) {
    refresh();
    return;
  }
  if (first_ == seen_) return;
  close_rows();
  open_rows();
  issue();
}

bool DramController::may_close(const Bank& bank) const {
  return tick_ >= bank.opened + timing_.t_ras && tick_ >= bank.read + timing_.t_rtp &&
         tick_ >= bank.write + timing_.wl + timing_.t_burst + timing_.t_wr;
}

/// Nothing is issued until all banks can be closed together.
void DramController::refresh() {
  const auto waits = [this](const Bank& bank) { return bank.open && !may_close(bank); };
  if (std::any_of(banks_.begin(), banks_.end(), waits)) return;
  for (Bank& bank : banks_) bank.open = bank.used = bank.planned = false;
  refreshed_ = tick_ + timing_.t_rp + timing_.t_rfc;
  due_ += timing_.t_refi;
  rowless_ = first_;
  is_new_ = false;
}

void DramController::close_rows() {
  for (Bank& bank : banks_) {
    if (!bank.open || bank.waiting.empty() || bank.waiting.front() >= seen_) continue;
    if (burst(bank.waiting.front()).row == bank.row || !may_close(bank)) continue;
    bank.open = false;
    bank.closed = tick_;
  }
}

void DramController::open_rows() {
  for (; rowless_ < seen_; ++rowless_) {
    const Burst& next = burst(rowless_);
    const Bank& bank = banks_[next.bank];
    if (bank.planned && bank.planned_row == next.row) continue;
    if (bank.waiting.front() != rowless_ || !open(next)) return;
  }
}

bool DramController::open(const Burst& burst) {
  Bank& bank = banks_[burst.bank];
  if (bank.open || tick_ < bank.closed + timing_.t_rp || tick_ < refreshed_) return false;
  if (tick_ < opened_ + timing_.t_rrd_s || tick_ < group_opened_[burst.group] + timing_.t_rrd_l ||
      tick_ < four_opened_.front() + timing_.t_faw) {
    return false;
  }
  if (tick_ + timing_.t_ras > due_) return false;
  bank.open = bank.planned = true;
  bank.row = bank.planned_row = burst.row;
  bank.opened = opened_ = group_opened_[burst.group] = tick_;
  four_opened_.pop_front();
  four_opened_.push_back(tick_);
  return true;
}

bool DramController::may_issue(const Burst& burst) const {
  const Bank& bank = banks_[burst.bank];
  if (!bank.open || bank.row != burst.row || tick_ < bank.opened + timing_.t_rcd) return false;
  if (burst.write) {
    return seen_beats_ >= burst.needs && tick_ >= write_ + timing_.t_ccd_s &&
           tick_ >= group_write_[burst.group] + timing_.t_ccd_l && tick_ >= read_ + timing_.t_rtw;
  }
  const Tick data = Tick{timing_.wl} + timing_.t_burst;
  return tick_ >= read_ + timing_.t_ccd_s && tick_ >= group_read_[burst.group] + timing_.t_ccd_l &&
         tick_ >= write_ + data + timing_.t_wtr_s &&
         tick_ >= group_write_[burst.group] + data + timing_.t_wtr_l;
}

void DramController::issue() {
  const Burst& next = bursts_.front();
  if (!may_issue(next)) return;
  Bank& bank = banks_[next.bank];
  Tick end = tick_ + timing_.t_burst;  // of its data
  if (next.write) {
    end += timing_.wl;
    ++counts_.writes;
    bank.write = write_ = group_write_[next.group] = tick_;
    freed_ += next.beats;
  } else {
    ++counts_.reads;
    bank.read = read_ = group_read_[next.group] = tick_;
    end += timing_.rl;
  }
  const std::uint64_t count = next.write ? (next.last ? 1 : 0) : next.beats;
  if (count != 0) {
    const auto clock =
        static_cast<std::uint64_t>((end * timing_.clock + timing_.ck - 1) / timing_.ck);
    ports_[next.port].coming.push({epoch_ + clock + latency_, count});
  }
  if (bank.used) ++(bank.used_row == next.row ? counts_.hits : counts_.conflicts);
  bank.used = true;
  bank.used_row = next.row;
  bank.waiting.pop_front();
  bursts_.pop_front();
  ++first_;
  rowless_ = std::max(rowless_, first_);
}

}  // namespace gemm64
