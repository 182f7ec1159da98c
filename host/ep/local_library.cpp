// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime takes providers from libraries only. This one has the provider of the program that
// loads it, which sets these functions before ONNX Runtime calls them.
#include "host/ep/local_library.hpp"

extern "C" {

__attribute__((visibility("default"))) gemm64::ep::LocalFactory gemm64_local_factory;

__attribute__((visibility("default"))) OrtStatus* CreateEpFactories(
    const char* /*registered_name*/, const OrtApiBase* base, const OrtLogger* /*logger*/,
    OrtEpFactory** factories, std::size_t most, std::size_t* count) {
  *count = 0;
  if (most == 0 || gemm64_local_factory.create == nullptr) return nullptr;
  return gemm64_local_factory.create(base, factories, count);
}

__attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  gemm64_local_factory.release(factory);
  return nullptr;
}

}  // extern "C"
