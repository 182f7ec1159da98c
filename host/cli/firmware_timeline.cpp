// SPDX-License-Identifier: Apache-2.0
#include "host/cli/firmware_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gemm64 {
namespace {

using Kind = PlatformEvent::Kind;

constexpr int kFunctionTrack = 1, kRegisterTrack = 2, kInterruptTrack = 3, kAcceleratorTrack = 4,
              kEngineTracks = 5, kBurstTracks = kEngineTracks + Timeline::kTracks;

struct Slice {
  int track;
  std::uint64_t begin, end;
  std::string name;
  nlohmann::ordered_json args = nlohmann::ordered_json::object();
};

/// Slices of the events of two kinds: from one of the first to the next of either.
void add_spans(const FirmwareReport& report, int track, Kind begin, Kind end, const char* name,
               std::vector<Slice>& slices) {
  const PlatformEvent* open = nullptr;
  for (const PlatformEvent& event : report.events) {
    if (event.kind != begin && event.kind != end) continue;
    if (open != nullptr && (begin == end || event.kind == end)) {
      slices.push_back({track, open->clock, event.clock, name == nullptr ? open->what : name});
      open = nullptr;
    }
    if (open == nullptr && event.kind == begin) open = &event;
  }
  // What the processor did last is ahead of the platform's time.
  if (open != nullptr) {
    slices.push_back({track, open->clock, std::max(report.cycles, open->clock + 1),
                      name == nullptr ? open->what : name});
  }
}

/// Transactions: the processor's with registers one after the other; bursts overlap, so each takes
/// the first track that is free.
void add_transactions(const FirmwareReport& report, std::vector<Slice>& slices) {
  std::vector<std::uint64_t> free_from;
  for (const PlatformEvent& event : report.events) {
    if (event.kind != Kind::kBus) continue;
    const std::uint64_t end = event.clock + std::max<std::uint64_t>(event.cycles, 1);
    const bool burst = event.what == "memory";
    int track = kRegisterTrack;
    if (burst) {
      auto lane = std::find_if(free_from.begin(), free_from.end(),
                               [&](std::uint64_t free) { return free <= event.clock; });
      if (lane == free_from.end()) lane = free_from.insert(free_from.end(), 0);
      *lane = end;
      track = kBurstTracks + static_cast<int>(lane - free_from.begin());
    }
    slices.push_back({track,
                      event.clock,
                      end,
                      fmt::format("{} {}", event.write ? "write" : "read", event.what),
                      {{"address", fmt::format("{:#x}", event.address)}, {"bytes", event.bytes}}});
  }
}

}  // namespace

FirmwareTimeline::FirmwareTimeline(const std::string& file) : trace_(file) {
  trace_.name_process("gemm64 platform, cycles as microseconds");
}

void FirmwareTimeline::observe(Platform& platform, const std::vector<Job>& jobs) {
  engines_ = std::make_unique<Timeline>(trace_, kEngineTracks);
  engines_->begin_ring(jobs, 0);
  platform.observe(*engines_);
}

void FirmwareTimeline::observe(Platform& platform, const JobProgram& programs) {
  engines_ = std::make_unique<Timeline>(trace_, kEngineTracks);
  engines_->begin(programs, 0);
  platform.observe(*engines_);
}

void FirmwareTimeline::finish(const FirmwareReport& report) {
  if (engines_) engines_->end(report.cycles);
  std::vector<Slice> slices;
  add_spans(report, kFunctionTrack, Kind::kFunction, Kind::kFunction, nullptr, slices);
  add_spans(report, kInterruptTrack, Kind::kInterrupt, Kind::kInterruptEnd, "interrupt", slices);
  add_spans(report, kAcceleratorTrack, Kind::kDoorbell, Kind::kIdle, "works", slices);
  add_transactions(report, slices);
  slices.erase(std::remove_if(slices.begin(), slices.end(),
                              [](const Slice& slice) { return slice.end <= slice.begin; }),
               slices.end());
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return a.track != b.track ? a.track < b.track : a.begin < b.begin;
  });
  trace_.name_track(kFunctionTrack, "processor: functions");
  trace_.name_track(kRegisterTrack, "processor: registers");
  trace_.name_track(kInterruptTrack, "interrupt");
  trace_.name_track(kAcceleratorTrack, "accelerator");
  const int last = slices.empty() ? 0 : slices.back().track;
  for (int track = kBurstTracks; track <= last; ++track) {
    trace_.name_track(track, fmt::format("bursts {}", track - kBurstTracks));
  }
  for (const Slice& slice : slices) {
    trace_.slice(slice.track, slice.begin, slice.end, "platform", slice.name, slice.args);
  }
  trace_.finish({{"clocks", report.cycles}, {"instructions", report.instructions}});
}

}  // namespace gemm64
