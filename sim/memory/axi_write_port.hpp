// SPDX-License-Identifier: Apache-2.0
// The slave side of an AXI4 write port.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/memory/axi_port.hpp"

namespace gemm64 {

/// What the master drives to a write port in one cycle. `wdata` points to one beat (the port's
/// width in bytes) and need only be valid during end_clock(); bit i of `wstrb` is for byte i.
struct AxiWriteMaster {
  bool awvalid = false;
  AxiAddress aw;
  bool wvalid = false;
  const void* wdata = nullptr;
  std::uint64_t wstrb = 0;
  bool wlast = false;
  bool bready = false;
};

/// The slave side of an AXI4 write port. The response to a burst is valid at cycle t + latency, t
/// being the later of its address's and its last beat's handshake; responses come in order, at most
/// one per cycle. A beat reaches the memory at its handshake, or with its address where that comes
/// later; the beats of one burst at most may be ahead of their address. Reads that are accepted
/// before the response is taken find what was there before (Memory::begin_write). One such port a
/// memory.
class AxiWritePort : public AxiPort {
 public:
  AxiWritePort(std::string name, Memory& memory, unsigned width)
      : AxiPort(std::move(name), memory, width),
        full_strobe_(width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1) {}

  /// Forgets every burst in flight and every injected error, as a hard reset does.
  void reset();

  /// Answers the `index`-th burst accepted from now (0 is the next) with an error; none of its
  /// bytes reaches the memory.
  void fail_burst(std::uint64_t index, AxiResponse response = AxiResponse::kSlaveError) {
    add_fault(index, 0, response);
  }

  /// Flips bit `bit` (0 to 7) of byte `byte` of the next beat that is taken.
  void flip(unsigned byte, unsigned bit) { flip_ = {true, byte, bit}; }

  /// Bursts whose address was accepted and whose response has not been taken.
  std::size_t outstanding() const { return bursts_.size() + responses_.size(); }

  /// Decides what the port drives in cycle `clock`; cycles must grow by one each time.
  void begin_clock(std::uint64_t clock) {
    clock_ = clock;
    if (irregular_) {
      begin_irregular_clock();
      awready_ = (stalled_ & 1u) == 0 && may_accept();
      wready_ = (stalled_ & 2u) == 0 && may_move();
      if (!bvalid_) {
        if ((stalled_ & 4u) == 0 && response_due()) {
          raise_valid();
        } else if (stall_threshold_ != 0) {
          scramble();
        }
      }
    } else {
      awready_ = wready_ = true;
      if (!bvalid_ && response_due()) raise_valid();
    }
  }

  bool awready() const { return awready_; }
  bool wready() const { return wready_; }
  bool bvalid() const { return bvalid_; }
  std::uint8_t bid() const { return bid_; }
  AxiResponse bresp() const { return bresp_; }

  /// Takes what the master drives in the clock begun.
  void end_clock(const AxiWriteMaster& master) {
    if (bvalid_ && master.bready) {
      if (!take_upset(AxiChannel::kResponse, AxiUpset::kRepeated)) {
        bvalid_ = false;
        responses_.pop();
        memory_.end_write();
        answered();
      }
    }
    for (unsigned i = address_handshake("aw", master.awvalid, awready_, master.aw); i != 0; --i) {
      accept(master.aw);
    }
    if (master.wvalid) {
      if (data_waits_) check_data_unchanged(master);
      data_waits_ = !wready_;
      if (wready_) {
        ++statistics_.beats;
        moved();
        if (take_upset(AxiChannel::kData, AxiUpset::kLost)) return;
        if (take_upset(AxiChannel::kData, AxiUpset::kRepeated)) take(master);
        if (flip_.waits) {
          take_flipped(master);
        } else {
          take(master);
        }
      } else {
        remember_data(master);
      }
    } else if (data_waits_) {
      fail_dropped("w");
    }
  }

 private:
  struct Burst {  // accepted, its data not complete
    std::uint64_t address = 0;
    unsigned beats = 0;
    unsigned inside = 0;  // beats that are written: 0 for a failed burst
    AxiResponse response = AxiResponse::kOkay;
    std::uint8_t id = 0;
    bool hangs = false;
  };
  struct Response {
    std::uint64_t due = 0;
    AxiResponse response = AxiResponse::kOkay;
    std::uint8_t id = 0;
  };
  struct Beat {
    std::array<std::uint8_t, kMaxWidth> data{};
    std::uint64_t strobe = 0;
    bool last = false;
  };

  struct Flip {
    bool waits = false;
    unsigned byte = 0;
    unsigned bit = 0;
  };

  /// Takes a beat: of the burst at the front, or ahead of its address.
  void take(const AxiWriteMaster& master) {
    if (!bursts_.empty()) {
      take_beat(static_cast<const std::uint8_t*>(master.wdata), master.wstrb, master.wlast);
    } else {
      keep_early_beat(master);
    }
  }

  bool response_due() {
    return !responses_.empty() && responses_.front().due <= clock_ &&
           (dram_ == nullptr || dram_->may_answer(dram_port_));
  }

  void raise_valid() {
    if (dram_ != nullptr) dram_->answer(dram_port_);
    if (take_upset(AxiChannel::kResponse, AxiUpset::kLost)) {
      responses_.pop();
      memory_.end_write();
      answered();
      return;
    }
    bvalid_ = true;
    bid_ = responses_.front().id;
    bresp_ = responses_.front().response;
  }

  /// Writes the next beat of the burst at the front, and queues the response after the last.
  void take_beat(const std::uint8_t* data, std::uint64_t strobe, bool last) {
    const Burst& burst = bursts_.front();
    if (last != (beat_ + 1 == burst.beats)) fail_last(burst.beats, last);
    if (target_ != nullptr) {
      divert_beat(data, strobe);
    } else if (beat_ < burst.inside) {
      std::uint8_t* to = memory_.at(burst.address + std::uint64_t{beat_} * width_, width_);
      if ((strobe & full_strobe_) == full_strobe_) {
        copy_beat(to, data);
      } else {
        for (unsigned i = 0; i < width_; ++i) {
          if ((strobe >> i) & 1u) to[i] = data[i];
        }
      }
    }
    ++beat_;
    if (last) {
      std::uint64_t latency = latency_;
      AxiResponse response = burst.response;
      if (target_ != nullptr && response == AxiResponse::kOkay) {
        const BurstTarget::Answer answer = send(burst);
        latency = answer.latency;
        response = answer.response;
      }
      responses_.push({burst.hangs ? kNever : clock_ + latency, response, burst.id});
      bursts_.pop();
      beat_ = 0;
      complete();
    }
  }

  /// Keeps a beat of the burst at the front for its target; and sends them all.
  void divert_beat(const std::uint8_t* data, std::uint64_t strobe);
  BurstTarget::Answer send(const Burst& burst);
  void accept(const AxiAddress& aw);
  void take_flipped(const AxiWriteMaster& master);
  void keep_early_beat(const AxiWriteMaster& master);
  void check_data_unchanged(const AxiWriteMaster& master) const;
  void remember_data(const AxiWriteMaster& master);
  void scramble();
  [[noreturn]] void fail_last(unsigned beats, bool last) const;

  const std::uint64_t full_strobe_;
  RingBuffer<Burst> bursts_;
  RingBuffer<Response> responses_;
  Flip flip_;
  unsigned beat_ = 0;  // of the burst at the front
  std::array<Beat, kMaxBeats> early_;
  unsigned early_beats_ = 0;
  std::vector<std::uint8_t> diverted_, enables_;  // of the burst at the front, for its target
  bool awready_ = false;
  bool wready_ = false;
  bool bvalid_ = false;
  std::uint8_t bid_ = 0;
  AxiResponse bresp_ = AxiResponse::kOkay;
  bool data_waits_ = false;
  Beat waiting_data_;
};

}  // namespace gemm64
