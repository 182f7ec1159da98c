// SPDX-License-Identifier: Apache-2.0
// The onnx package's own tests of operators, as tests/onnxruntime/export_node_tests.py writes them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// Where they lie: a folder for each kind, and in it one for each test.
inline std::filesystem::path node_tests_folder() {
  const char* other = std::getenv("GEMM64_NODE_TESTS");
  return other != nullptr ? other : GEMM64_NODE_TESTS;
}

/// The names of all tests of a kind, "node/test_relu", in alphabetical order.
inline std::vector<std::string> node_tests_of(const std::string& kind) {
  std::vector<std::string> names;
  const std::filesystem::path folder = node_tests_folder() / kind;
  if (!std::filesystem::is_directory(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(kind + "/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The message in a file; empty, and the test failed, where it cannot be read.
template <class Proto>
Proto read_proto(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Proto proto;
  if (!file || !proto.ParseFromIstream(&file)) ADD_FAILURE() << path << " cannot be read";
  return proto;
}

}  // namespace gemm64
