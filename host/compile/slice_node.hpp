// SPDX-License-Identifier: Apache-2.0
// A Slice of channels, or a Gather of some.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/graph/onnx/host_nodes.hpp"

namespace gemm64 {

/// The channels (axis 1) of its input that node `index` gives, in order, if it is a Slice or a
/// Gather of only these, known before anything runs; nothing otherwise.
std::optional<std::vector<std::uint32_t>> read_slice(const HostNodes& nodes, int index);

}  // namespace gemm64
