// SPDX-License-Identifier: Apache-2.0
// A timeline read back: its slices, whether they nest, and the cycles that they account for.
#pragma once

#include "host/device/counters.hpp"
#include "host/device/registers.hpp"
#include "tests/test.hpp"

namespace gemm64 {

struct TimelineSlice {
  std::string category, name;
  std::uint64_t begin = 0, end = 0;
  nlohmann::json args;
  int parent = -1;  // index in its track

  std::uint64_t cycles() const { return end - begin; }
};

class TimelineFile {
 public:
  using Track = std::vector<TimelineSlice>;

  /// Reads the file. A failure for each rule of the format that it breaks: names for all tracks; on
  /// each track begins in order, children within their parents, no slice over another's end.
  explicit TimelineFile(const std::filesystem::path& path) : bytes(file_size(path)) { read(path); }

  /// The cycles by engine and cause from `begin` to `end`: `inner` false, from the commands' args
  /// and what is next to the commands; true, from the tiles' args and what is next to the
  /// tiles.
  Counters counters(bool inner, std::uint64_t begin = 0, std::uint64_t end = kNoEnd) const {
    Counters sums{};
    const auto add = [&](const std::string& engine, const std::string& cause,
                         std::uint64_t cycles) {
      for (std::size_t i = 0; i < counter::kBytesWeights; ++i) {
        if (kCounters[i].engine == engine && kCounters[i].cause == cause) sums[i] += cycles;
      }
    };
    for (const auto& [engine, track] : tracks) {
      for (const TimelineSlice& slice : track) {
        if (slice.begin < begin || slice.begin >= end) continue;
        if (slice.category == "layer") {
          EXPECT_EQ(slice.args.at("clocks"), slice.cycles());
          add("total", "clocks", slice.cycles());
        } else if (slice.category == "dispatch") {
          add(engine, "dispatch", slice.cycles());
        } else if (slice.category == "command" || slice.category == "tile") {
          EXPECT_EQ(cycles_in(slice), slice.cycles()) << slice.name << " on " << engine;
          if ((slice.category == "tile") != inner) continue;
          for (const auto& [cause, cycles] : slice.args.items()) {
            if (cycles.is_number()) add(engine, cause, cycles);
          }
        } else if (slice.parent < 0 ||
                   (inner && track[std::size_t(slice.parent)].category == "command")) {
          add(engine, slice.name, slice.cycles());
        }
      }
    }
    return sums;
  }

  std::uint64_t count(const std::string& track, const std::string& category) const {
    std::uint64_t found = 0;
    if (tracks.count(track) == 0) return 0;
    for (const TimelineSlice& slice : tracks.at(track)) found += slice.category == category;
    return found;
  }

  nlohmann::json json;
  std::map<std::string, Track> tracks;
  std::uintmax_t bytes;

  static constexpr std::uint64_t kNoEnd = ~std::uint64_t{0};

 private:
  void read(const std::filesystem::path& path) {
    std::ifstream file(path);
    json = nlohmann::json::parse(file);
    std::map<int, std::string> names;
    std::map<int, std::vector<int>> open;
    for (const auto& event : json.at("traceEvents")) {
      const std::string phase = event.at("ph");
      const int tid = event.at("tid");
      EXPECT_NE(event.at("pid"), tid) << "Perfetto calls such a track the main thread";
      if (phase == "M") {
        if (event.at("name") == "thread_name") names[tid] = event.at("args").at("name");
        continue;
      }
      ASSERT_EQ(names.count(tid), 1U) << "an event on a track without name: " << event;
      Track& track = tracks[names[tid]];
      std::vector<int>& stack = open[tid];
      const std::uint64_t clock = event.at("ts");
      const auto top = [&]() -> TimelineSlice& { return track[std::size_t(stack.back())]; };
      while (!stack.empty() && top().end <= clock) stack.pop_back();
      ASSERT_EQ(phase, "X") << event;
      TimelineSlice slice{event.at("cat"), event.at("name"), clock,
                          clock + event.at("dur").get<std::uint64_t>(),
                          event.value("args", nlohmann::json::object())};
      EXPECT_GT(slice.end, clock) << "an empty slice: " << event;
      if (!track.empty()) EXPECT_GE(clock, track.back().begin) << "out of order: " << event;
      if (!stack.empty()) {
        slice.parent = stack.back();
        EXPECT_LE(slice.end, top().end) << "over an end: " << event;
      }
      stack.push_back(static_cast<int>(track.size()));
      track.push_back(slice);
    }
  }

  static std::uint64_t cycles_in(const TimelineSlice& slice) {
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < counter::kBytesWeights; ++i) {
      bool first = true;  // causes of the same name in several engines are one argument
      for (std::size_t j = 1; j < i; ++j) {
        if (std::string(kCounters[i].cause) == kCounters[j].cause) first = false;
      }
      if (first) sum += slice.args.value(kCounters[i].cause, std::uint64_t{0});
    }
    return sum;
  }
};

}  // namespace gemm64
