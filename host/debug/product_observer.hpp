// SPDX-License-Identifier: Apache-2.0
// An observer that also knows which product is under way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/debug/debug_device.hpp"
#include "host/tiling/plan.hpp"

namespace gemm64 {

/// The runner tells it where each product begins and ends; between the two calls come the product's
/// clocks, those of its register accesses included.
class ProductObserver : public Observer {
 public:
  /// The products to come, where they are known ahead: their names and plans. May throw UsageError.
  virtual void announce(const std::vector<std::string>& names, const std::vector<Plan>& plans) {
    static_cast<void>(names);
    static_cast<void>(plans);
  }

  /// The product `name` begins in `clock` from an accelerator just reset. `plan` lives until end().
  virtual void begin(const std::string& name, const Plan& plan, std::uint64_t clock) = 0;
  virtual void end(std::uint64_t clock) = 0;
};

}  // namespace gemm64
