// SPDX-License-Identifier: Apache-2.0
// Networks that the program makes itself, as ONNX models of opset 13 with float32 weights drawn
// from a seed as PyTorch initialises them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/graph/proto/onnx.pb.h"

namespace gemm64 {

/// One Gemm as PyTorch exports a Linear layer: input [m x k], weights [n x k] with transB = 1, and
/// a bias [n] where wanted. Sizes are at least 1. Throws UsageError if the weights are more than
/// an ONNX file holds.
onnx::ModelProto make_linear_model(std::int64_t m, std::int64_t k, std::int64_t n, bool bias,
                                   std::uint32_t seed);

/// The names that make_network knows.
std::vector<std::string> known_onnx_networks();

/// "alexnet": torchvision's, input [batch x 3 x 224 x 224].
/// "lenet": LeNet-5 of 1998 (tanh, average pooling), input [batch x 1 x 32 x 32].
/// "mnist-cnn": two convolutions and two Linear layers, input [batch x 1 x 28 x 28].
/// All give 10 or 1000 values an image. A batch of 0 is left open. Without a seed weights have
/// shapes and no values. Throws UsageError if the name is another.
onnx::ModelProto make_network(const std::string& name, std::int64_t batch,
                              std::optional<std::uint32_t> seed);

}  // namespace gemm64
