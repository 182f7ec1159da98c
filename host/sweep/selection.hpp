// SPDX-License-Identifier: Apache-2.0
// The rows of a sweep that a user asks for: filtered, sorted and cut.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/sweep/row.hpp"

namespace gemm64 {

struct RowSelection {
  std::vector<std::string> where;  // "array=64", "cycles<=100000", "memory!=shared": all must hold
  std::string sort_by;             // a column, the best first; empty: in the order of the points
  bool reverse = false;
  std::size_t top = 0;  // rows at most; 0: all

  bool empty() const { return where.empty() && sort_by.empty() && !reverse && top == 0; }
};

/// Returns whether a larger value of the column is a better one, as of a utilization.
bool larger_is_better(const std::string& column);

/// Throws UsageError if the rows have no such column, with the columns that they have.
void check_column(const std::vector<SweepRow>& rows, const std::string& option,
                  const std::string& column);

/// Returns the selected rows. Rows without a value in the sorted column come last, and meet no
/// condition on it. Throws UsageError on a condition that cannot be read and on unknown columns.
std::vector<SweepRow> selected(std::vector<SweepRow> rows, const RowSelection& selection);

}  // namespace gemm64
