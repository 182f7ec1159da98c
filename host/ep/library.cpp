// SPDX-License-Identifier: Apache-2.0
// What ONNX Runtime finds in the library, and what Python asks it for a report.
#include "host/ort/library.hpp"

#include <cstring>
#include <string>

#include "host/ep/factory.hpp"
#include "host/ep/provider.hpp"

extern "C" {

__attribute__((visibility("default"))) OrtStatus* CreateEpFactories(
    const char* /*registered_name*/, const OrtApiBase* base, const OrtLogger* /*logger*/,
    OrtEpFactory** factories, std::size_t most, std::size_t* count) {
  *count = 0;
  if (most == 0) return nullptr;
  gemm64::ort::use_library(*base);
  return gemm64::ep::make_factory(*base, nullptr, factories, count);
}

__attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  gemm64::ep::release_factory(factory);
  return nullptr;
}

/// The report that a session was asked to keep under `token`, as JSON; its length, and with `to` of
/// at least that size also its bytes, after which it is gone. 0 where there is none.
__attribute__((visibility("default"))) std::size_t gemm64_ep_report(const char* token, char* to,
                                                                    std::size_t size) {
  static thread_local std::string report;
  static thread_local std::string of;
  if (of != token) {
    report = gemm64::ep::take_report(token);
    of = token;
  }
  const std::size_t length = report.size();
  if (to == nullptr || size < length) return length;
  std::memcpy(to, report.data(), length);
  report.clear();
  of.clear();
  return length;
}

}  // extern "C"
