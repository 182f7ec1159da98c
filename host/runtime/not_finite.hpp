// SPDX-License-Identifier: Apache-2.0
// Values of inputs that are no numbers.
#pragma once

#include <string>

#include "host/kernels/tensor.hpp"

namespace gemm64 {

/// Returns how many values of a tensor of floats are NaN and where the first one is, after the name
/// of the tensor: "x.npy: 3 of 784 values are NaN, the first at [0, 0, 3, 5]". Empty if none is.
std::string nan_note(const std::string& name, const Tensor& tensor);

/// The same for infinite values.
std::string infinity_note(const std::string& name, const Tensor& tensor);

}  // namespace gemm64
