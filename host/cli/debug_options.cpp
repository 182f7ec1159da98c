// SPDX-License-Identifier: Apache-2.0
#include "host/cli/debug_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "host/cli/values.hpp"
#include "host/device/fault.hpp"
#include "host/util/error.hpp"

namespace gemm64 {

CLI::Option& add_inject_option(CLI::App& app, std::vector<std::string>& inject) {
  return *app.add_option(
                 "--inject", inject,
                 std::string(
                     "injects a fault: a flipped bit, a handshake or a memory that fails\n") +
                     kFaultForms + ".")
              ->allow_extra_args(false);
}

void add_debug_options(CLI::App& app, DebugOptions& options) {
  const std::string group = "Debugging (--device rtl)";
  CLI::Option* const trace = app.add_option("--trace", options.trace,
                                            "writes the waveform to this FST file\n"
                                            "Files for GTKWave and Surfer are written next to it. "
                                            "Uses a slower build of the model.")
                                 ->group(group);
  CLI::Option* const window =
      app.add_option("--trace-window", options.trace_window,
                     "traces only cycles A to B, counted from the device's reset")
          ->needs(trace)
          ->group(group);
  app.add_option("--trace-tile", options.trace_tile,
                 "traces one tile, LAYER:M,K,N, and the one before it\n"
                 "The tile's coordinates count from 0; LAYER defaults to the first product.")
      ->needs(trace)
      ->excludes(window)
      ->group(group);
  app.add_option("--trace-mismatch", options.trace_mismatch,
                 "waveform of the first wrong value (default failure.fst)\n"
                 "Next to it: FILE.gtkw, FILE.surf.ron, FILE.json.")
      ->group(group);
  app.add_option("--view", options.view,
                 "view in save files: overview, array, commands, axi, accumulator, lanes\n"
                 "The default is overview; for a failure, the view that shows it best.")
      ->group(group);
  app.add_option("--timeline", options.timeline,
                 "writes what each engine did, for ui.perfetto.dev or chrome://tracing\n"
                 "A JSON file, command by command. Uses a slower build of the model.")
      ->group(group);
  add_inject_option(app, options.inject).group(group);
  app.add_option("--watchdog", options.watchdog,
                 "stops the work after N cycles without progress\n"
                 "The default is 1048576, or 16 latencies if that is more.")
      ->transform(whole_number(1, 0xffffffff))
      ->group(group);
}

std::pair<std::uint64_t, std::uint64_t> parse_window(const std::string& text) {
  const auto fail = [&text](const char* what) {
    return UsageError(
        fmt::format("--trace-window {}: {}; give cycles as A:B with A < B", text, what));
  };
  const auto number = [&](std::string_view part) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) throw fail("not two numbers");
    return value;
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw fail("no colon");
  const std::uint64_t begin = number(std::string_view(text).substr(0, colon));
  const std::uint64_t end = number(std::string_view(text).substr(colon + 1));
  if (end <= begin) throw fail("it ends before it starts");
  return {begin, end};
}

}  // namespace gemm64
