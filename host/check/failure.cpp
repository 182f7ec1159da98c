// SPDX-License-Identifier: Apache-2.0
#include "host/check/failure.hpp"

#include <fmt/format.h>

#include "host/device/registers.hpp"
#include "host/util/escaped.hpp"

namespace gemm64 {
namespace {

std::string line(const char* what, const std::string& text) {
  return fmt::format("  {:<13} {}\n", what, text);
}

/// "compute wait_weights, results wait_compute, ..."
std::string waits_in_words(const Finding& finding) {
  std::string text;
  for (const std::size_t i : waits(finding)) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", kCounters[i].engine, kCounters[i].cause);
  }
  return text.empty() ? "nothing" : text;
}

std::string tile_text(const Failure& failure) {
  const Finding& finding = failure.finding;
  if (finding.tile_begin == 0) return "none had begun";
  return fmt::format("M,K,N = {}, its first row in cycle {}, its last sum before cycle {}",
                     to_string(finding.tile), finding.tile_begin, finding.tile_end);
}

std::string finding_text(const Failure& failure) {
  const Finding& finding = failure.finding;
  if (!failure.counter.empty()) {
    return line("counter", failure.counter) + line("values", "every sum is right");
  }
  if (finding.place == Finding::Place::kNone) {
    return line("found", "it did not fail again; it may depend on what ran before");
  }
  const bool lanes = on_lanes(finding.place), absent = finding.place == Finding::Place::kAbsent;
  std::string text = lanes || absent ? std::string() : line("tile", tile_text(failure));
  const std::string last =
      line("last move", finding.wrong_clock == 0 ? std::string("none came")
                                                 : fmt::format("cycle {}", finding.clock));
  if (finding.place == Finding::Place::kStopped) return text + last;
  if (finding.place == Finding::Place::kStandstill) {
    return text + last + line("after it", waits_in_words(finding));
  }
  const Mismatches& first = failure.mismatches;
  text += line("element", fmt::format("row {}, column {}: expected {}, found {}", first.first_row,
                                      first.first_column, first.expected, first.found));
  if (finding.window) {
    std::string multiplied = to_string(*finding.window);
    if (finding.channel) multiplied += fmt::format(", channel {}", *finding.channel);
    text += line("multiplied", multiplied);
  }
  if (absent) return text + line("first wrong", place_in_words(finding));
  text +=
      lanes ? line("left chip", fmt::format("cycle {}, lane {}", finding.clock, finding.column))
            : line("left array", fmt::format("cycle {}, column {}", finding.clock, finding.column));
  if (finding.place == Finding::Place::kMemory || finding.place == Finding::Place::kRequantized ||
      finding.place == Finding::Place::kLanes) {
    return text + line("first wrong", place_in_words(finding));
  }
  return text + line("first wrong",
                     fmt::format("{}: expected {}, found {} in cycle {}", place_in_words(finding),
                                 finding.expected, finding.found, finding.wrong_clock));
}

}  // namespace

std::string describe(const Failure& failure) {
  const GemmShape& shape = failure.shape;
  std::string text = fmt::format("{}, {}x{}x{} from cycle {}{}:\n", failure.product, shape.m,
                                 shape.k, shape.n, failure.first_clock,
                                 failure.counter.empty() ? ", diagnosed in a second run" : "");
  text += finding_text(failure);
  if (!failure.trace_file.empty()) {
    text += line(
        "waveform",
        fmt::format("{}, cycles {} to {}: gtkwave {}", escaped(failure.trace_file),
                    failure.trace_begin, failure.trace_end - 1,
                    escaped(failure.save_file.empty() ? failure.trace_file : failure.save_file)));
  }
  if (!failure.replay_file.empty()) {
    text += line("reproduce", fmt::format("gemm64 replay {}", escaped(failure.replay_file)));
  }
  if (!failure.note.empty()) text += line("note", escaped(failure.note));
  return text;
}

}  // namespace gemm64
