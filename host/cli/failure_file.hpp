// SPDX-License-Identifier: Apache-2.0
// failure.json: what failed, and all that is needed to run it again.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "host/cli/options.hpp"
#include "host/debug/failure.hpp"

namespace gemm64 {

/// A failure that was read back.
struct RecordedFailure {
  std::string command;              // "gemm" or "run"
  std::filesystem::path directory;  // that relative names of files were relative to
  CommonOptions options;            // with options.replay
  nlohmann::json own;               // the command's own options
};

/// Writes the file. Throws UsageError where it cannot be written.
void write_failure(const std::filesystem::path& file, const std::string& command,
                   const CommonOptions& options, const nlohmann::ordered_json& own,
                   const Failure& failure);

/// Reads it. Throws UsageError, which names file and field, where it is none.
RecordedFailure read_failure(const std::filesystem::path& file);

}  // namespace gemm64
