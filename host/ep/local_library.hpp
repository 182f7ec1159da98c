// SPDX-License-Identifier: Apache-2.0
// The library that ONNX Runtime loads for the provider that a program has itself.
#pragma once

#include <cstddef>

#include "host/ort/c_api.hpp"

namespace gemm64::ep {

/// The file's name, and the variable in it that the program sets.
inline constexpr const char* kLocalLibrary = "libgemm64_ep_local.so";
inline constexpr const char* kLocalFactory = "gemm64_local_factory";

struct LocalFactory {
  OrtStatus* (*create)(const OrtApiBase* base, OrtEpFactory** made, std::size_t* count);
  void (*release)(OrtEpFactory* factory);
};

}  // namespace gemm64::ep
