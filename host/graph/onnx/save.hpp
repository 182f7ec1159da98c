// SPDX-License-Identifier: Apache-2.0
// The one way in which models leave the program.
#pragma once

#include <cstdint>

#include "host/graph/proto/onnx.pb.h"
#include "host/util/output_file.hpp"

namespace gemm64 {

/// A protobuf message holds less than 2 GiB, and an ONNX file without external data is one.
inline constexpr std::uint64_t kMaxModelBytes = (std::uint64_t{1} << 31) - 1;

/// Throws UsageError if a model of `bytes` bytes cannot be written; `path` is for the message.
void require_model_fits(std::uint64_t bytes, const std::filesystem::path& path);

/// Checks the model as a file that is read, writes it into the temporary file in one pass, without
/// a copy of it in memory, and commits. Returns the bytes written. Throws UsageError if the
/// model is larger than kMaxModelBytes or the disk fails, std::logic_error if the model is not
/// valid: then what made the model is at fault, and nothing is written.
std::uint64_t save_model(const onnx::ModelProto& model, OutputFile& file);

}  // namespace gemm64
