// SPDX-License-Identifier: Apache-2.0
// STORE: finished blocks, written one after the other; and the snapshots of FENCEs in their turn.
#pragma once

#include <vector>

#include "host/cycles/bursts.hpp"
#include "host/cycles/engine.hpp"
#include "host/cycles/memories.hpp"
#include "host/cycles/memory_port.hpp"
#include "host/cycles/requantizer.hpp"
#include "host/device/geometry.hpp"
#include "host/device/vector_path.hpp"

namespace gemm64::cycles {

class Results final : public EngineModel, public Requester {
 public:
  /// `rate`: at which beats leave.
  Results(const Geometry& geometry, Memories& memories, const Rate& rate, Counters& counters)
      : EngineModel(counters),
        banks_(memories.banks),
        parameters_(memories.parameters),
        operands_(memories.operands),
        geometry_(geometry),
        rate_(rate),
        data_(geometry.writes),
        answers_(geometry.writes) {}

  /// Takes commands; the arbiter calls ask() and serve().
  bool advance() override;
  Cycle idle() const override;
  void finish(Cycle total) override { wait_for_work(total); }
  std::optional<Blocked> blocked() override;
  bool waits_for_command() const override {
    return walk_.done() && !has_order() && known(answers_.empty());
  }
  Cycle not_before() const override { return listed_ - 1; }

  /// First cycle in which every write of the first `stores` STOREs is answered.
  Cycle answered(std::size_t stores) const;
  /// First cycle in which a snapshot may be taken: one is kept until it has been sent.
  Cycle snapshot_room() const { return snapshots_.room(); }
  void take_snapshot() { snapshots_.begin(); }

  Cycle next_request() override;
  bool asks_tensor_memory() const override { return tensor_; }
  void ask(Cycle at) override;
  void serve(MemoryPort& port) override;

 private:
  bool begins_block() const { return walk_.first() && !snapshot_; }
  Cycle complete() const;
  Cycle set_here() const;
  Cycle here() const;
  Cycle operands() const;
  Cycle take_operands(Cycle at);
  void pass(Cycle first, Cycle rows);
  void enter_requantizer(Cycle at);
  void pass_rows(Cycle before);
  Cycle hold(const Beats& beats, Cycle at_end);
  void wait_for_work(Cycle until);

  Banks& banks_;
  WordBuffer &parameters_, &operands_;
  Geometry geometry_;
  Rate rate_;
  BurstWalk walk_;         // of the current STORE or snapshot
  std::size_t store_ = 0;  // its index
  bool snapshot_ = false;
  bool tensor_ = false;  // it is written to the tensor memory, and so is all that is not answered
  Cycle rows_ = 0;       // of its blocks
  Cycle beats_per_row_ = 0;
  bool requantizes_ = false;
  Cycle parameter_words_ = 0;  // of all blocks whose first burst has been asked for
  Cycle operand_words_ = 0;    // the same
  VectorSettings vector_;      // of the current STORE
  bool table_due_ = false;     // it takes a table before its first block
  bool reads_ = false;         // rows of the current block read operands: each, or the first
  Cycle seen_ = kNever;        // clock in which the engine saw it
  Slots data_, answers_;       // bursts asked for whose beats, whose answers are to come
  std::size_t sending_ = 0;    // bursts asked for that have not been served
  struct Burst {
    Cycle valid;  // clock in which its first beat is there
    std::uint64_t address;
    Cycle beats;
    bool of_snapshot;
    bool requantized;
    bool ends_pass;   // the last of its block, or of the snapshot
    bool ends_store;  // the last of its STORE
  };
  Burst burst_{};        // asked for last
  Cycle rows_left_ = 0;  // of it, that have not entered the requantizer
  Requantizer requantizer_;
  Cycle entered_ = kNever;  // the cycle in which the last row did
  Cycle listed_ = 0;        // first cycle in which the next burst can be asked for
  Cycle free_ = 0;          // first cycle in which a beat may be sent
  Cycle wide_free_ = 0;     // first cycle in which all beats that are not requantized have been
  Cycle done_ = kNever;     // the cycle in which the last block no longer needs its last row
  Cycle answered_ = 0;      // first cycle in which every write is answered
  Slots snapshots_{1};
  std::vector<Cycle> stored_;  // for each STORE that is: the cycle of its last answer
};

}  // namespace gemm64::cycles
