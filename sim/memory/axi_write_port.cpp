// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/axi_write_port.hpp"

#include <algorithm>
#include <cstring>

namespace gemm64 {

void AxiWritePort::reset() {
  reset_base();
  bursts_.clear();
  responses_.clear();
  memory_.forget_writes();
  flip_ = {};
  beat_ = 0;
  early_beats_ = 0;
  awready_ = wready_ = bvalid_ = false;
  bid_ = 0;
  bresp_ = AxiResponse::kOkay;
  data_waits_ = false;
}

void AxiWritePort::accept(const AxiAddress& aw) {
  Burst burst;
  burst.address = aw.address;
  burst.beats = aw.length + 1u;
  burst.inside = beats_inside(aw);
  if (burst.inside < burst.beats) burst.response = AxiResponse::kDecodeError;
  if (const Fault fault = take_fault(); fault.beat != kNoBeat) {
    burst.response = fault.response;
    burst.inside = 0;
  }
  burst.id = aw.id;
  burst.hangs = statistics_base_ + statistics_.bursts >= hang_from_;
  ++statistics_.bursts;
  bursts_.push(burst);
  // What goes to a target leaves the memory as it is.
  memory_.begin_write(burst.address, target_ != nullptr ? 0 : std::size_t{burst.inside} * width_);
  // Early beats exist only while no accepted burst waits for data: they belong to this one.
  for (unsigned i = 0; i < early_beats_; ++i) {
    take_beat(early_[i].data.data(), early_[i].strobe, early_[i].last);
  }
  early_beats_ = 0;
}

void AxiWritePort::divert_beat(const std::uint8_t* data, std::uint64_t strobe) {
  const std::size_t from = std::size_t{beat_} * width_;
  diverted_.resize(from + width_);
  enables_.resize(from + width_);
  copy_beat(diverted_.data() + from, data);
  for (unsigned i = 0; i < width_; ++i) enables_[from + i] = (strobe >> i) & 1u ? 0xff : 0;
}

BurstTarget::Answer AxiWritePort::send(const Burst& burst) {
  const bool all = std::find(enables_.begin(), enables_.end(), 0) == enables_.end();
  return target_->write(burst.address, diverted_.data(), all ? nullptr : enables_.data(),
                        diverted_.size());
}

void AxiWritePort::take_flipped(const AxiWriteMaster& master) {
  std::array<std::uint8_t, kMaxWidth> data{};
  std::memcpy(data.data(), master.wdata, width_);
  data[flip_.byte] ^= static_cast<std::uint8_t>(1u << flip_.bit);
  flip_.waits = false;
  AxiWriteMaster flipped = master;
  flipped.wdata = data.data();
  take(flipped);
}

void AxiWritePort::keep_early_beat(const AxiWriteMaster& master) {
  if (early_beats_ != 0 && early_[early_beats_ - 1].last) {
    fail("w data of a second burst ahead of its address; one burst may be ahead");
  }
  if (early_beats_ == kMaxBeats) {
    fail("wlast missing after " + std::to_string(kMaxBeats) + " beats ahead of their address");
  }
  Beat& beat = early_[early_beats_++];
  std::memcpy(beat.data.data(), master.wdata, width_);
  beat.strobe = master.wstrb;
  beat.last = master.wlast;
}

void AxiWritePort::remember_data(const AxiWriteMaster& master) {
  std::memcpy(waiting_data_.data.data(), master.wdata, width_);
  waiting_data_.strobe = master.wstrb;
  waiting_data_.last = master.wlast;
}

void AxiWritePort::check_data_unchanged(const AxiWriteMaster& master) const {
  const Beat& was = waiting_data_;
  const auto* data = static_cast<const std::uint8_t*>(master.wdata);
  const bool same = was.last == master.wlast && was.strobe == master.wstrb &&
                    std::memcmp(was.data.data(), data, width_) == 0;
  if (same) return;
  const std::string rule = "w payload changed before wready: ";
  if (was.last != master.wlast) {
    fail(rule + "wlast was " + std::to_string(was.last) + ", is " + std::to_string(master.wlast));
  }
  if (was.strobe != master.wstrb) {
    fail(rule + "wstrb was " + std::to_string(was.strobe) + ", is " + std::to_string(master.wstrb));
  }
  for (unsigned i = 0; i < width_; ++i) {
    if (was.data[i] != data[i]) {
      fail(rule + "wdata byte " + std::to_string(i) + " was " + std::to_string(was.data[i]) +
           ", is " + std::to_string(data[i]));
    }
  }
}

void AxiWritePort::fail_last(unsigned beats, bool last) const {
  fail("wlast is " + std::to_string(last) + " at beat " + std::to_string(beat_ + 1) +
       " of a burst of " + std::to_string(beats));
}

void AxiWritePort::scramble() {
  const std::uint64_t noise = random();
  bid_ = noise & 1u;
  bresp_ = static_cast<AxiResponse>((noise & 2u) != 0 ? 2 + ((noise >> 2) & 1u) : 0);
}

}  // namespace gemm64
