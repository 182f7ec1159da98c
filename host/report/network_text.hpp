// SPDX-License-Identifier: Apache-2.0
// What a report says of a network as a whole.
#pragma once

#include <string>
#include <vector>

#include "host/runtime/run_report.hpp"

namespace gemm64 {

/// How much of the network ran where, and why not all of it on the device; empty for a product.
/// `explain`: in sentences, with what each means.
std::string host_text(const RunReport& report, bool explain);

/// Returns the warnings of a run's inputs, and share_warning().
std::string warnings_text(const RunReport& report);

/// What the host computes between programs, a line for each reason.
std::string between_text(const std::vector<HostLayer>& nodes);

/// What a chip of n columns would wait for these nodes at least, in addition to the cycles of its
/// programs; empty where that is nothing.
std::string waits_text(const std::vector<HostLayer>& nodes, std::uint32_t n, std::uint64_t cycles);

/// A warning where less than half of a network's MACs are on the device, whose figures then tell
/// little of the whole; otherwise empty.
std::string share_warning(std::uint64_t device_macs, std::uint64_t all_macs);

/// How close the quantized network is to the float32 one; empty where that is not known.
std::string quality_text(const RunReport& report, bool explain);

}  // namespace gemm64
