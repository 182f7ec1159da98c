// SPDX-License-Identifier: Apache-2.0
// The Pareto front of a sweep's designs.
#pragma once

#include <string>
#include <vector>

#include "host/sweep/row.hpp"

namespace gemm64 {

/// Returns a row's value of a column of numbers; 0 bytes per cycle are a port's width.
double objective_value(const SweepRow& row, const std::string& objective);

/// Returns for each row whether its design is on the front of its network and batch: no other one
/// is at least as good at each objective, and better at one.
///
/// `objectives` are columns of numbers, of which less is better, but for utilizations. None: the
/// cycles, array, scratchpad, accumulator and memory (ports, bytes per cycle, latency). A row
/// without cycles, or not verified, is never on the front.
std::vector<bool> pareto_front(const std::vector<SweepRow>& rows,
                               const std::vector<std::string>& objectives = {});

/// Returns the rows with a column `pareto`. Throws UsageError if an objective is no column of
/// numbers.
std::vector<SweepRow> with_front(std::vector<SweepRow> rows,
                                 const std::vector<std::string>& objectives = {});

}  // namespace gemm64
