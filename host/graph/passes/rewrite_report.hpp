// SPDX-License-Identifier: Apache-2.0
// What `tile` reports about a rewritten model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "host/graph/passes/rewrite_plan.hpp"

namespace gemm64 {

/// The layers in a table at most `width` characters wide, then what stays as it is, each with its
/// reason.
std::string rewrite_table(const RewritePlan& plan, std::size_t width);

/// The same for programs. `bytes`: the size of the file that was written.
nlohmann::ordered_json to_json(const RewritePlan& plan, const std::string& model,
                               std::uint64_t bytes);

}  // namespace gemm64
