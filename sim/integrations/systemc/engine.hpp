// SPDX-License-Identifier: Apache-2.0
// What a SystemC accelerator drives: a device whose clock it moves.
#pragma once

#include <cstdint>

namespace gemm64 {

class AcceleratorEngine {
 public:
  virtual ~AcceleratorEngine() = default;

  /// At least a cycle each. Throw DeviceError if the register refuses.
  virtual std::uint32_t read_register(std::uint32_t offset) = 0;
  virtual void write_register(std::uint32_t offset, std::uint32_t value) = 0;

  virtual std::uint64_t clock() const = 0;
  virtual bool interrupt() const = 0;

  /// Runs to `clock`, which is ahead; where the interrupt line is low, not past its rise.
  virtual void run(std::uint64_t clock) = 0;

  /// The cycle before which nothing changes unless a register is written; may be in the past.
  virtual std::uint64_t quiet_until() const { return 0; }

  /// Will nothing change until a register is written?
  virtual bool idle() = 0;
  /// While it is idle: lets the time to `clock` pass.
  virtual void skip(std::uint64_t clock) = 0;

  /// Hard reset.
  virtual void reset() = 0;
};

}  // namespace gemm64
