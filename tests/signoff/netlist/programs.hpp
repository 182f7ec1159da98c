// SPDX-License-Identifier: Apache-2.0
// What the netlist is given to do, and what it makes of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/device/counters.hpp"
#include "host/driver/driver.hpp"
#include "host/numerics/matrix.hpp"
#include "sim/models/rtl_device.hpp"

namespace gemm64::netlist_test {

/// What a device made of a work.
struct Outcome {
  std::vector<MatrixI32> values;
  std::string text;  // its messages on refused programs
  Counters counters{};
  std::uint64_t cycles = 0;
  std::vector<std::uint8_t> memory;
};

/// Makes a device: the RTL's, or the gates'.
using Make = std::function<std::shared_ptr<RtlDevice>(const RtlOptions&)>;

/// Something to do, on a device of its own. It throws where a device says or does what the RTL
/// never would.
struct Work {
  std::string name;
  std::function<Outcome(const Make&)> run;
  std::vector<MatrixI32> expected;  // by plain loops; empty: run() checks values itself
};

/// In the order of their cycles, few first.
std::vector<Work> all_work(const Geometry& geometry);

}  // namespace gemm64::netlist_test
