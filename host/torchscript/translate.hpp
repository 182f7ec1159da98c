// SPDX-License-Identifier: Apache-2.0
// A TorchScript file as an ONNX graph.
#pragma once

#include <map>
#include <string>

#include "host/torchscript/module_tree.hpp"
#include "host/torchscript/onnx_graph.hpp"

namespace gemm64::torchscript {

struct Translated {
  OnnxGraph graph;
  std::string modules;  // as JSON
};

/// Reads a file and follows its forward() with inputs of these shapes; "" stands for the first
/// input. Throws Refusal in one line, and whatever LibTorch throws.
Translated translate(const std::string& path, const std::map<std::string, Dims>& shapes);

}  // namespace gemm64::torchscript
