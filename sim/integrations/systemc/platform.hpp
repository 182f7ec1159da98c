// SPDX-License-Identifier: Apache-2.0
// The platform: bus, memory, interrupt controller, timer, UART, accelerator, and a processor where
// firmware is to run. For those who know nothing of SystemC.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/device/registers.hpp"
#include "host/device/registry.hpp"
#include "sim/integrations/systemc/elf.hpp"

namespace gemm64 {

class Observer;
class RtlDevice;

struct PlatformOptions {
  std::string accelerator = "rtl";  // or "tlm"
  DeviceOptions device;             // array, seed, and how the memory behaves
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;
  std::uint64_t quantum = 1000;  // instructions that the processor may run ahead of time
  std::uint64_t lookahead = 20;  // cycles that the accelerator may
  bool debug = false;            // "rtl": the model that can be looked into
};

/// A job for the firmware. One without commands is a further layer of the program before it.
struct FirmwareJob {
  std::vector<Command> commands;  // FINISH last
  std::uint64_t results = 0;      // address, a multiple of 8
  std::uint64_t result_bytes = 0;
  std::uint32_t crc = 0;  // CRC-32 that the results should have, where `check`
  bool check = false;
  /// Channels of results that are a value for each and image, of 8 bits: of which the firmware
  /// prints each image's largest; 0: they are something else.
  std::uint32_t classes = 0;
  bool is_unsigned = false;  // are these uint8? else int8
};

struct FirmwareOptions {
  bool one_at_a_time = false;        // else as many jobs at once as the ring holds
  std::uint64_t ring = 0;            // address
  std::uint32_t places = 64;         // in it
  std::uint32_t watchdog = 0;        // of the accelerator; 0: its own
  std::uint32_t attempts = 2;        // at each job
  std::uint64_t limit = 50'000'000;  // cycles that the firmware waits for an interrupt
  std::uint64_t max_instructions = 10'000'000'000;
  std::uint64_t max_cycles = 100'000'000'000;
};

/// What came of one job; numbers as in sim/integrations/systemc/firmware/job_list.h.
struct FirmwareJobResult {
  std::uint32_t status = 0, crc = 0, attempts = 0, order = 0;
  std::uint32_t error_code = 0, error_engine = 0, error_command = 0;  // of the last failure
};

/// Something that happened at a cycle of the platform.
struct PlatformEvent {
  enum class Kind { kDoorbell, kIdle, kInterrupt, kInterruptEnd, kFunction, kBus };
  Kind kind;
  std::uint64_t clock = 0;
  std::string what;           // function, or target of a transaction
  std::uint64_t address = 0;  // of a transaction, on the bus
  std::uint64_t bytes = 0;
  std::uint64_t cycles = 0;  // that it took
  bool write = false;
};

struct FirmwareReport {
  /// Empty; else why the processor stopped without an exit code: one line, with pc and cause.
  std::string stopped;
  std::uint32_t exit_code = 0;  // 0 all jobs done, 1 some not, 2 the list was refused
  std::string printed;          // over the UART
  std::uint64_t instructions = 0;
  std::uint64_t cycles = 0;  // until the end
  std::uint32_t resets = 0, hard_resets = 0;
  std::vector<FirmwareJobResult> jobs;
  /// Cycles of each write to RING_TAIL and of each rise of the interrupt line.
  std::vector<std::uint64_t> doorbells, interrupts;
  std::uint64_t last_idle = 0;        // the clock since which the accelerator has nothing to do
  std::vector<PlatformEvent> events;  // where they were asked for

  /// Cycles from the first doorbell until the accelerator has nothing left to do; up to its
  /// lookahead too many.
  std::uint64_t span() const;
  /// Of the doorbells that came when the accelerator had nothing left: cycles from the interrupt
  /// before to it, on average. 0 where there are none.
  double reaction() const;
};

/// CRC-32 (IEEE 802.3), as the firmware computes it.
std::uint32_t crc32(const void* data, std::size_t bytes);

/// One simulation. Several may exist, but only one thread may use any of them.
class Platform {
 public:
  /// Throws UsageError for an accelerator or sizes that cannot be.
  explicit Platform(const PlatformOptions& options);
  ~Platform();
  Platform(const Platform&) = delete;
  Platform& operator=(const Platform&) = delete;

  /// The accelerator on the bus, driven from outside instead of by a processor: registers by
  /// transactions, and time passes as the driver waits. Its memory is the platform's. What breaks a
  /// rule of AXI throws std::logic_error, as on the RTL. Lives as long as the platform.
  Device& device();

  /// The RTL in the accelerator, to inject errors at its ports; nullptr where there is none.
  RtlDevice* rtl();

  /// Shows each cycle in which the RTL is simulated to `observer`, in cycles of the platform. It
  /// outlives the platform. Needs options.debug; throws std::logic_error without.
  void observe(Observer& observer);

  /// Boots the ELF on the processor with these jobs, and returns when it has written its exit code,
  /// or will not. Once for each platform. Throws UsageError if the ELF or the jobs do not fit.
  /// `events`: keeps a record of functions, bus transactions and interrupts.
  FirmwareReport run(const Elf& elf, const FirmwareOptions& options,
                     const std::vector<FirmwareJob>& jobs, bool events = false);

  /// Changes words of the job list before it is given to the firmware, for tests.
  std::function<void(std::vector<std::uint8_t>&)> spoil_job_list;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gemm64
