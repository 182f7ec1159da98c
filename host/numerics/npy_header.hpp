// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file: a Python dictionary, written out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gemm64 {

struct NpyHeader {
  std::string descr;        // the type's code
  bool structured = false;  // a list of types instead
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  // no size is negative
};

/// Parses "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" as Python would, keys in
/// any order. Throws UsageError if it is anything else.
NpyHeader parse_npy_header(const std::string& text);

}  // namespace gemm64
