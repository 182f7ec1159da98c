// SPDX-License-Identifier: Apache-2.0
// The execution provider of one session of ONNX Runtime's.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/ep/accelerator.hpp"
#include "host/ep/compiled_network.hpp"
#include "host/ep/run_log.hpp"
#include "host/ort/api.hpp"

namespace gemm64::ep {

/// Of the provider's options among a session's entries.
inline constexpr const char* kEntryPrefix = "ep.gemm64executionprovider.";

/// What a session says of files of compiled groups (ONNX Runtime's ep.context_*).
struct ContextOptions {
  bool enabled = false;
  bool embedded = false;
  std::string file;  // of the model with them; empty: next to the session's model
};

/// The device and the log of a session, of a program that runs it; and its network if it is
/// compiled, else nullptr. All outlive the session.
struct Attachment {
  Accelerator& accelerator;
  RunLog& log;
  const CompiledNetwork* compiled = nullptr;
};

/// Makes the provider with the options, which are a session's entries. One whose options are at
/// fault lets the session's initialization fail: of an error before that, Python would make a
/// session for the CPU. `attached`: by the program that runs the session, in place of options;
/// nullptr: none.
OrtEp* make_provider(const ort::Api& api, const OrtLogger* logger,
                     const std::vector<std::pair<std::string, std::string>>& entries,
                     const Attachment* attached);
void release_provider(OrtEp* provider);

/// The report that a session was asked to keep by the dynamic option "last_report" with this value;
/// empty where none was.
std::string take_report(const std::string& token);

/// Calls `action`; an exception becomes a status. It is never EP_FAIL, after which Python would run
/// the network again, on the CPU.
template <class Action>
OrtStatus* guarded(const ort::Api& api, OrtErrorCode code, Action action) noexcept {
  try {
    action();
    return nullptr;
  } catch (const std::exception& error) {
    return api.status(code, std::string("gemm64: ") + error.what());
  } catch (...) {
    return api.status(code, "gemm64: failed");
  }
}

}  // namespace gemm64::ep
