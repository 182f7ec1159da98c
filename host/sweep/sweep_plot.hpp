// SPDX-License-Identifier: Apache-2.0
// A sweep as a drawing.
#pragma once

#include <string>
#include <vector>

#include "host/sweep/row.hpp"

namespace gemm64 {

/// Returns an SVG with the designs as points (see draw_scatter) and, of a few dozen rows, bars for
/// each one's cycles, utilization and bytes by port.
std::string plot_svg(const std::vector<SweepRow>& rows, const std::string& title,
                     const std::vector<std::string>& objectives = {});

}  // namespace gemm64
