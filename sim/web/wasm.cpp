// SPDX-License-Identifier: Apache-2.0
// What the page calls: one request and one answer as JSON, and the few calls that must be fast.
#include <unistd.h>

#include <cstdint>
#include <string>

#include "sim/web/requests.hpp"

#ifdef __EMSCRIPTEN__
#include <emscripten/emscripten.h>
#else
#define EMSCRIPTEN_KEEPALIVE  // for the test that compiles this file without Emscripten
#endif

namespace {

gemm64::web::Requests& requests() {
  static gemm64::web::Requests all;
  return all;
}

}  // namespace

extern "C" {

/// The answer lives until the next request. It has "error", a sentence, where the request was
/// refused.
EMSCRIPTEN_KEEPALIVE const char* gemm64_ask(const char* request) {
  static std::string answer;
  answer = requests().answer(request);
  return answer.c_str();
}

/// Simulates; answers the state's number.
EMSCRIPTEN_KEEPALIVE int gemm64_step(unsigned cycles) { return requests().step(cycles); }

EMSCRIPTEN_KEEPALIVE const void* gemm64_view() { return requests().bench().view().data(); }
EMSCRIPTEN_KEEPALIVE const void* gemm64_past() { return requests().bench().past().data(); }

/// Where the used memory ends: a copy of what is below is all that there is to go back to.
EMSCRIPTEN_KEEPALIVE unsigned gemm64_memory_end() {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(sbrk(0)));
}
}
