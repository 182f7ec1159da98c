// SPDX-License-Identifier: Apache-2.0
#include "host/check/trace_events.hpp"

#include <stdexcept>

namespace gemm64 {
namespace {

using Json = TraceEvents::Json;

// No track's number: Perfetto would call that track the main thread.
constexpr int kProcess = 100;

// Of `,"dur":` and of each argument, `"name":` and a comma, with numbers of 20 digits.
constexpr std::size_t kEndRoom = 28 + TraceEvents::kEndArgs * 44;

/// Names come from models too; what is no UTF-8 in them must not cost the file.
std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json event(const char* phase, int track) {
  return {{"ph", phase}, {"pid", kProcess}, {"tid", track}};
}

std::string metadata(int track, const char* what, const char* key, const Json& value) {
  Json json = event("M", track);
  json["name"] = what;
  json["args"] = Json{{key, value}};
  return text(json);
}

Json slice_event(int track, std::uint64_t begin, std::uint64_t cycles, const char* category,
                 const std::string& name, const Json& args) {
  Json json = event("X", track);
  json["ts"] = begin;
  json["dur"] = cycles;
  json["cat"] = category;
  json["name"] = name;
  if (!args.empty()) json["args"] = args;
  return json;
}

}  // namespace

TraceEvents::TraceEvents(std::filesystem::path path)
    : output_(std::move(path), "the timeline"), file_(output_.stream()) {
  file_ << "{\"traceEvents\":[";
}

void TraceEvents::write(const std::string& event) {
  file_ << (first_ ? "\n" : ",\n") << event;
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
  Json json = slice_event(track, clock, 0, category, name, args);
  std::string line = text(json);
  line.append(kEndRoom, ' ');
  write(line);
  const std::streampos end = file_.tellp();
  open_[track].push_back(
      {std::move(json), end - static_cast<std::streamoff>(line.size()), line.size()});
}

void TraceEvents::end(int track, std::uint64_t clock, const Json& args) {
  Open open = std::move(open_.at(track).back());
  open_.at(track).pop_back();
  open.event["dur"] = clock - open.event["ts"].get<std::uint64_t>();
  open.event["args"].update(args);
  const std::string line = text(open.event);
  if (line.size() > open.room) throw std::logic_error("no room for the end of " + line);
  file_.seekp(open.place);
  file_ << line;
  file_.seekp(0, std::ios::end);
}

void TraceEvents::slice(int track, std::uint64_t begin, std::uint64_t end, const char* category,
                        const std::string& name, const Json& args) {
  write(text(slice_event(track, begin, end - begin, category, name, args)));
}

void TraceEvents::finish(const Json& other_data) {
  file_ << "\n],\"otherData\":" << text(other_data) << "}\n";
  output_.commit();
}

}  // namespace gemm64
