// SPDX-License-Identifier: Apache-2.0
// Runs jobs on a Device, by way of the driver in C (gemm64_driver.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/device/counters.hpp"
#include "host/device/device.hpp"
#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/device/shared_bytes.hpp"
#include "host/driver/device_hooks.hpp"
#include "host/driver/gemm64_driver.h"
#include "host/numerics/matrix.hpp"
#include "host/tiling/job.hpp"
#include "host/tiling/job_program.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

/// The results of one product.
struct GemmResult {
  MatrixI32 sums;       // M x N; where the job asks for 8-bit results, these
  Counters counters{};  // the device's own, of this product
};

/// What one job takes from the host: weights and parameters as pack_weights() and pack_parameters()
/// of the same job give them. Activations are not used where the job has a source, parameters only
/// where its results have 8 bits, second operands [M x N] where these take some that no job gives.
struct JobOperands {
  SharedBytes weights;
  const MatrixI8& activations;
  const std::vector<std::uint8_t>* parameters = nullptr;
  const MatrixI8* operands = nullptr;
};

/// A fault that the device found in itself, and stopped at, or the driver in its registers.
struct FoundFault {
  std::uint32_t error = 0;    // its code; 0: a register was not as written
  std::uint32_t command = 0;  // of the program
  std::uint32_t tile = 0;     // of the command, from 0
  std::uint32_t row = 0;      // of the tile
  std::uint32_t memory = 0;   // of PARITY, in place of these two
  std::uint32_t word = 0;     // of it
  std::uint32_t offset = 0;   // of the register
  std::uint64_t clock = 0;    // of its interrupt, or the register was read
};

/// A register's name, or its offset where it has none.
std::string register_name(std::uint32_t offset);

/// The same as an exception. The device has been reset.
class OwnFault : public DeviceError {
 public:
  OwnFault(const std::string& message, const FoundFault& fault)
      : DeviceError(message), fault_(fault) {}
  const FoundFault& fault() const { return fault_; }

 private:
  FoundFault fault_;
};

/// Called with such a fault before the program runs again.
using RunsAgain = std::function<void(const FoundFault&)>;

/// Called from time to time with the share of the weights' bytes that has been read, 0 to 1.
using Progress = std::function<void(double)>;

/// How long the driver waits before it gives up.
struct Timeouts {
  /// Cycles that the memory may take to answer a request. The device's watchdog and the driver's
  /// own limit follow from it.
  std::uint64_t memory_latency = 1000;
  /// Cycles without any progress after which the device stops the work, and after which a soft
  /// reset is given up. 0: the device's own, or what the latency asks for if that is more.
  std::uint32_t watchdog = 0;
};

class Driver {
 public:
  /// Opens the device: soft reset, and a check of what it is. Throws DeviceError if it is no
  /// gemm64 of this version or does not come out of the reset.
  explicit Driver(Device& device, const Timeouts& timeouts = {});
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  const Geometry& geometry() const { return geometry_; }

  /// Reads the words of the tensor memory, so that geometry() has them in place of the default.
  void read_tensor_words();
  /// Enables the tensor memory for all programs to come; geometry() has it from then on. Throws
  /// UsageError if the device has none.
  void enable_tensor_memory();

  /// Runs one job: operands and program to device memory, start, wait, results back. `weights` come
  /// from pack_weights() of the same job. Throws UsageError if the memory is too small,
  /// DeviceError if the device reports an error (after a soft reset) or does not finish. Where it
  /// found a fault of its own, or one that checks itself does not have in its registers what was
  /// written there, operands are written and the program runs once more, since the fault may have
  /// passed; so it is no matter whether results had replaced operands. A second one in the same
  /// program is a DeviceError that names both.
  GemmResult run(const Job& job, const SharedBytes& weights, const MatrixI8& activations,
                 const Progress& progress = nullptr, const RunsAgain& again = nullptr);
  GemmResult run(const Job& job, const JobOperands& operands, const Progress& progress = nullptr,
                 const RunsAgain& again = nullptr);

  /// Runs a list of jobs as one program; `operands` has those of each. The counters of a job are
  /// those from the FENCE that ended the job before to the one that ended it: the weights that it
  /// loads ahead count as that one's, and the causes of each engine add up to its cycles. Results
  /// that stay in the tensor memory are not read: their sums are empty. Throws as the above does.
  std::vector<GemmResult> run(const JobProgram& list, const std::vector<JobOperands>& operands,
                              const Progress& progress = nullptr, const RunsAgain& again = nullptr);

  /// Two parts of the above: operands to where the jobs read them, and what a job wrote, [M x N],
  /// if that is in memory.
  void write_operands(const JobProgram& list, const std::vector<JobOperands>& operands);
  MatrixI32 read_results(const Job& job);

  /// Throws UsageError if the device's memory cannot hold the job, or the program.
  void check_fits(const Job& job) const;
  void check_fits(const JobProgram& list) const;

  /// Runs commands from the start of an empty ring, the last of them FINISH: writes them, starts,
  /// and waits. At most `clock_limit` cycles, unless it is 0. Throws DeviceError as run() does.
  void run_program(std::uint64_t ring, const std::vector<Command>& program,
                   std::uint64_t clock_limit, const Progress& progress = nullptr,
                   std::uint64_t weight_bytes = 0);

  /// The same in steps: start_program() writes the commands and starts them; the device then works
  /// as its cycles pass. has_ended() waits for at most `cycles` and says whether the program ended.
  void start_program(std::uint64_t ring, const std::vector<Command>& program);
  bool has_ended(const std::vector<Command>& program, std::uint64_t cycles);

  /// Did the device itself report an error since it was opened?
  bool has_error() const { return core_.error.code != 0; }

  /// Soft reset: work in progress is given up. Throws DeviceError if it does not end.
  void reset();

  /// Reads every counter.
  Counters read_counters();

 private:
  std::uint64_t read_counter(std::size_t index);
  void check_fits(std::uint64_t bytes, const std::string& what) const;
  void use_tensor_memory(bool use);
  void check_operands(const Job& job, const JobOperands& operands) const;
  void write_operands(const Job& job, const JobOperands& operands);
  std::uint64_t clock_limit(const Traffic& traffic) const;
  void check(gemm64_result result);
  /// Runs a program once, or where the device finds a fault of its own, twice.
  void run_or_again(const std::function<void()>& write_operands, const std::function<void()>& run,
                    const RunsAgain& again);
  /// What to set the watchdog to; 0: it stays as it is.
  std::uint32_t wanted_watchdog();
  [[noreturn]] void fail(const std::vector<Command>& program);
  /// Resets; after that, OwnFault or a DeviceError with the message.
  [[noreturn]] void fail_after_reset(const std::string& message,
                                     const std::optional<FoundFault>& own);
  [[noreturn]] void fail_altered();
  /// Has the self-checking device reported the program's end where it was, and only there?
  void check_end(bool reported);
  [[noreturn]] void give_up(std::uint64_t spent, std::uint64_t clock_limit);

  Device& device_;
  const Timeouts timeouts_;
  DeviceHooks hooks_;
  gemm64_driver core_{};  // the driver itself, in C
  Geometry geometry_;
  bool tensor_memory_ = false;  // the next program runs with it
  bool enabled_ = false;        // a program before ran with it
};

}  // namespace gemm64
