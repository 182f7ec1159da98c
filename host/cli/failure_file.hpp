// SPDX-License-Identifier: Apache-2.0
// failure.json: what failed, and all that is needed to run it again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "host/check/failure.hpp"
#include "host/cli/options.hpp"
#include "host/util/error.hpp"

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
  const auto fail = [&](const std::string& what) {
    return UsageError(where + (where.empty() ? "" : ".") + key + ": " + what);
  };
  try {
    const nlohmann::json& value = object.at(key);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      // nlohmann would cut a number until it fits.
      if (value.is_number() && !value.is_number_integer())
        throw fail(value.dump() + " is not a whole number");
      const bool fits = value.is_number_unsigned()
                            ? value.get<std::uint64_t>() <=
                                  static_cast<std::uint64_t>(std::numeric_limits<T>::max())
                            : !value.is_number() ||
                                  (value.get<std::int64_t>() >=
                                       static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
                                   value.get<std::int64_t>() < 0 && std::is_signed_v<T>);
      if (!fits) throw fail(value.dump() + " is out of range");
    }
    return value.get<T>();
  } catch (const nlohmann::json::exception& error) {
    const std::string what = error.what();  // "[json.exception.type_error.302] type must be ..."
    const std::size_t bracket = what.find("] ");
    throw fail(bracket == std::string::npos ? what : what.substr(bracket + 2));
  }
}

/// Writes the file. Throws UsageError where it cannot be written.
void write_failure(const std::filesystem::path& file, const std::string& command,
                   const CommonOptions& options, const nlohmann::ordered_json& own,
                   const Failure& failure);

/// Reads it. Throws UsageError, which names file and field, where it is none.
RecordedFailure read_failure(const std::filesystem::path& file);

}  // namespace gemm64
