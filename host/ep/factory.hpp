// SPDX-License-Identifier: Apache-2.0
// Makes the providers of ONNX Runtime's sessions.
#pragma once

#include <cstddef>

#include "host/ep/provider.hpp"
#include "host/ort/c_api.hpp"

namespace gemm64::ep {

/// Makes a factory as CreateEpFactories does. `attached`: what its providers run on, which outlives
/// the factory; nullptr: each has a device of its own, by its session's options.
OrtStatus* make_factory(const OrtApiBase& base, const Attachment* attached, OrtEpFactory** made,
                        std::size_t* count);
void release_factory(OrtEpFactory* factory);

}  // namespace gemm64::ep
