// SPDX-License-Identifier: Apache-2.0
#include "host/cli/firmware_modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/table.hpp"
#include "host/util/text.hpp"
#include "sim/integrations/systemc/firmware/job_list.h"

namespace gemm64 {

double ModeReport::waiting() const {
  const double span = static_cast<double>(report.span());
  return span == 0 ? 0 : std::max(0.0, 1 - static_cast<double>(busy) / span);
}

ModeReport run_mode(const FirmwareCommand& options, const Elf& elf, const FirmwareMode& how,
                    const std::function<void(Platform&)>& observe) {
  PlatformOptions platform_options;
  platform_options.accelerator = options.device;
  platform_options.device = options;
  platform_options.memory_bytes = how.work.memory.size();
  platform_options.debug = observe != nullptr;
  Platform platform(platform_options);
  platform.device().write_memory(0, how.work.memory.data(), how.work.memory.size());
  if (observe && options.device == "rtl") observe(platform);
  FirmwareOptions firmware;
  firmware.one_at_a_time = how.one_at_a_time;
  firmware.ring = how.work.ring;
  firmware.places = how.work.places;
  firmware.limit = std::uint64_t{1} << 40;
  firmware.max_instructions = options.max_instructions;
  ModeReport mode;
  mode.mode = how.name;
  const auto begin = std::chrono::steady_clock::now();
  mode.report = platform.run(elf, firmware, how.jobs, observe != nullptr);
  mode.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!mode.report.stopped.empty()) {
    print_report(mode.report.printed);
    throw DeviceError(mode.report.stopped);
  }
  CosimOutcome found = firmware_outcome(platform, how.work, mode.report);
  found.side = "firmware";
  found.family = options.device;
  mode.busy = found.cycles.value_or(0);
  Cosim cosim(how.work);
  cosim.add(how.expected);
  mode.verdict = cosim.add(std::move(found));
  return mode;
}

std::string text_of(const std::vector<ModeReport>& modes, const std::vector<Job>& names) {
  std::string text;
  for (const ModeReport& mode : modes) text += mode.report.printed;
  Table table;
  table.add_column("jobs are given", Align::kLeft);
  table.add_column("instructions");
  table.add_column("first doorbell to\nend of work,\ncycles");
  table.add_column("array\nworks,\ncycles");
  table.add_column("array waits\nfor software");
  table.add_column("interrupt to\nnext doorbell,\ncycles");
  table.add_column("seconds");
  const auto cycles = [](double value) {
    return value == 0 ? "-" : grouped(static_cast<std::uint64_t>(std::llround(value)));
  };
  for (const ModeReport& mode : modes) {
    table.add_row({mode.mode, grouped(mode.report.instructions), grouped(mode.report.span()),
                   grouped(mode.busy), fmt::format("{:.2f} %", 100 * mode.waiting()),
                   cycles(mode.report.reaction()), fmt::format("{:.2f}", mode.seconds)});
  }
  text += "\n" + table.render();
  for (const ModeReport& mode : modes) {
    const auto tell = [&](const std::string& what) {
      if (!what.empty()) text += fmt::format("{}: {}\n", mode.mode, what);
    };
    for (std::size_t i = 0; i < mode.report.jobs.size(); ++i) {
      if (mode.report.jobs[i].status != JOB_DONE) tell(names.at(i).name + " has not succeeded");
    }
    tell(mode.verdict.memory);
    tell(mode.verdict.counters);
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<ModeReport>& modes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ModeReport& mode : modes) {
    list.push_back({{"mode", mode.mode},
                    {"exit_code", mode.report.exit_code},
                    {"stopped", mode.report.stopped},
                    {"instructions", mode.report.instructions},
                    {"clocks", mode.report.cycles},
                    {"span_clocks", mode.report.span()},
                    {"busy_clocks", mode.busy},
                    {"waiting_share", mode.waiting()},
                    {"reaction_clocks", mode.report.reaction()},
                    {"doorbells", mode.report.doorbells},
                    {"interrupts", mode.report.interrupts},
                    {"seconds", mode.seconds}});
  }
  return list;
}

}  // namespace gemm64
