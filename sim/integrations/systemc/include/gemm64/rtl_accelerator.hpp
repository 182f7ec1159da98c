// SPDX-License-Identifier: Apache-2.0
// The accelerator's RTL, cycle by cycle, with transactors from AXI4 to TLM-2.0.
#pragma once

#include "gemm64/accelerator.hpp"

namespace gemm64 {

class Observer;
class RtlDevice;

/// Each AXI4 burst becomes one transaction: a read when its address is accepted, a write with its
/// last beat. The first beat, or the response, comes after the delay that the target annotates; the
/// transactors add no cycle. They check the rules of AXI4, and what breaks one ends the simulation
/// with an SC_ERROR.
class RtlAccelerator final : public Accelerator {
 public:
  /// Throws gemm64's UsageError, a std::exception, for options that cannot be.
  explicit RtlAccelerator(sc_core::sc_module_name name, const AcceleratorOptions& options = {});
  ~RtlAccelerator() override;

  /// For those who have gemm64's source: the model and its ports; and shows each cycle that is
  /// simulated to `observer`, numbered as clock() numbers them, where `debug` is set. The observer
  /// outlives the accelerator.
  RtlDevice& device();
  void observe(Observer& observer);

 private:
  class Transactor;
  std::unique_ptr<Transactor> transactor_;
  RtlDevice* device_ = nullptr;
};

}  // namespace gemm64
