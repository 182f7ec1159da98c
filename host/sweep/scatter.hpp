// SPDX-License-Identifier: Apache-2.0
// Designs as points: cycles against a cost.
#pragma once

#include <string>
#include <vector>

#include "host/analysis/svg.hpp"
#include "host/sweep/row.hpp"

namespace gemm64 {

/// Draws a panel per network and batch, with the Pareto front of the two objectives as a line, and
/// the designs on it below. Returns the lower end; `top` if designs do not differ.
///
/// `objectives`: columns of numbers for the vertical and the horizontal axis. Those that are
/// missing are "cycles" and the size of a design that differs: array, buffers, or bytes per cycle.
double draw_scatter(Svg& svg, const std::vector<SweepRow>& rows,
                    const std::vector<std::string>& objectives, double left, double top,
                    double width);

}  // namespace gemm64
