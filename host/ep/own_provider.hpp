// SPDX-License-Identifier: Apache-2.0
// The provider of this process's own sessions in ONNX Runtime, registered once.
#pragma once

#include <string>

#include "host/ep/provider.hpp"
#include "host/graph/onnx/host_session.hpp"
#include "host/ort/library.hpp"

namespace gemm64::ep {

/// Returns ONNX Runtime with the provider, which stay until the process ends. Throws ort::Error if
/// there is no ONNX Runtime, UsageError if the provider's library is missing.
const ort::Environment& own_environment();

/// What sessions of ONNX Runtime run on while this lives.
class Attached {
 public:
  /// The attachment outlives this.
  explicit Attached(const Attachment& attachment);
  ~Attached();
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  /// Returns the provider with the option that names this attachment, in own_environment().
  HostProvider provider() const;

 private:
  std::string name_;
};

}  // namespace gemm64::ep
