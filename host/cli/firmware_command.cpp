// SPDX-License-Identifier: Apache-2.0
// `firmware`: AlexNet's Linear layers, run by firmware on the platform's processor.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/firmware_timeline.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/console.hpp"
#include "host/cosim/cosim.hpp"
#include "host/error.hpp"
#include "host/files/claimed_files.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/report/table.hpp"
#include "host/text.hpp"
#include "sim/devices.hpp"
#include "sim/platform/platform.hpp"

namespace gemm64 {

std::string firmware_file() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "firmware.elf").string();
}

namespace {

struct FirmwareCommand : NamedDevice {
  std::int64_t batch = 64;
  std::string elf;
  std::uint64_t max_instructions = 10'000'000'000;
  std::string json, timeline;
};

struct ModeReport {
  const char* mode;
  FirmwareReport report;
  std::uint64_t busy = 0;  // clocks
  double seconds = 0;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Part of the time between the first doorbell and the end of the work in which the array had
/// nothing to do.
double waiting(const ModeReport& mode) {
  const double span = static_cast<double>(mode.report.span());
  return span == 0 ? 0 : std::max(0.0, 1 - static_cast<double>(mode.busy) / span);
}

std::vector<FirmwareJob> jobs_of(const CosimWork& work, const CosimOutcome& expected) {
  std::vector<FirmwareJob> jobs;
  for (const CosimProgram& program : work.programs) {
    jobs.push_back({program.commands, program.results, program.result_bytes,
                    crc32(expected.memory.data() + program.results, program.result_bytes), true});
  }
  return jobs;
}

/// How jobs are given to the accelerator, and which.
struct Mode {
  const char* name;
  bool one_at_a_time;
  const CosimWork& work;
  std::vector<FirmwareJob> jobs;
};

ModeReport run_mode(const FirmwareCommand& options, const Elf& elf, const Mode& how,
                    FirmwareTimeline* timeline) {
  PlatformOptions platform_options;
  platform_options.accelerator = options.device;
  platform_options.device = options;
  platform_options.memory_bytes = how.work.memory.size();
  platform_options.debug = timeline != nullptr;
  Platform platform(platform_options);
  platform.device().write_memory(0, how.work.memory.data(), how.work.memory.size());
  if (timeline != nullptr && options.device == "rtl") timeline->observe(platform, how.work.jobs);
  FirmwareOptions firmware;
  firmware.one_at_a_time = how.one_at_a_time;
  firmware.ring = how.work.ring;
  firmware.places = how.work.places;
  firmware.max_instructions = options.max_instructions;
  ModeReport mode;
  mode.mode = how.name;
  const auto begin = std::chrono::steady_clock::now();
  mode.report = platform.run(elf, firmware, how.jobs, timeline != nullptr);
  mode.seconds = seconds_since(begin);
  if (mode.report.stopped.empty()) {
    const std::uint32_t offset = kCounters[counter::kTotalClocks].offset;
    mode.busy = platform.device().read_register(offset) |
                std::uint64_t{platform.device().read_register(offset + 4)} << 32;
  }
  return mode;
}

std::string text_of(const std::vector<ModeReport>& modes, const std::string& device, double alone) {
  std::string text;
  for (const ModeReport& mode : modes) text += mode.report.printed;
  Table table;
  table.add_column("jobs are given", Align::kLeft);
  table.add_column("instructions");
  table.add_column("first doorbell to\nend of work,\nclocks");
  table.add_column("array\nworks,\nclocks");
  table.add_column("array waits\nfor software");
  table.add_column("interrupt to\nnext doorbell,\nclocks");
  table.add_column("seconds");
  for (const ModeReport& mode : modes) {
    table.add_row({mode.mode, grouped(mode.report.instructions), grouped(mode.report.span()),
                   grouped(mode.busy), fmt::format("{:.2f} %", 100 * waiting(mode)),
                   mode.report.reaction() == 0
                       ? "-"
                       : grouped(static_cast<std::uint64_t>(mode.report.reaction() + 0.5)),
                   fmt::format("{:.2f}", mode.seconds)});
  }
  return text + "\n" + table.render() +
         fmt::format("\nThe same jobs on '{}' by itself: {:.2f} s.\n", device, alone);
}

nlohmann::ordered_json json_of(const std::vector<ModeReport>& modes, double alone) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ModeReport& mode : modes) {
    list.push_back({{"mode", mode.mode},
                    {"exit_code", mode.report.exit_code},
                    {"stopped", mode.report.stopped},
                    {"instructions", mode.report.instructions},
                    {"clocks", mode.report.clocks},
                    {"span_clocks", mode.report.span()},
                    {"busy_clocks", mode.busy},
                    {"waiting_share", waiting(mode)},
                    {"reaction_clocks", mode.report.reaction()},
                    {"doorbells", mode.report.doorbells},
                    {"interrupts", mode.report.interrupts},
                    {"seconds", mode.seconds}});
  }
  return {{"modes", list}, {"device_alone_seconds", alone}};
}

int run_firmware_command(const FirmwareCommand& options) {
  ClaimedFiles files;
  files.input("--elf", options.elf);
  files.output("--json", options.json);
  files.output("--timeline", options.timeline);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  if (options.device == "reference") {
    throw UsageError("--device reference: firmware needs a device with clocks: rtl or tlm");
  }
  const Elf elf = load_elf(options.elf.empty() ? firmware_file() : options.elf);
  const std::uint64_t m = static_cast<std::uint64_t>(options.batch);
  const auto make = [&](const std::string& name) {
    return devices().find(name, options.array).make(options);
  };
  std::unique_ptr<Device> device = make("reference");
  const Geometry geometry = read_geometry(*device);
  const std::vector<GemmShape> shapes{{m, 9216, 4096}, {m, 4096, 4096}, {m, 4096, 1000}};
  CosimWork work = make_cosim_work(shapes, Accumulate::kDevice, geometry, options.seed);
  const char* const names[] = {"classifier.1", "classifier.4", "classifier.6"};
  for (std::size_t i = 0; i < work.jobs.size(); ++i) work.jobs[i].name = names[i];
  const CosimWork fenced = make_fenced_work(shapes, Accumulate::kDevice, geometry, options.seed);
  std::vector<FirmwareJob> jobs = jobs_of(work, run_cosim(*device, work, "reference", ""));
  std::vector<FirmwareJob> layers = jobs_of(fenced, run_cosim(*device, fenced, "reference", ""));
  device = make(options.device);
  const auto begin = std::chrono::steady_clock::now();
  const CosimOutcome found = run_cosim(*device, work, options.device, options.device);
  const double alone = seconds_since(begin);
  device.reset();

  std::vector<ModeReport> modes;
  bool held = found.failure.empty();
  std::unique_ptr<FirmwareTimeline> timeline;
  if (!options.timeline.empty()) timeline = std::make_unique<FirmwareTimeline>(options.timeline);
  modes.reserve(3);
  for (const Mode& mode : {Mode{"one ring for all", false, work, jobs},
                           Mode{"one product at a time", true, work, jobs},
                           Mode{"one program, fenced", false, fenced, layers}}) {
    modes.push_back(run_mode(options, elf, mode, mode.one_at_a_time ? timeline.get() : nullptr));
    const FirmwareReport& report = modes.back().report;
    if (!report.stopped.empty()) {
      print_report(report.printed);
      throw DeviceError(report.stopped);
    }
    held = held && report.exit_code == 0;
  }
  print_report(text_of(modes, options.device, alone) +
               (held ? "VERIFIED: the CRC of each result is the reference's.\n" : "FAILED\n"));
  if (json) keep_going([&] { json->write(json_of(modes, alone).dump(2) + "\n"); });
  if (timeline) keep_going([&] { timeline->finish(modes[1].report); });
  return held ? 0 : 1;
}

}  // namespace

void add_firmware_command(CLI::App& app, int& result) {
  auto options = std::make_shared<FirmwareCommand>();
  CLI::App* command = app.add_subcommand(
      "firmware", "AlexNet's Linear layers, run by firmware on the platform's RISC-V processor");
  add_device_options(*command, *options);
  command->add_option("--batch", options->batch, "images")
      ->transform(whole_number(1, 1 << 12))
      ->capture_default_str();
  command->add_option("--elf", options->elf,
                      "another firmware than the one beside this program: an ELF for rv64imac");
  command
      ->add_option("--max-instructions", options->max_instructions,
                   "instructions after which the firmware is taken for an endless loop")
      ->transform(whole_number(1, std::int64_t{1} << 50))
      ->capture_default_str();
  command->add_option("--json", options->json, "writes the report to this file");
  command->add_option(
      "--timeline", options->timeline,
      "writes functions, registers, interrupts, bursts, and with --device rtl what each engine did "
      "in the run of one product at a time, for Perfetto");
  command->callback([options, &result] { result = run_firmware_command(*options); });
}

}  // namespace gemm64
