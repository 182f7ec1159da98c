// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/device/debug_device.hpp"

namespace gemm64 {

/// A device of which nothing is known but its events.
class FakeProbe : public Probe {
 public:
  Events now = 0;

  Events events() const override { return now; }
  std::int8_t weight(unsigned, unsigned) const override { return 0; }
  std::int8_t activation(unsigned, unsigned) const override { return 0; }
  std::int32_t partial_sum(unsigned, unsigned) const override { return 0; }
  std::int32_t accumulator(unsigned, unsigned, unsigned) const override { return 0; }
  LanesShift lanes_shift() const override { return {}; }
  std::int8_t lane_value(unsigned, unsigned, unsigned) const override { return 0; }
  std::int8_t lane_line(unsigned, unsigned, unsigned) const override { return 0; }
};

}  // namespace gemm64
