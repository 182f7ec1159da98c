// SPDX-License-Identifier: Apache-2.0
// Why a network is not translated.
#pragma once

#include <stdexcept>

namespace gemm64::torchscript {

/// One line for the person whose file it is, without the file's name.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace gemm64::torchscript
