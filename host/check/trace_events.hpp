// SPDX-License-Identifier: Apache-2.0
// Events in the Trace Event Format, the JSON that Perfetto and chrome://tracing open.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "host/util/output_file.hpp"

namespace gemm64 {

/// Writes events to a file as they come, one a line; little is kept in memory. On each track they
/// are to be written in the order of their begins, an outer slice before those inside it. All are
/// complete events ("X"): where pairs of begin and end ("B", "E") are mixed with them, Perfetto
/// takes a pair that begins together with a complete event for the inner one.
class TraceEvents {
 public:
  using Json = nlohmann::ordered_json;
  static constexpr std::size_t kEndArgs = 6;

  /// Throws UsageError if `path` cannot be written.
  explicit TraceEvents(std::filesystem::path path);

  /// The name above all tracks.
  void name_process(const std::string& name);
  /// The name of a track; tracks stand in the order of their numbers, from 1.
  void name_track(int track, const std::string& name);

  /// Opens a slice whose end is not known yet; its place in the file is kept free. A track's open
  /// slices close in reverse order.
  void begin(int track, std::uint64_t clock, const char* category, const std::string& name,
             const Json& args);
  /// Closes it; `args` (at most kEndArgs of them, names of at most 20 letters) are added to those
  /// of its begin.
  void end(int track, std::uint64_t clock, const Json& args);
  /// A slice of the cycles begin <= clock < end.
  void slice(int track, std::uint64_t begin, std::uint64_t end, const char* category,
             const std::string& name, const Json& args = Json::object());

  /// Adds what is to be known of the whole, closes the file and lets it appear. Throws OutputError
  /// if any of it could not be written.
  void finish(const Json& other_data);

 private:
  struct Open {
    Json event;
    std::streampos place;
    std::size_t room;
  };

  void write(const std::string& event);

  OutputFile output_;
  std::ostream& file_;
  bool first_ = true;
  std::map<int, std::vector<Open>> open_;  // by track
};

}  // namespace gemm64
