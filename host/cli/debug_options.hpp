// SPDX-License-Identifier: Apache-2.0
// Options for looking into a run: waveforms, timelines, faults.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gemm64 {

struct DebugOptions {
  std::string trace;
  std::string trace_window;
  std::string trace_tile;
  std::string trace_mismatch;  // empty: failure.fst
  std::string view;            // empty: overview; for a failure, the view that shows it best
  std::string timeline;
  std::vector<std::string> inject;
  std::uint32_t watchdog = 0;  // 0: as the driver sees fit
};

void add_debug_options(CLI::App& app, DebugOptions& options);
/// --inject only; another one for each fault.
CLI::Option& add_inject_option(CLI::App& app, std::vector<std::string>& inject);

/// "A:B" as two cycles. Throws UsageError where it is none, or ends before it starts.
std::pair<std::uint64_t, std::uint64_t> parse_window(const std::string& text);

}  // namespace gemm64
