// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <vector>

#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;

// JavaScript knows such numbers exactly, and sums of two do not wrap.
constexpr std::uint64_t kMostCycles = std::uint64_t{1} << 52;

struct Slice {
  std::uint64_t begin, end;
  std::size_t cause, text;
};

struct Track {
  std::string name;
  std::vector<Slice> slices;  // in order, none over another
  // A tile whose waits may still come, from `open.begin` on.
  bool is_open = false;
  Slice open{};
};

/// Strings by number, in the order in which they came.
class Strings {
 public:
  std::size_t number(const std::string& text) {
    const auto [at, is_new] = numbers_.emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return at->second;
  }
  const std::string& operator[](std::size_t number) const { return all_[number]; }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> all_;
};

void add(Track& track, const Slice& slice) {
  if (slice.end > slice.begin) track.slices.push_back(slice);
}

/// Ends the open tile at `clock`, or leaves what of it is after a wait from `clock` to `next`.
void cut_open(Track& track, std::uint64_t clock, std::uint64_t next) {
  if (!track.is_open) return;
  add(track,
      {track.open.begin, std::min(clock, track.open.end), track.open.cause, track.open.text});
  track.open.begin = std::max(track.open.begin, next);
  track.is_open = track.open.begin < track.open.end;
}

/// The engine's work in a tile: the first of its causes.
std::string work_of(const Json& event) {
  const auto args = event.find("args");
  if (args != event.end()) {
    for (const char* work : {"transfer", "compute"}) {
      if (args->contains(work)) return work;
    }
  }
  return "transfer";
}

std::uint64_t cycles_from(const Json& number) {
  if (number.is_number_unsigned() && number.get<std::uint64_t>() < kMostCycles) {
    return number.get<std::uint64_t>();
  }
  throw std::invalid_argument("no number of cycles: " + number.dump());
}

void read(const Json& event, std::map<int, Track>& tracks, Strings& causes, Strings& texts) {
  Track& track = tracks[event.at("tid").get<int>()];
  const std::string name = event.at("name").get<std::string>();
  if (event.at("ph") == "M") {
    if (name == "thread_name") track.name = event.at("args").at("name").get<std::string>();
    return;
  }
  const std::string category = event.at("cat").get<std::string>();
  if (category == "command") return;
  const std::uint64_t begin = cycles_from(event.at("ts"));
  const std::uint64_t end = begin + cycles_from(event.at("dur"));
  cut_open(track, begin, end);
  if (category == "tile") {
    cut_open(track, track.open.end, std::numeric_limits<std::uint64_t>::max());
    track.open = {begin, end, causes.number(work_of(event)), texts.number(name)};
    track.is_open = true;
    return;
  }
  const bool is_wait = category == "wait" || category == "idle";
  add(track, {begin, end, causes.number(is_wait ? name : category), texts.number(name)});
}

/// Neighbours of fewer than `shortest` cycles as one slice, named after what most of it is.
std::vector<Slice> merged(const std::vector<Slice>& slices, std::uint64_t shortest,
                          Strings& texts) {
  std::vector<Slice> result;
  for (std::size_t i = 0; i < slices.size();) {
    std::size_t next = i;
    std::map<std::size_t, std::uint64_t> cycles;  // by cause
    while (next < slices.size() && slices[next].end - slices[next].begin < shortest &&
           slices[next].end - slices[i].begin <= 4 * shortest &&
           (next == i || slices[next].begin - slices[next - 1].end < shortest)) {
      cycles[slices[next].cause] += slices[next].end - slices[next].begin;
      ++next;
    }
    if (next < i + 2) {
      result.push_back(slices[i++]);
      continue;
    }
    const auto most =
        std::max_element(cycles.begin(), cycles.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    result.push_back({slices[i].begin, slices[next - 1].end, most->first,
                      texts.number(counted(next - i, "slice"))});
    i = next;
  }
  return result;
}

std::size_t count(const std::map<int, Track>& tracks) {
  std::size_t slices = 0;
  for (const auto& [number, track] : tracks) slices += track.slices.size();
  return slices;
}

}  // namespace

Json page_recording(const std::string& file, std::size_t most) {
  std::map<int, Track> tracks;
  Strings causes, texts;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  if (!stream || line != "{\"traceEvents\":[") {
    throw UsageError(fmt::format("{}: this is no timeline that --timeline wrote", file));
  }
  // An event a line, with a comma at its end but for the last.
  while (std::getline(stream, line) && line.rfind("],", 0) != 0) {
    line.erase(line.find_last_not_of(", \r") + 1);
    try {
      read(Json::parse(line), tracks, causes, texts);
    } catch (const std::exception& error) {
      throw UsageError(fmt::format("{}: no event of a timeline: {}", file, error.what()));
    }
  }
  for (auto at = tracks.begin(); at != tracks.end();) {
    cut_open(at->second, at->second.open.end, std::numeric_limits<std::uint64_t>::max());
    std::vector<Slice>& slices = at->second.slices;
    std::stable_sort(slices.begin(), slices.end(),
                     [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < slices.size(); ++i) {
      if (slices[i].begin >= slices[i - 1].end) continue;
      throw UsageError(fmt::format("{}: two slices at cycle {} overlap", file, slices[i].begin));
    }
    at = slices.empty() ? tracks.erase(at) : std::next(at);
  }

  std::uint64_t shortest = 1;
  while (count(tracks) > most && shortest < kMostCycles) {
    shortest *= 2;
    for (auto& [number, track] : tracks) track.slices = merged(track.slices, shortest, texts);
  }

  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [number, track] : tracks) begin = std::min(begin, track.slices.front().begin);
  Strings used;  // texts that are left
  Json json = {{"begin", begin},
               {"shortest", shortest},
               {"causes", causes.all()},
               {"texts", nullptr},
               {"tracks", Json::array()}};
  for (const auto& [number, track] : tracks) {
    std::vector<std::uint64_t> gaps, cycles;
    std::vector<std::size_t> of;
    std::vector<std::int64_t> names;
    std::uint64_t last = begin;
    std::int64_t last_name = 0;
    for (const Slice& slice : track.slices) {
      gaps.push_back(slice.begin - last);
      cycles.push_back(slice.end - slice.begin);
      of.push_back(slice.cause);
      const auto name = static_cast<std::int64_t>(used.number(texts[slice.text]));
      names.push_back(name - last_name);
      last = slice.end;
      last_name = name;
    }
    json["tracks"].push_back({{"name", track.name},
                              {"gaps", gaps},
                              {"clocks", cycles},
                              {"causes", of},
                              {"texts", names}});
  }
  json["texts"] = used.all();
  return json;
}

}  // namespace gemm64
