// SPDX-License-Identifier: Apache-2.0
#include "sim/memory/axi_read_port.hpp"

namespace gemm64 {

void AxiReadPort::reset() {
  reset_base();
  bursts_.clear();
  diverted_.clear();
  old_.clear();
  flip_ = {};
  beat_ = 0;
  arready_ = rvalid_ = rlast_ = false;
  rid_ = 0;
  rresp_ = AxiResponse::kOkay;
  rdata_.fill(0);
  payload_changed_ = true;
}

void AxiReadPort::accept(const AxiAddress& ar) {
  Burst burst;
  std::uint64_t latency = latency_;
  burst.address = ar.address;
  burst.beats = ar.length + 1u;
  burst.inside = beats_inside(ar);
  if (target_ != nullptr) {
    std::vector<std::uint8_t> data(std::size_t{burst.beats} * width_);
    const BurstTarget::Answer answer = target_->read(ar.address, data.data(), data.size());
    diverted_.push_back(std::move(data));
    latency = answer.latency;
    burst.outside = answer.response;
    if (answer.response != AxiResponse::kOkay) burst.inside = 0;
  }
  const bool hangs = statistics_base_ + statistics_.bursts >= hang_from_;
  burst.due = hangs ? kNever : clock_ + latency;
  const Fault fault = take_fault();
  burst.failed_beat = fault.beat;
  burst.failure = fault.response;
  if (burst.failed_beat == kLastBeat) burst.failed_beat = burst.beats - 1;
  burst.id = ar.id;
  burst.number = accepted_++;
  ++statistics_.bursts;
  if (target_ == nullptr && memory_.is_written()) {
    auto old = memory_.bytes_before_writes(burst.address, std::size_t{burst.inside} * width_);
    burst.old = !old.empty();
    if (burst.old) old_[burst.number] = std::move(old);
  }
  bursts_.push(burst);
}

void AxiReadPort::before_write(std::uint64_t address, std::size_t bytes) {
  for (std::size_t i = 0; i < bursts_.size(); ++i) {
    Burst& burst = bursts_[i];
    const std::size_t size = std::size_t{burst.inside} * width_;
    if (burst.old || address >= burst.address + size || burst.address >= address + bytes) continue;
    const std::uint8_t* const from = memory_.at(burst.address, size);
    old_[burst.number].assign(from, from + size);
    burst.old = true;
  }
}

void AxiReadPort::flip_beat(std::uint64_t address, std::uint8_t id) {
  const std::uint64_t first = address % flip_.block;
  if (id != flip_.id || flip_.offset < first || flip_.offset >= first + width_) return;
  rdata_[flip_.offset - first] ^= static_cast<std::uint8_t>(1u << flip_.bit);
  flip_.waits = false;
}

void AxiReadPort::scramble() {
  const std::uint64_t noise = random();
  rid_ = static_cast<std::uint8_t>((noise >> 4) & id_mask_);
  rlast_ = (noise & 2u) != 0;
  rresp_ = static_cast<AxiResponse>((noise & 4u) != 0 ? 2 + ((noise >> 3) & 1u) : 0);
  fill_with_noise(rdata_.data());
  payload_changed_ = true;
}

}  // namespace gemm64
