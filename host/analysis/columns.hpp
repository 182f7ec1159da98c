// SPDX-License-Identifier: Apache-2.0
// The columns of the table by layer: one list for sorting, CSV and the terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "host/analysis/analysis.hpp"

namespace gemm64 {

/// Text, a count, a fraction or ratio, or nothing where a layer has no such figure or it is not
/// known.
using Cell = std::variant<std::monostate, std::string, std::uint64_t, double>;

struct LayerColumn {
  const char* key;      // in CSV, and for --sort-by
  const char* heading;  // in the terminal; nullptr where it is not shown there
  std::function<Cell(const LayerAnalysis&)> cell;
};

const std::vector<LayerColumn>& layer_columns();

/// Keys of all columns, separated by commas.
std::string column_keys();

/// Returns the columns of the terminal's table, the name first: those of `keys`, separated by
/// commas; of "all" every one with a heading; of none at all the usual ones, which fit into 100
/// columns. Throws UsageError if there is no such key.
std::vector<const LayerColumn*> table_columns(const std::string& keys);

/// Indices of the layers that move or keep data, or may do so: all but Identity and nodes that are
/// computed before the network runs.
std::vector<std::size_t> shown_layers(const Analysis& analysis);

/// `layers` by a column: numbers from the largest, text from A, what has no figure last; equal ones
/// keep their order. Then the first `top` of them; 0: all. Throws UsageError if no column has
/// that key; an empty key keeps the order.
std::vector<std::size_t> sort_layers(const Analysis& analysis, std::vector<std::size_t> layers,
                                     const std::string& key, std::size_t top);

/// All layers in CSV, with a line of keys.
std::string layers_csv(const Analysis& analysis, const std::vector<std::size_t>& layers);

}  // namespace gemm64
