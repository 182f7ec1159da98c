// SPDX-License-Identifier: Apache-2.0
// Makes the providers of ONNX Runtime's sessions.
#pragma once

#include <cstddef>

#include "host/ep/provider.hpp"
#include "host/ort/c_api.hpp"
#include "host/ort/library.hpp"

namespace gemm64::ep {

/// Returns what the session with these entries runs on; nullptr: a device of its own, by these.
using FindAttachment = const Attachment* (*)(const ort::Options& entries);

/// Makes a factory as CreateEpFactories does. `find`: nullptr if no session has an attachment.
OrtStatus* make_factory(const OrtApiBase& base, FindAttachment find, OrtEpFactory** made,
                        std::size_t* count);
void release_factory(OrtEpFactory* factory);

}  // namespace gemm64::ep
