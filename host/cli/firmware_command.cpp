// SPDX-License-Identifier: Apache-2.0
// `firmware`: AlexNet's Linear layers or a quantized network, run by firmware on the platform's
// processor.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "host/check/cosim.hpp"
#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/firmware_modes.hpp"
#include "host/cli/firmware_network.hpp"
#include "host/cli/values.hpp"
#include "host/graph/passes/quantized_graph.hpp"
#include "host/report/network_text.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"
#include "host/util/text.hpp"
#include "sim/models/devices.hpp"

namespace gemm64 {

std::string firmware_file() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "firmware.elf").string();
}

namespace {

constexpr std::int64_t kAlexNetImages = 64;

/// What a run leaves: its files, once it is reported.
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
  return devices().find(name, options).make(options);
}

int run_alexnet(const FirmwareCommand& options, const Elf& elf, const Outputs& outputs) {
  const auto m = static_cast<std::uint64_t>(options.batch);
  std::unique_ptr<Device> device = device_of(options, "reference");
  const Geometry geometry = read_geometry(*device);
  const std::vector<GemmShape> shapes{{m, 9216, 4096}, {m, 4096, 4096}, {m, 4096, 1000}};
  CosimWork work = make_cosim_work(shapes, Accumulate::kDevice, geometry, options.seed);
  CosimWork fenced = make_fenced_work(shapes, Accumulate::kDevice, geometry, options.seed);
  const char* const names[] = {"classifier.1", "classifier.4", "classifier.6"};
  for (std::size_t i = 0; i < work.jobs.size(); ++i) {
    work.jobs[i].name = fenced.jobs[i].name = names[i];
  }
  const CosimOutcome expected = run_cosim(*device, work, "reference", "");
  const CosimOutcome expected_fenced = run_cosim(*device, fenced, "reference", "");
  const std::vector<FirmwareJob> jobs = firmware_jobs(work, &expected);
  const std::vector<FirmwareJob> layers = firmware_jobs(fenced, &expected_fenced);
  device = device_of(options, options.device);
  const auto begin = std::chrono::steady_clock::now();
  const CosimOutcome found = run_cosim(*device, work, options.device, options.device);
  const std::chrono::duration<double> device_time = std::chrono::steady_clock::now() - begin;
  device.reset();

  std::vector<ModeReport> modes;
  modes.reserve(3);
  bool held = found.failure.empty();
  for (const FirmwareMode& mode :
       {FirmwareMode{"one ring for all", false, work, expected, jobs},
        FirmwareMode{"one product at a time", true, work, expected, jobs},
        FirmwareMode{"one program, fenced", false, fenced, expected_fenced, layers}}) {
    std::function<void(Platform&)> observe;
    if (outputs.timeline && mode.one_at_a_time) {
      observe = [&](Platform& platform) { outputs.timeline->observe(platform, work.jobs); };
    }
    modes.push_back(run_mode(options, elf, mode, observe));
    held = held && modes.back().held();
  }
  print_report(text_of(modes, work.jobs) +
               fmt::format("\nThe same jobs on '{}' by itself: {:.2f} s.\n", options.device,
                           device_time.count()) +
               (held ? "VERIFIED: the CRC of each result is the reference's.\n" : "FAILED\n"));
  return write_outputs(outputs,
                       {{"modes", json_of(modes)}, {"device_alone_seconds", device_time.count()}},
                       modes[1], held);
}

int run_model(const FirmwareCommand& options, const Elf& elf, const Outputs& outputs,
              ClaimedFiles& files) {
  NetworkSource source = open_network(options, files, [](const OnnxModel&) {});
  if (!source.executable) {
    source.model = with_quantized_operators(std::move(source.model), source.import);
  }
  if (source.inputs.passes() != 1) {
    throw UsageError(fmt::format(
        "{}: {} images would run in {} passes; the firmware runs one, so give --images {} or fewer",
        options.model, source.batch, source.inputs.passes(), source.inputs.at_once));
  }
  const Geometry geometry = options.geometry();
  if (source.executable) {
    require_same(*source.executable, geometry, source.executable->options, source.name);
  }
  const Executable executable =
      source.executable ? *source.executable : compile(source.model, geometry);
  require_one_program(executable, source.model);
  const FirmwareNetwork network =
      make_firmware_network(source.model, executable, source.inputs, options.memory);
  std::function<void(Platform&)> observe;
  if (outputs.timeline) {
    observe = [&](Platform& platform) {
      outputs.timeline->observe(platform, executable.programs[0].list);
    };
  }
  const std::vector<ModeReport> modes{run_mode(
      options, elf, {"one program", false, network.work, network.expected, network.jobs}, observe)};
  bool held = modes[0].held();
  for (std::size_t image = 0; image < network.classes.size(); ++image) {
    const std::string line = fmt::format("image {}: class {}\n", image, network.classes[image]);
    held = held && modes[0].report.printed.find(line) != std::string::npos;
  }
  std::uint64_t bytes = 0;
  for (const FirmwareJob& job : network.jobs) bytes += job.result_bytes;
  print_report(
      text_of(modes, network.work.jobs) + "\n" + host_text(network.report, true) +
      (held ? fmt::format("VERIFIED: {} in one program; all {} bytes of results are the host's, "
                          "and the CRC of each layer is right{}.\n",
                          counted(network.jobs.size(), "layer"), grouped(bytes),
                          network.work.exact ? "; all counters of cycles and bytes equal "
                                               "their prediction at the end of every layer"
                                             : "")
            : "FAILED\n"));
  return write_outputs(outputs,
                       {{"model", source.name},
                        {"modes", json_of(modes)},
                        {"layers", network.jobs.size()},
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
    throw UsageError("--device reference: firmware needs a device with cycles: rtl or tlm");
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
                   fmt::format("images (default: {}; of a network, the file's batch, or all images "
                               "of --input)",
                               kAlexNetImages))
      ->transform(whole_number(1, 1 << 12));
  CLI::Option* const model = command->add_option(
      "model,--model", options->model,
      "a quantized network, also as --model: an ONNX, TorchScript (.pt) or compiled file (.g64), "
      "or a "
      "float one with --calibrate\n"
      "The firmware gives the accelerator the one program that run makes of it; a network with "
      "work "
      "of the host's between two programs is refused, and the operator named. Without a network "
      "AlexNet's Linear layers run.");
  CLI::Option* const input =
      command
          ->add_option("--input", options->inputs,
                       "its input: a .npy file, an idx file (plain or .gz), PNG or JPEG images, or "
                       "a folder of them (default: random, from --seed)")
          ->needs(model);
  command
      ->add_option("--images", options->images, "uses the first N images of --input (default: all)")
      ->transform(whole_number(1, kMaxSize))
      ->needs(input);
  add_input_shapes(*command, *options).needs(model);
  add_image_options(*command, options->pixels);
  for (const char* const name : {"--preprocess", "--mean", "--std", "--scale", "--resize"}) {
    command->get_option(name)->needs(model);
  }
  add_calibration_options(*command, *options).needs(model);
  command->add_option("--elf", options->elf,
                      "another firmware than the one next to this program: an ELF for rv64imac");
  command
      ->add_option("--max-instructions", options->max_instructions,
                   "instructions after which the firmware is taken for an endless loop")
      ->transform(whole_number(1, std::int64_t{1} << 50))
      ->capture_default_str();
  command->add_option("--json", options->json, "writes the report to this file");
  command->add_option(
      "--timeline", options->debug.timeline,
      "writes functions, registers, interrupts, bursts, and with --device rtl what each engine did "
      "(of AlexNet in the run of one product at a time), for Perfetto");
  command->callback([options, &result] {
    if (options->model.empty() && options->batch == 0) options->batch = kAlexNetImages;
    const auto action = [&] { return run_firmware_command(*options); };
    result = options->model.empty() ? action() : run_in_child(options->model, action);
  });
}

}  // namespace gemm64
