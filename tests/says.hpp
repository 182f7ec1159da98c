// SPDX-License-Identifier: Apache-2.0
// What a text or an error must name: values, names and files. What else a message says is of one
// test, where it is made.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "host/util/error.hpp"

namespace gemm64 {

/// Text in which each of `words` occurs.
template <class... Words>
auto Says(const Words&... words) {
  return testing::AllOf(testing::HasSubstr(words)...);
}

/// Text in which none of `words` occurs.
template <class... Words>
auto Lacks(const Words&... words) {
  return testing::AllOf(testing::Not(testing::HasSubstr(words))...);
}

/// A call that throws an `Error` whose message names each of `words`.
template <class Error = UsageError, class... Words>
auto Fails(const Words&... words) {
  return testing::ThrowsMessage<Error>(Says(words...));
}

/// The message of the `Error` that `call` throws; empty where it throws none.
template <class Error = UsageError, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace gemm64
