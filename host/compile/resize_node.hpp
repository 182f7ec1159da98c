// SPDX-License-Identifier: Apache-2.0
// A Resize that repeats each pixel of a map, which the device does as it reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "host/graph/onnx/host_nodes.hpp"

namespace gemm64 {

/// How many times node `index`, a Resize of 8-bit maps, repeats each pixel, vertically and
/// horizontally; nothing where it does anything else. What ONNX Runtime makes of the numbers of
/// all pixels decides, so that every mode that comes to the same is found.
std::optional<std::pair<std::uint32_t, std::uint32_t>> read_repeats(const HostNodes& nodes,
                                                                    int index);

}  // namespace gemm64
