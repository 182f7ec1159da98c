// SPDX-License-Identifier: Apache-2.0
// A sweep as a drawing.
#pragma once

#include <string>
#include <vector>

#include "host/sweep/row.hpp"

namespace gemm64 {

/// An SVG with bars for each row's clocks, utilization and bytes by port, under a heading for each
/// network and batch. Where there are more than some hundred rows, bars are thin and nameless.
std::string plot_svg(const std::vector<SweepRow>& rows, const std::string& title);

}  // namespace gemm64
