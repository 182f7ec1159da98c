// SPDX-License-Identifier: Apache-2.0
// Rows (images) of a network's inputs, made when they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "host/kernels/tensor.hpp"

namespace gemm64 {

/// One input of a network.
struct InputSource {
  DataType type = onnx::TensorProto::FLOAT;
  Dims dims;              // of all rows
  bool in_memory = true;  // or are rows made when they are asked for?
  std::function<Tensor(std::int64_t first, std::int64_t count)> rows;

  std::vector<std::string> files = {};  // a name for each row; empty: there are none
  std::string file = {};                // that holds all rows as numbers; empty: there is none

  static InputSource of(const Tensor& tensor, const std::string& file = {});
};

/// By the name of the input.
using InputSources = std::map<std::string, InputSource>;

}  // namespace gemm64
