// SPDX-License-Identifier: Apache-2.0
// An analysis as a drawing.
#pragma once

#include <string>
#include <vector>

#include "host/analysis/analysis.hpp"

namespace gemm64 {

/// An SVG with the roofline of the layers that the array carries, and MACs and traffic of `layers`
/// in the given order. Markers differ in shape as well as in shade, so that it may be printed
/// without colours.
std::string plot_svg(const Analysis& analysis, const std::vector<std::size_t>& layers);

}  // namespace gemm64
