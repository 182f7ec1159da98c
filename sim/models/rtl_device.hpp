// SPDX-License-Identifier: Apache-2.0
// The accelerator's RTL, compiled by Verilator, with a memory at its AXI ports, as a Device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "host/device/debug_device.hpp"
#include "host/device/registry.hpp"
#include "sim/memory/axi_read_port.hpp"
#include "sim/memory/axi_write_port.hpp"
#include "sim/memory/memory.hpp"
#include "sim/memory/memory_arbiter.hpp"
#include "sim/waves/signal_view.hpp"

namespace gemm64 {

/// What to simulate. The stalls reach every channel of the three memory ports and of the register
/// port, each with its own sequence from `seed`.
struct RtlOptions {
  int n = 64;          // rows and columns of the array, and bytes of a beat: as models were built
  bool tight = false;  // N = 4 only: the smallest buffers that work, for tests
  bool self_check = false;  // SELF_CHECK = 1: it finds faults of its array
  std::uint64_t memory_bytes = Memory::kDefaultBytes;
  MemoryTiming memory;  // latency: at least 1; stall_probability: in [0, 1)
  std::uint32_t seed = 1;
  bool debug = false;             // the build that can be looked into; for N = 64 a slower one,
                                  // for N = 16 and 32 there is none
  std::string trace_file;         // FST; empty: no trace. Where set, debug is too
  std::uint64_t trace_begin = 0;  // cycles traced: trace_begin <= clock < trace_end
  std::uint64_t trace_end = std::numeric_limits<std::uint64_t>::max();
};

/// The three memory ports, for error injection and statistics. The references live as long as the
/// device.
struct RtlPorts {
  AxiReadPort& weights;
  AxiReadPort& data;  // commands (ID 0), activations (ID 1), parameters (ID 2)
  AxiWritePort& results;
};

/// The Verilated accelerator. It is in reset for the first kResetCycles cycles of its life, as
/// after each reset(). Besides what Device promises: std::logic_error where the RTL breaks a rule
/// of AXI (see AxiPort), DeviceError where an assertion of the RTL fails, where a register access
/// is not answered within kRegisterCycles or is answered with an error. What DebugDevice adds needs
/// options.debug, else it throws std::logic_error.
class RtlDevice : public DebugDevice {
 public:
  static constexpr unsigned kResetCycles = 8;
  static constexpr unsigned kRegisterCycles = 1000;

  std::uint64_t memory_bytes() const override { return memory_.size(); }
  void write_memory(std::uint64_t address, const void* data, std::size_t bytes) override {
    memory_.write(address, data, bytes);
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    memory_.read(address, data, bytes);
  }
  std::uint64_t cycles() const override { return clock_; }
  std::string name() const override { return "rtl"; }
  DramCounts dram_counts() const override { return dram_ ? dram_->counts() : DramCounts{}; }

  RtlPorts ports() { return {weights_, data_, results_}; }

  /// Sends the bursts of all three ports to `target`, which outlives the device, instead of to the
  /// device's memory.
  void divert(BurstTarget& target);

  /// Sets the latency of all three ports for requests from now on; UsageError for 0.
  void set_latency(unsigned cycles);

  /// Simulates `cycles` cycles, whatever the interrupt does.
  virtual void run(std::uint64_t cycles) = 0;

  /// The interrupt line as it is now.
  virtual bool interrupt() const = 0;

  /// What can be read of the model: all ports, and where it can be looked into, the signals that
  /// debug.vlt opens. Values are those just after the last cycle's edge.
  virtual NamedSignals signals() = 0;

  /// Writes the cycles begin <= clock < end to this file, in place of the window that the device
  /// was built with or that was set before; a waveform that is open is closed. Throws UsageError
  /// if the window is empty or the file cannot be written. Needs options.debug.
  virtual void start_trace(const std::string& file, std::uint64_t begin, std::uint64_t end) = 0;
  /// Closes the waveform. A loss is noted (lost_outputs.hpp).
  virtual void end_trace() = 0;

 protected:
  RtlDevice(const RtlOptions& options, unsigned width);

  /// Puts a fault of the memory or its ports there; false for one that belongs into the model.
  bool put_outside(const Fault& fault);

  const unsigned width_;  // bytes of a beat
  Memory memory_;
  std::unique_ptr<MemoryArbiter> arbiter_;  // none where each port is served by itself
  std::unique_ptr<DramController> dram_;    // of a DRAM channel, instead
  AxiReadPort weights_;
  AxiReadPort data_;
  AxiWritePort results_;
  std::uint64_t clock_ = 0;
};

/// Builds the device. Throws UsageError if no model exists for options.n (those that do are
/// listed), if the trace window is empty, if the trace file cannot be written, and for a bad
/// latency, size or probability.
std::unique_ptr<RtlDevice> make_rtl_device(const RtlOptions& options);

/// The entry of the registry.
DeviceKind rtl_kind();

}  // namespace gemm64
