// SPDX-License-Identifier: Apache-2.0
// A device for Python: any of the registry's, with what the driver's interface leaves out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/check/investigation.hpp"
#include "host/device/counters.hpp"
#include "host/device/fault.hpp"
#include "host/device/registry.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/matrix.hpp"
#include "host/runtime/run_report.hpp"
#include "host/tiling/plan.hpp"
#include "python/src/signals.hpp"
#include "sim/waves/signal_view.hpp"

namespace gemm64 {
class RtlDevice;
}

namespace gemm64::python {

struct DeviceSettings : DeviceOptions {
  std::string device = "rtl";
  bool debug = false;  // the build that can be looked into, where there is a faster one
  std::string
      trace_mismatch;  // takes the waveform of the first wrong value; empty: none is written
};

/// The product of a run, and its report.
struct Product {
  MatrixI32 sums;
  RunReport report;
};

/// Functions that simulate are called without the GIL, and end with nanobind::python_error where a
/// signal's handler raised.
class SimulatedDevice {
 public:
  /// Throws UsageError where there is no such device.
  explicit SimulatedDevice(const DeviceSettings& settings);
  ~SimulatedDevice();

  const DeviceSettings& settings() const { return settings_; }
  Device& device() { return *device_; }
  const MemoryTiming& memory() const { return settings_.memory; }
  /// How long a driver of this device should wait.
  Timeouts timeouts() const { return {settings_.memory.latency}; }

  /// Diagnoses a job of this device that failed, as RunOptions::investigate.
  void look_again(const JobRun& run, Failure& failure) const;

  /// C[M x N] = a[M x K] * w[N x K]^T, every sum, cycle and byte checked; from a reset.
  Product multiply(const MatrixI8& a, const MatrixI8& w, Accumulate accumulate);

  /// Reads the counters from their registers, which takes cycles of the RTL.
  Counters counters();

  /// Lets cycles pass. Throws UsageError where the device has no notion of time.
  void step(std::uint64_t cycles);
  /// Runs until the interrupt line is high (true) or `max_cycles` have passed (false).
  bool wait_interrupt(std::uint64_t max_cycles);
  bool interrupt() const;

  /// Puts a fault inside, as the program's --inject names it. Throws UsageError where there is no
  /// such place, or its clock has passed.
  void inject(const std::string& fault);

  /// A new waveform of the cycles begin <= clock < end.
  void start_trace(const std::string& file, std::uint64_t begin, std::uint64_t end);
  /// Ends it. Throws OutputError where it was lost.
  void end_trace();

  /// Throws UsageError where the device has none.
  NamedSignals signals();

 private:
  RtlDevice& rtl(const char* wanted_for);

  const DeviceSettings settings_;
  std::unique_ptr<Device> device_;
  RtlDevice* rtl_ = nullptr;  // the same, where it is one
  std::string trace_file_;
  std::vector<Fault> faults_;  // that were put in
};

/// Refuses a second thread while one uses the device.
class Use {
 public:
  /// Throws std::runtime_error where it is in use.
  explicit Use(std::atomic<bool>& used);
  ~Use() { used_ = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  std::atomic<bool>& used_;
};

}  // namespace gemm64::python
