// SPDX-License-Identifier: Apache-2.0
// Requests of the page, as JSON, to the one bench that there is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/web/bench.hpp"

namespace gemm64::web {

class Requests {
 public:
  /// Answers {"do": "open" | "standing" | "stop_at" | "flip" | "outcome" | "draw", ...}, and where
  /// something comes from, null where that is not known: "element" of an "address", "filled" of a
  /// "buffer" and "word", "memory" of an "address" and "bytes", "entering" of a "row", "leaving" of
  /// a "beat", "block" of its number, "result" of a "job", "row"
  /// and "column" (origin.hpp); and the "bursts" in progress on each port, [next address, beats
  /// left]. Nothing is thrown: an answer with "error" says in a sentence what was wrong.
  std::string answer(const std::string& request);

  /// Simulates that many cycles of what is open; the number of Bench::State.
  int step(std::uint64_t cycles);

  const Bench& bench() const { return *bench_; }

 private:
  nlohmann::json element(std::uint64_t address) const;
  nlohmann::json bursts() const;
  nlohmann::json carry_out(const nlohmann::json& request);

  std::unique_ptr<Bench> bench_;
};

}  // namespace gemm64::web
