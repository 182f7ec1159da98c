// SPDX-License-Identifier: Apache-2.0
// The accelerator's RTL, clock by clock, behind transactors from AXI4 to TLM-2.0.
#pragma once

#include "gemm64/accelerator.hpp"

namespace gemm64 {

class RtlDevice;

/// Each AXI4 burst becomes one transaction: a read when its address is accepted, a write with its
/// last beat. The first beat, or the response, comes after the delay that the target annotates; the
/// transactors add no clock. They check the rules of AXI4, and what breaks one ends the simulation
/// with an SC_ERROR.
class RtlAccelerator final : public Accelerator {
 public:
  /// Throws gemm64's UsageError, a std::exception, for options that cannot be.
  explicit RtlAccelerator(sc_core::sc_module_name name, const AcceleratorOptions& options = {});
  ~RtlAccelerator() override;

  /// The model and its ports, for those who have gemm64's source.
  RtlDevice& device();

 private:
  class Transactor;
  std::unique_ptr<Transactor> transactor_;
  RtlDevice* device_ = nullptr;
};

}  // namespace gemm64
