// SPDX-License-Identifier: Apache-2.0
// The slave side of an AXI4 read port.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/memory/axi_port.hpp"

namespace gemm64 {

/// What the master drives to a read port in one cycle.
struct AxiReadMaster {
  bool arvalid = false;
  AxiAddress ar;
  bool rready = false;
};

/// The slave side of an AXI4 read port. A burst accepted at cycle t has its first beat valid at
/// clock t + latency at the earliest, then a beat per cycle; bursts are answered in the order
/// accepted. The data of a beat is what the memory holds when its valid rises; but of bytes whose
/// write is accepted by then, and is not answered when the read is accepted, what was there before.
class AxiReadPort : public AxiPort, public MemoryReader {
 public:
  /// Which beat of a failed burst carries the error.
  enum class FailedBeat { kFirst, kLast };

  /// `id_bits`: of an ID, on which noise may lie.
  AxiReadPort(std::string name, Memory& memory, unsigned width, unsigned id_bits = 1)
      : AxiPort(std::move(name), memory, width), id_mask_((1u << id_bits) - 1) {
    memory.add_reader(*this);
  }

  void before_write(std::uint64_t address, std::size_t bytes) override;

  /// Forgets every burst in flight and every injected error, as a hard reset does.
  void reset();

  /// Answers one beat of the `index`-th burst accepted from now (0 is the next) with an error.
  void fail_burst(std::uint64_t index, FailedBeat beat = FailedBeat::kFirst,
                  AxiResponse response = AxiResponse::kSlaveError) {
    add_fault(index, beat == FailedBeat::kFirst ? 0 : kLastBeat, response);
  }

  /// Flips bit `bit` (0 to 7) of one byte of the next beat of ID `id` that holds it: that at
  /// `offset` in a block of `block` bytes of memory, counted from address 0. What the memory holds
  /// stays as it is.
  void flip(std::uint8_t id, unsigned block, unsigned offset, unsigned bit) {
    flip_ = {true, id, block, offset, bit};
  }

  /// Bursts accepted whose last beat has not been taken.
  std::size_t outstanding() const { return bursts_.size(); }

  /// Decides what the port drives in cycle `clock`; cycles must grow by one each time.
  void begin_clock(std::uint64_t clock) {
    clock_ = clock;
    payload_changed_ = false;
    if (irregular_) {
      begin_irregular_clock();
      arready_ = (stalled_ & 1u) == 0 && may_accept();
      if (!rvalid_) {
        if ((stalled_ & 2u) == 0 && answer_due() && may_move()) {
          moved();
          raise_valid();
        } else if (stall_threshold_ != 0) {
          scramble();
        }
      }
    } else {
      arready_ = true;
      if (!rvalid_ && answer_due()) raise_valid();
    }
  }

  bool arready() const { return arready_; }
  bool rvalid() const { return rvalid_; }
  std::uint8_t rid() const { return rid_; }
  const std::uint8_t* rdata() const { return rdata_.data(); }
  AxiResponse rresp() const { return rresp_; }
  bool rlast() const { return rlast_; }
  /// Whether rid, rdata, rresp or rlast may differ from the cycle before.
  bool payload_changed() const { return payload_changed_; }

  /// Takes what the master drives in the clock begun.
  void end_clock(const AxiReadMaster& master) {
    if (rvalid_ && master.rready) {
      ++statistics_.beats;
      if (!take_upset(AxiChannel::kData, AxiUpset::kRepeated)) next_beat();
    }
    for (unsigned i = address_handshake("ar", master.arvalid, arready_, master.ar); i != 0; --i) {
      accept(master.ar);
    }
  }

 private:
  static constexpr unsigned kLastBeat = kNoBeat - 1;

  struct Burst {
    std::uint64_t due = 0;  // clock from which its first beat may be valid
    std::uint64_t address = 0;
    unsigned beats = 0;
    unsigned inside = 0;
    unsigned failed_beat = kNoBeat;
    AxiResponse failure = AxiResponse::kOkay;
    AxiResponse outside = AxiResponse::kDecodeError;  // of beats that are not inside
    std::uint8_t id = 0;
    std::uint64_t number = 0;  // of all bursts
    bool old = false;          // its data are in old_
  };
  struct Flip {
    bool waits = false;
    std::uint8_t id = 0;
    unsigned block = 1;
    unsigned offset = 0;
    unsigned bit = 0;
  };

  bool answer_due() { return !bursts_.empty() && bursts_.front().due <= clock_; }

  void next_beat() {
    rvalid_ = false;
    ++beat_;
    if (rlast_) {
      beat_ = 0;
      if (bursts_.front().old) old_.erase(bursts_.front().number);
      bursts_.pop();
      if (target_ != nullptr) diverted_.pop_front();
      complete();
      answered();
    }
  }

  void raise_valid() {
    const Burst& burst = bursts_.front();
    if (take_upset(AxiChannel::kData, AxiUpset::kLost)) {
      rlast_ = beat_ + 1 == burst.beats;
      next_beat();
      return;
    }
    rvalid_ = true;
    payload_changed_ = true;
    rid_ = burst.id;
    rlast_ = beat_ + 1 == burst.beats;
    if (beat_ < burst.inside && beat_ != burst.failed_beat) {
      rresp_ = AxiResponse::kOkay;
      const std::uint8_t* from = nullptr;
      if (target_ != nullptr) {
        from = diverted_.front().data() + std::size_t{beat_} * width_;
      } else if (burst.old) {
        from = old_.at(burst.number).data() + std::size_t{beat_} * width_;
      } else {
        from = memory_.at(burst.address + std::uint64_t{beat_} * width_, width_);
      }
      copy_beat(rdata_.data(), from);
      if (flip_.waits) flip_beat(burst.address + std::uint64_t{beat_} * width_, burst.id);
    } else {
      rresp_ = beat_ == burst.failed_beat ? burst.failure : burst.outside;
      rdata_.fill(0);
    }
  }

  void accept(const AxiAddress& ar);
  void flip_beat(std::uint64_t address, std::uint8_t id);
  void scramble();

  RingBuffer<Burst> bursts_;
  std::deque<std::vector<std::uint8_t>> diverted_;  // the data of each, where there is a target
  /// What was there when a burst was accepted, where it has been written meanwhile; by number.
  std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> old_;
  std::uint64_t accepted_ = 0;
  unsigned id_mask_;
  Flip flip_;
  unsigned beat_ = 0;  // of the burst at the front
  bool arready_ = false;
  bool rvalid_ = false;
  bool rlast_ = false;
  bool payload_changed_ = false;
  std::uint8_t rid_ = 0;
  AxiResponse rresp_ = AxiResponse::kOkay;
  alignas(64) std::array<std::uint8_t, kMaxWidth> rdata_{};
};

}  // namespace gemm64
