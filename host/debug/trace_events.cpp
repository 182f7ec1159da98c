// SPDX-License-Identifier: Apache-2.0
#include "host/debug/trace_events.hpp"

#include <fmt/format.h>

#include "host/error.hpp"

namespace gemm64 {
namespace {

using Json = TraceEvents::Json;

constexpr int kProcess = 1;

/// Names come from models too; what is no UTF-8 in them must not cost the file.
std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json event(const char* phase, int track) {
  return {{"ph", phase}, {"pid", kProcess}, {"tid", track}};
}

Json metadata(int track, const char* what, const char* key, const Json& value) {
  Json json = event("M", track);
  json["name"] = what;
  json["args"] = Json{{key, value}};
  return json;
}

}  // namespace

TraceEvents::TraceEvents(std::filesystem::path path)
    : output_(std::move(path)), file_(output_.temporary(), std::ios::binary | std::ios::trunc) {
  file_ << "{\"traceEvents\":[";
}

void TraceEvents::write(const Json& event) {
  file_ << (first_ ? "\n" : ",\n") << text(event);
  first_ = false;
}

void TraceEvents::name_process(const std::string& name) {
  write(metadata(0, "process_name", "name", name));
}

void TraceEvents::name_track(int track, const std::string& name) {
  write(metadata(track, "thread_name", "name", name));
  write(metadata(track, "thread_sort_index", "sort_index", track));
}

void TraceEvents::begin(int track, std::uint64_t clock, const char* category,
                        const std::string& name, const Json& args) {
  Json json = event("B", track);
  json["ts"] = clock;
  json["cat"] = category;
  json["name"] = name;
  json["args"] = args;
  write(json);
}

void TraceEvents::end(int track, std::uint64_t clock, const Json& args) {
  Json json = event("E", track);
  json["ts"] = clock;
  json["args"] = args;
  write(json);
}

void TraceEvents::slice(int track, std::uint64_t begin, std::uint64_t end, const char* category,
                        const std::string& name, const Json& args) {
  Json json = event("X", track);
  json["ts"] = begin;
  json["dur"] = end - begin;
  json["cat"] = category;
  json["name"] = name;
  if (!args.empty()) json["args"] = args;
  write(json);
}

void TraceEvents::finish(const Json& other_data) {
  file_ << "\n],\"otherData\":" << text(other_data) << "}\n";
  file_.close();
  if (!file_) {
    throw UsageError(fmt::format("{}: cannot be written: no space is left, or the disk failed",
                                 output_.path().string()));
  }
  output_.commit();
}

}  // namespace gemm64
