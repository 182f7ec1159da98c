// SPDX-License-Identifier: Apache-2.0
// The files of tests/data.
#pragma once

#include "host/graph/onnx/model.hpp"
#include "tests/test.hpp"

namespace gemm64 {

inline std::filesystem::path test_data() { return GEMM64_TEST_DATA; }

/// One of the graphs without weights, such as "alexnet".
inline OnnxModel load_graph(const std::string& name, ImportOptions options = {}) {
  options.shapes_only = true;
  return OnnxModel::load(test_data() / (name + ".onnx"), options);
}

}  // namespace gemm64
