// SPDX-License-Identifier: Apache-2.0
// failure.json: what failed, and all that is needed to run it again.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "host/cli/options.hpp"
#include "host/debug/failure.hpp"
#include "host/error.hpp"

namespace gemm64 {

/// A failure that was read back.
struct RecordedFailure {
  std::string command;              // "gemm" or "run"
  std::filesystem::path directory;  // that relative names of files were relative to
  CommonOptions options;            // with options.replay
  nlohmann::json own;               // the command's own options
};

/// The value of `object` under `key`. Throws UsageError, which names the field as "where.key",
/// where it is missing or of another type.
template <class T>
T json_field(const nlohmann::json& object, const std::string& where, const char* key) {
  try {
    return object.at(key).get<T>();
  } catch (const nlohmann::json::exception& error) {
    const std::string what = error.what();  // "[json.exception.type_error.302] type must be ..."
    const std::size_t bracket = what.find("] ");
    throw UsageError(where + (where.empty() ? "" : ".") + key + ": " +
                     (bracket == std::string::npos ? what : what.substr(bracket + 2)));
  }
}

/// Writes the file. Throws UsageError where it cannot be written.
void write_failure(const std::filesystem::path& file, const std::string& command,
                   const CommonOptions& options, const nlohmann::ordered_json& own,
                   const Failure& failure);

/// Reads it. Throws UsageError, which names file and field, where it is none.
RecordedFailure read_failure(const std::filesystem::path& file);

}  // namespace gemm64
