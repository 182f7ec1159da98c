// SPDX-License-Identifier: Apache-2.0
// The accelerator as a SystemC TLM-2.0 module. Made by RtlAccelerator or TlmAccelerator.
#pragma once

#include <tlm.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <systemc>
#include <utility>

namespace gemm64 {

class AcceleratorEngine;

/// What an accelerator in a platform is made of. Latency is not among it: that of the memory on
/// the socket `memory` counts, as it annotates its transactions.
struct AcceleratorOptions {
  int n = 64;                         // rows and columns of the array: 2, 4, 8 or 64
  double clock_ns = 1;                // period of its clock
  std::uint64_t quantum = 20;         // cycles that it may run ahead of SystemC's time
  std::uint32_t bytes_per_cycle = 0;  // that each memory port carries in a cycle; 0: n
  enum class Sharing { kIndependent, kShared, kExclusive };
  Sharing sharing = Sharing::kIndependent;  // of one memory by the three ports
  double stall_probability = 0;             // that a channel of a port stalls in a cycle
  std::uint32_t seed = 1;                   // of the stalls
  bool debug = false;  // RtlAccelerator: the model that can be looked into, which is slower
};

/// Registers at a target socket, memory at an initiator socket, one interrupt line. All
/// transactions are blocking (b_transport) and loosely timed:
/// - a register access takes place when the accelerator's clock has come to the caller's local
///   time, or, where the accelerator has run ahead, when the accelerator is: its delay says when;
/// - the accelerator runs at most `quantum` cycles ahead, and never past a rise of its interrupt;
/// - while it is idle its clock passes without being simulated.
/// Registers are words of 32 bits at the offsets of rtl/gemm64.json, 4 KiB in all. A register that
/// refuses an access answers TLM_GENERIC_ERROR_RESPONSE (SLVERR). Of the memory, TLM_OK is OKAY,
/// TLM_ADDRESS_ERROR_RESPONSE is DECERR, all else is SLVERR.
class Accelerator : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Accelerator> registers;
  tlm_utils::simple_initiator_socket<Accelerator> memory;
  sc_core::sc_out<bool> interrupt;

  ~Accelerator() override;

  /// Hard reset, at the time of its clock.
  void hard_reset();

  /// The cycle that it has come to; may be ahead of SystemC's time.
  std::uint64_t clock() const;

  /// Notified of register accesses, of changes of the interrupt line, of transactions, with the
  /// clock.
  struct Watch {
    std::function<void(std::uint64_t clock, bool write, std::uint32_t offset, std::uint32_t value)>
        access;
    std::function<void(std::uint64_t clock, bool high)> interrupt;
    std::function<void(std::uint64_t clock, bool write, std::uint64_t address, std::size_t bytes,
                       std::uint64_t latency, bool ok)>
        burst;
    /// It has nothing to do any more; up to a quantum late.
    std::function<void(std::uint64_t clock)> idle;
  };
  void watch(Watch watch) { watch_ = std::move(watch); }

 protected:
  Accelerator(sc_core::sc_module_name name, const AcceleratorOptions& options);
  /// To be called in the constructor of what derives from it.
  void start(std::unique_ptr<AcceleratorEngine> engine);

  /// One transaction into the memory, at the cycle that the engine has come to. Says what the
  /// target answered, and how many cycles it took, rounded up.
  std::pair<tlm::tlm_response_status, std::uint64_t> transport(bool write, std::uint64_t address,
                                                               std::uint8_t* data,
                                                               const std::uint8_t* enables,
                                                               std::size_t bytes);
  /// Pointers into the memory are no longer good.
  virtual void forget_pointers(sc_dt::uint64 /*begin*/, sc_dt::uint64 /*end*/) {}

  std::unique_ptr<AcceleratorEngine> engine_;

 private:
  void transport_registers(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  unsigned debug_registers(tlm::tlm_generic_payload& transaction);
  void live();
  void drive_line();
  void note_line();
  void run_to(std::uint64_t clock);
  void look_whether_idle();
  std::uint64_t clock_of(const sc_core::sc_time& time) const;
  sc_core::sc_time until(std::uint64_t clock) const;

  const sc_core::sc_time period_;
  const std::uint64_t quantum_;
  sc_core::sc_event work_, line_, stepped_;
  std::deque<std::pair<std::uint64_t, bool>> changes_;  // of the line, to come
  bool line_last_ = false;
  bool idle_ = true;
  bool stepping_ = false;
  Watch watch_;
};

}  // namespace gemm64
