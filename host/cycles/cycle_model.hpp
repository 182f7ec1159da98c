// SPDX-License-Identifier: Apache-2.0
// How many clocks a product takes on the accelerator, by engine and cause, without simulating it.
#pragma once

#include <array>
#include <cstdint>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/job/plan.hpp"
#include "host/job/program.hpp"

namespace gemm64 {

/// One value for each of the device's counters, indexed by gemm64::counter.
using Counters = std::array<std::uint64_t, kCounters.size()>;

/// Predicts every counter of a plan's program, run from an idle device whose memory answers each
/// request after `latency` clocks and then gives or takes a beat a clock on every port.
///
/// A max-plus recurrence over tiles and bursts: each happens one clock (or a fixed number) after
/// the latest of what it waits for. With s(j) the clock in which tile j starts, R its rows, N the
/// array's size, b(j) the arrival of its last word of weights, x(j) that of its last word of
/// activations, and f the end of the store that frees its bank of sums:
///   s(j) = max(s(j-1) + max(R, N), b(j) + 1, x(j) + 1, f + 1).
/// Arrivals follow from the requests' clocks, the latency, the bursts under way and the room in the
/// buffers, all in the same form. Exact: the counters of the RTL are the same to the clock.
Counters predict_counters(const Plan& plan, const Layout& layout, const Geometry& geometry,
                          std::uint32_t latency);

}  // namespace gemm64
