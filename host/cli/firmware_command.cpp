// SPDX-License-Identifier: Apache-2.0
// `firmware`: AlexNet's Linear layers or a quantized network, run by firmware on the platform's
// processor.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/firmware_modes.hpp"
#include "host/cli/network_jobs.hpp"
#include "host/cli/values.hpp"
#include "host/console.hpp"
#include "host/cosim/cosim.hpp"
#include "host/error.hpp"
#include "host/files/claimed_files.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/text.hpp"
#include "sim/devices.hpp"

namespace gemm64 {

std::string firmware_file() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "firmware.elf").string();
}

namespace {

constexpr std::int64_t kAlexNetImages = 64;

std::vector<FirmwareJob> jobs_of(const CosimWork& work, const CosimOutcome& expected) {
  std::vector<FirmwareJob> jobs;
  for (const CosimProgram& program : work.programs) {
    jobs.push_back({program.commands, program.results, program.result_bytes,
                    crc32(expected.memory.data() + program.results, program.result_bytes), true});
  }
  return jobs;
}

/// What a run leaves: its files, once it is told.
struct Outputs {
  std::unique_ptr<OutputFile> json;
  std::unique_ptr<FirmwareTimeline> timeline;
};

int write_outputs(const Outputs& outputs, const nlohmann::ordered_json& json,
                  const ModeReport& shown, bool held) {
  if (outputs.json) keep_going([&] { outputs.json->write(json.dump(2) + "\n"); });
  if (outputs.timeline) keep_going([&] { outputs.timeline->finish(shown.report); });
  return held ? 0 : 1;
}

std::unique_ptr<Device> device_of(const FirmwareCommand& options, const std::string& name) {
  return devices().find(name, options.array).make(options);
}

int run_alexnet(const FirmwareCommand& options, const Elf& elf, const Outputs& outputs) {
  const auto m = static_cast<std::uint64_t>(options.batch);
  std::unique_ptr<Device> device = device_of(options, "reference");
  const Geometry geometry = read_geometry(*device);
  const std::vector<GemmShape> shapes{{m, 9216, 4096}, {m, 4096, 4096}, {m, 4096, 1000}};
  CosimWork work = make_cosim_work(shapes, Accumulate::kDevice, geometry, options.seed);
  const char* const names[] = {"classifier.1", "classifier.4", "classifier.6"};
  for (std::size_t i = 0; i < work.jobs.size(); ++i) work.jobs[i].name = names[i];
  const CosimWork fenced = make_fenced_work(shapes, Accumulate::kDevice, geometry, options.seed);
  const std::vector<FirmwareJob> jobs = jobs_of(work, run_cosim(*device, work, "reference", ""));
  const std::vector<FirmwareJob> layers =
      jobs_of(fenced, run_cosim(*device, fenced, "reference", ""));
  device = device_of(options, options.device);
  const auto begin = std::chrono::steady_clock::now();
  const CosimOutcome found = run_cosim(*device, work, options.device, options.device);
  const std::chrono::duration<double> alone = std::chrono::steady_clock::now() - begin;
  device.reset();

  std::vector<ModeReport> modes;
  modes.reserve(3);
  bool held = found.failure.empty();
  const FirmwareMode one_ring{"one ring for all", false, work.memory, work.ring, work.places, jobs};
  const FirmwareMode one_by_one{
      "one product at a time", true, work.memory, work.ring, work.places, jobs};
  const FirmwareMode one_program{"one program, fenced", false,         fenced.memory,
                                 fenced.ring,           fenced.places, layers};
  for (const FirmwareMode& mode : {one_ring, one_by_one, one_program}) {
    std::function<void(Platform&)> observe;
    if (outputs.timeline && mode.one_at_a_time) {
      observe = [&](Platform& platform) { outputs.timeline->observe(platform, work.jobs); };
    }
    modes.push_back(run_mode(options, elf, mode, observe));
    held = held && modes.back().report.exit_code == 0;
  }
  print_report(
      text_of(modes) +
      fmt::format("\nThe same jobs on '{}' by itself: {:.2f} s.\n", options.device, alone.count()) +
      (held ? "VERIFIED: the CRC of each result is the reference's.\n" : "FAILED\n"));
  return write_outputs(outputs,
                       {{"modes", json_of(modes)}, {"device_alone_seconds", alone.count()}},
                       modes[1], held);
}

int run_model(const FirmwareCommand& options, const Elf& elf, const Outputs& outputs,
              ClaimedFiles& files) {
  const Geometry geometry = read_geometry(*device_of(options, "reference"));
  const NetworkSource source = open_network(options, files, [&](const OnnxModel&) {});
  if (source.inputs.passes() != 1) {
    throw UsageError(fmt::format(
        "{}: {} images would run in {} passes; the firmware runs one, so give --images {} or less",
        options.model, source.batch, source.inputs.passes(), source.inputs.at_once));
  }
  const NetworkPlan plan(source.model, geometry, source.executable.get());
  const NetworkJobs network =
      make_network_jobs(plan, source.inputs.take(0, source.inputs.images), geometry);
  const FirmwareMode mode{"program by program", false,          network.memory,
                          network.ring,         network.places, network.jobs};
  std::function<void(Platform&)> observe;
  if (outputs.timeline) {
    observe = [&](Platform& platform) { outputs.timeline->observe(platform, network.layers); };
  }
  const std::vector<ModeReport> modes{run_mode(options, elf, mode, observe)};
  const bool held = modes[0].report.exit_code == 0;
  print_report(
      text_of(modes) +
      (held ? fmt::format(
                  "VERIFIED: {} programs of the accelerator's and {} of the processor's own; the "
                  "CRC "
                  "of each layer's results, and of the classes, is that of ONNX's arithmetic.\n",
                  plan.executable().programs.size(),
                  counted(network.jobs.size() - network.layers.jobs.size() - 1, "layer"))
            : "FAILED\n"));
  return write_outputs(outputs,
                       {{"model", source.name},
                        {"modes", json_of(modes)},
                        {"programs", plan.executable().programs.size()},
                        {"jobs", network.jobs.size()},
                        {"classes", network.classes}},
                       modes[0], held);
}

int run_firmware_command(const FirmwareCommand& options) {
  ClaimedFiles files;
  files.input("--elf", options.elf);
  claim_inputs(options, files);
  files.output("--json", options.json);
  files.output("--timeline", options.debug.timeline);
  Outputs outputs;
  outputs.json = open_output(options.json);
  if (options.device == "reference") {
    throw UsageError("--device reference: firmware needs a device with clocks: rtl or tlm");
  }
  const Elf elf = load_elf(options.elf.empty() ? firmware_file() : options.elf);
  if (!options.debug.timeline.empty()) {
    outputs.timeline = std::make_unique<FirmwareTimeline>(options.debug.timeline);
  }
  return options.model.empty() ? run_alexnet(options, elf, outputs)
                               : run_model(options, elf, outputs, files);
}

}  // namespace

void add_firmware_command(CLI::App& app, int& result) {
  auto options = std::make_shared<FirmwareCommand>();
  options->batch = 0;
  CLI::App* command = app.add_subcommand(
      "firmware",
      "AlexNet's Linear layers, or a quantized network, run by firmware on the platform's RISC-V "
      "processor");
  add_device_options(*command, *options);
  command
      ->add_option("--batch", options->batch,
                   fmt::format("images (default: {}; with --model, the file's batch, or all images "
                               "of --input)",
                               kAlexNetImages))
      ->transform(whole_number(1, 1 << 12));
  CLI::Option* const model = command->add_option(
      "--model", options->model,
      "a quantized network from this ONNX file, or a float one with --calibrate: convolutions and "
      "Linear layers on the accelerator, MaxPool and the classes by the processor");
  CLI::Option* const input =
      command
          ->add_option("--input", options->inputs,
                       "its input: a .npy file, an idx file (plain or .gz), PNG or JPEG images, or "
                       "a folder of them (default: random, from --seed)")
          ->needs(model);
  command
      ->add_option("--images", options->images,
                   "takes only so many images of --input, the first ones (default: all)")
      ->transform(whole_number(1, kMaxSize))
      ->needs(input);
  add_calibration_options(*command, *options).needs(model);
  command->add_option("--elf", options->elf,
                      "another firmware than the one beside this program: an ELF for rv64imac");
  command
      ->add_option("--max-instructions", options->max_instructions,
                   "instructions after which the firmware is taken for an endless loop")
      ->transform(whole_number(1, std::int64_t{1} << 50))
      ->capture_default_str();
  command->add_option("--json", options->json, "writes the report to this file");
  command->add_option(
      "--timeline", options->debug.timeline,
      "writes functions, registers, interrupts, bursts, and with --device rtl what each engine did "
      "(without --model in the run of one product at a time), for Perfetto");
  command->callback([options, &result] {
    if (options->model.empty() && options->batch == 0) options->batch = kAlexNetImages;
    result = run_firmware_command(*options);
  });
}

}  // namespace gemm64
