// SPDX-License-Identifier: Apache-2.0
// The accelerator as an approximately timed model: the same registers, commands, results and
// errors, in predicted cycles, fast.
#pragma once

#include "gemm64/accelerator.hpp"

namespace gemm64 {

/// It reads and writes memory through pointers where the target grants them (DMI), else through
/// transactions. The memory's latency is that of a read of the command ring at the doorbell.
class TlmAccelerator final : public Accelerator {
 public:
  /// Throws gemm64's UsageError, a std::exception, for options that cannot be.
  explicit TlmAccelerator(sc_core::sc_module_name name, const AcceleratorOptions& options = {});
  ~TlmAccelerator() override;

 private:
  void forget_pointers(sc_dt::uint64 begin, sc_dt::uint64 end) override;

  class BusMemory;
  std::unique_ptr<BusMemory> bus_memory_;
};

}  // namespace gemm64
