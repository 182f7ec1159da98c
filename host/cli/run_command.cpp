// SPDX-License-Identifier: Apache-2.0
#include "host/cli/run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "host/cli/commands.hpp"
#include "host/cli/failure_file.hpp"
#include "host/cli/values.hpp"
#include "host/console.hpp"
#include "host/error.hpp"
#include "host/execute/dump.hpp"
#include "host/execute/operators.hpp"
#include "host/files/claimed_files.hpp"
#include "host/onnx/networks.hpp"
#include "host/onnx/supported.hpp"

namespace gemm64 {
namespace {

nlohmann::ordered_json own_options(const NetworkOptions& options) {
  nlohmann::ordered_json own;
  if (options.model.empty()) {
    own = {{"network", options.network}, {"data", options.data}};
  } else {
    own = {{"model", options.model}, {"inputs", options.inputs}};
    if (options.images != 0) own["images"] = options.images;
    if (!options.input_shapes.empty()) own["input_shapes"] = options.input_shapes;
    if (!to_json(options.pixels).empty()) own["pixels"] = to_json(options.pixels);
    if (!options.calibrate.empty()) {
      own["calibrate"] = options.calibrate;
      own["calibrate_images"] = options.calibration_images;
    }
  }
  if (options.one_program) own["one_program"] = true;
  if (!options.convolutions) own["convolutions"] = "host";
  if (options.results) own["results"] = *options.results == ResultCode::kInt32 ? "int32" : "int8";
  return own;
}

void check_one_program(const NetworkOptions& options) {
  if (!options.one_program) return;
  const auto refuse = [](const std::string& with) {
    throw UsageError(fmt::format("--one-program does not go with {}", with));
  };
  if (options.precision == Precision::kFloat32) refuse("--precision float32; use int8");
  if (options.accumulate != Accumulate::kDevice) refuse("--accumulate host; use device");
  if (options.results == ResultCode::kInt8) refuse("--results int8; use int32");
  if (options.check != CheckLevel::kLayers) {
    refuse(fmt::format("--check {}, since the host computes every layer's input ahead; use layers",
                       name(options.check)));
  }
}

/// What quantized layers give, where the other options leave a choice.
ResultCode results_of(const NetworkOptions& options) {
  const bool on_device = options.accumulate == Accumulate::kDevice;
  if (options.results == ResultCode::kInt8 && !on_device) {
    throw UsageError(
        "--results int8 does not go with --accumulate host, which adds int32 sums; use device");
  }
  return options.results.value_or(on_device && !options.one_program ? ResultCode::kInt8
                                                                    : ResultCode::kInt32);
}

/// Refuses what takes a network that runs once, where it runs several times.
void check_passes(const NetworkOptions& options, const NetworkSource& source) {
  if (source.inputs.passes() == 1) return;
  const auto refuse = [&](const char* option, const char* why) {
    const NetworkInputs& inputs = source.inputs;
    const bool in_turn = !inputs.why_in_turn.empty();
    throw UsageError(fmt::format(
        "{}: the {} images run {}, {}; give {}, or leave the option out{}{}", option, source.batch,
        in_turn ? "one after the other" : fmt::format("{} at once", inputs.at_once), why,
        in_turn ? "one image" : fmt::format("at most {} images", inputs.at_once),
        in_turn ? ": " : "", inputs.why_in_turn));
  };
  if (options.one_program) refuse("--one-program", "each time with programs of their own");
  if (!options.dumps.empty()) {
    refuse("--dump-activations", "and each time would replace the files of the one before");
  }
}

/// Where the scales of a float network's activations come from.
std::string scales_text(const NetworkOptions& options, const NetworkSource& source) {
  if (options.precision == Precision::kFloat32) return "";
  if (source.exact != nullptr) return source.scales;
  if (options.precision == Precision::kFile) return "";
  const auto& nodes = source.model.graph().node();
  const bool is_float = std::any_of(nodes.begin(), nodes.end(), [&](const onnx::NodeProto& node) {
    return node.domain().empty() && (node.op_type() == "Gemm" || node.op_type() == "MatMul");
  });
  if (!is_float) return "";
  return "each layer's from this very input, batch by batch; --calibrate takes them from other "
         "images, as a network in use has them";
}

/// Says that more jobs were asked for than run.
void tell_one_job(const NetworkOptions& options, const std::string& why) {
  if (options.jobs > 1 && !why.empty()) {
    print_error_lines(fmt::format("--jobs {}: one job runs all; {}", options.jobs, why));
  }
}

/// Options that would be of no effect.
void check_images(const NetworkOptions& options) {
  if (options.model.empty() && options.pixels.choice().given()) {
    throw UsageError("--preprocess, --mean, --std, --scale and --resize need --model");
  }
  if (!options.calibrate.empty() && options.precision == Precision::kFloat32) {
    throw UsageError("--calibrate does not go with --precision float32; use int8");
  }
}

void check_level(const NetworkOptions& options) {
  if (options.check != CheckLevel::kOutputs || !is_host_only(options)) return;
  throw UsageError(
      "--check outputs: the host alone runs the network, so there is no device to compare it with; "
      "use layers or none");
}

/// Claims what the options name as inputs, and refuses options that do not fit together.
ClaimedFiles claimed(const NetworkOptions& options) {
  check_one_program(options);
  check_level(options);
  check_images(options);
  ClaimedFiles files;
  claim_inputs(options, files);
  return files;
}

std::unique_ptr<OutputFile> open_json(const NetworkOptions& options, ClaimedFiles& files) {
  claim_outputs(files, options);
  return open_output(options.json);
}

RunOptions run_options_of(const NetworkOptions& options, Session& session) {
  RunOptions run = session.run_options();
  set_network_options(options, run);
  run.side_by_side = session.side_by_side(jobs_or_cores(options.jobs));
  return run;
}

}  // namespace

bool is_host_only(const NetworkOptions& options) {
  return options.device == "reference" && options.precision == Precision::kFloat32;
}

void set_network_options(const NetworkOptions& options, RunOptions& run) {
  run.check = options.check;
  run.one_program = options.one_program;
  run.convolutions = options.convolutions;
  run.results = results_of(options);
}

NetworkCommand::NetworkCommand(NetworkOptions options)
    : options_(std::move(options)),
      files_(claimed(options_)),
      outputs_(options_.outputs, files_),
      json_(open_json(options_, files_)),
      session_(options_, "run", own_options(options_)),
      driver_(session_.device(), session_.patience()),
      runner_(session_.device(), driver_, run_options_of(options_, session_)),
      source_([this] {
        bar_.show("reading " + (options_.model.empty() ? options_.network : options_.model), 0);
        return open_network(options_, files_, [this](const OnnxModel& model) {
          if (!is_host_only(options_)) check_jobs(model, runner_);
        });
      }()),
      judged_((check_passes(options_, source_), options_), source_) {
  outputs_.open(source_.model, files_);
  executor_.emplace(source_.model);
  if (source_.exact != nullptr) exact_.emplace(*source_.exact);
  if (!options_.dumps.empty()) {
    ActivationDump chosen(options_.dumps, *executor_);
    for (const std::string& file : chosen.files()) files_.output("--dump-activations", file);
    dump_ = std::move(chosen);
  }
}

RunReport NetworkCommand::report() const {
  if (!is_host_only(options_)) return runner_.report(source_.name, source_.batch);
  RunReport report;
  report.model = source_.name;
  report.device = "host";
  report.check = options_.check;
  report.precision = options_.precision;
  report.batch = source_.batch;
  return report;
}

NetworkRun NetworkCommand::run() {
  const RunProgress progress = [this](const std::string& name, double done) {
    bar_.show(name, done);
  };
  const bool host_only = is_host_only(options_);
  NetworkRun run = host_only ? run_on_host(*executor_, source_.inputs, report(), dump_, progress)
                             : run_network(*executor_, source_.inputs, runner_, report(), dump_,
                                           progress, exact_ ? &*exact_ : nullptr);
  if (!host_only) run.report.failure = runner_.failure();
  bar_.erase();
  tell_one_job(options_, host_only                        ? "the host alone runs the network"
                         : session_.why_one_job().empty() ? run.why_one_job
                                                          : session_.why_one_job());
  return run;
}

int NetworkCommand::finish(NetworkRun run) {
  bar_.erase();
  if (const std::string note = dropout_note(source_.model); !note.empty()) {
    print_report("{}\n", note);
  }
  if (run.report.error.empty()) {
    outputs_.write(run.outputs);
    run.report.classification = judged_.classify(run);
    if (!run.report.layers.empty()) run.report.scales = scales_text(options_, source_);
  }
  return session_.finish(std::move(run.report), json_.get(), options_.allow_host_only);
}

int run_network_command(const NetworkOptions& options) {
  NetworkCommand command(options);
  return command.finish(command.run());
}

NetworkOptions read_network_options(const CommonOptions& common, const nlohmann::json& own) {
  NetworkOptions options;
  static_cast<CommonOptions&>(options) = common;
  if (own.contains("model")) {
    options.model = json_field<std::string>(own, "options", "model");
    options.inputs = json_field<std::vector<std::string>>(own, "options", "inputs");
    if (own.contains("input_shapes")) {
      options.input_shapes = json_field<std::vector<std::string>>(own, "options", "input_shapes");
    }
    if (own.contains("images")) {
      options.images = json_field<std::uint32_t>(own, "options", "images");
    }
    if (own.contains("pixels")) {
      options.pixels = image_options(json_field<nlohmann::json>(own, "options", "pixels"));
    }
    if (own.contains("calibrate")) {
      options.calibrate = json_field<std::vector<std::string>>(own, "options", "calibrate");
      options.calibration_images = json_field<std::uint32_t>(own, "options", "calibrate_images");
    }
  } else {
    options.network = json_field<std::string>(own, "options", "network");
    options.data = json_field<std::string>(own, "options", "data");
  }
  if (own.contains("one_program")) {
    options.one_program = json_field<bool>(own, "options", "one_program");
  }
  if (own.contains("convolutions")) {
    options.convolutions = json_field<std::string>(own, "options", "convolutions") != "host";
  }
  if (own.contains("results")) {
    options.results = json_field<std::string>(own, "options", "results") == "int32"
                          ? ResultCode::kInt32
                          : ResultCode::kInt8;
  }
  return options;
}

namespace {

void add_model_options(CLI::App& command, NetworkOptions& options) {
  CLI::Option* const network =
      command
          .add_option("network", options.network,
                      fmt::format("a built-in network: {}\nIt runs on images of Fashion-MNIST.",
                                  fmt::join(known_onnx_networks(), ", ")))
          ->capture_default_str();
  CLI::Option* const data =
      command.add_option("--data", options.data, "folder of the Fashion-MNIST images")
          ->capture_default_str();
  CLI::Option* const model =
      command
          .add_option("--model", options.model,
                      "a network from this ONNX or TorchScript file (.pt)\n"
                      "On the device run the convolutions and Linear layers of a quantized "
                      "network, and the Linear layers of a float one (Gemm, and MatMul with "
                      "constant weights); everything else runs on the host.")
          ->excludes(network)
          ->excludes(data);
  CLI::Option* const input =
      command
          .add_option("--input", options.inputs,
                      "the network's input: .npy, idx, PNG, JPEG, a folder (default: random)\n"
                      "A .npy file, an idx file (plain or .gz), PNG or JPEG images, or a folder of "
                      "them, which are resized and normalised; NAME=FILE where the network has "
                      "several inputs. Random inputs come from --seed.")
          ->needs(model);
  command
      .add_option("--images", options.images,
                  "takes only the first N images of --input (default: all)")
      ->transform(whole_number(1, kMaxSize))
      ->needs(input);
  add_input_shapes(command, options).needs(model);
  add_image_options(command, options.pixels);
  add_calibration_options(command, options).needs(model);
  command
      .add_option("--labels", options.labels,
                  "the right class of each image: .npy, idx, or a number a line\n"
                  "Classes count from 0. The report says how many images the network classifies "
                  "correctly.")
      ->needs(input);
  command
      .add_option("--names", options.names,
                  "names of the classes, one a line, for each image's five best")
      ->needs(input);
  command
      .add_option("-o,--output", options.outputs,
                  "writes the network's first output to this .npy file\n"
                  "NAME=FILE writes another output; FOLDER/ writes all outputs, each as NAME.npy.")
      ->allow_extra_args(false)
      ->needs(model);
  command
      .add_option("--dump-activations", options.dumps,
                  "writes the output of each node whose name matches to .npy files")
      ->allow_extra_args(false)
      ->needs(model);
  command
      .add_option(
          "--results", options.results,
          "what the device writes for a layer of 8-bit values (default int8)\n"
          "int8: 8-bit values, with bias, scale and zero point applied; layers without work of "
          "the host between them run as one program. int32: sums, each Linear layer by itself, "
          "convolutions on the host.")
      ->transform(one_of(std::map<std::string, ResultCode>{{"int8", ResultCode::kInt8},
                                                           {"int32", ResultCode::kInt32}}));
  command
      .add_option(
          "--check", options.check,
          "which values are compared (default layers)\n"
          "layers: each layer's results, with exact arithmetic on the inputs that the device had. "
          "outputs: the network's outputs, with a run on the host. none: no value, for speed; the "
          "exit code is 4. Later layers take what the device wrote in any case.")
      ->transform(one_of(std::map<std::string, CheckLevel>{{"layers", CheckLevel::kLayers},
                                                           {"outputs", CheckLevel::kOutputs},
                                                           {"none", CheckLevel::kNone}}));
  command
      .add_option_function<std::string>(
          "--convolutions",
          [&options](const std::string& place) { options.convolutions = place == "device"; },
          "where the convolutions of a quantized network run (default device)")
      ->check(one_of(std::vector<std::string>{"device", "host"}));
  command.add_flag(
      "--one-program", options.one_program,
      "puts all Linear layers into one program, with int32 results\n"
      "A FENCE stands between layers: the device never waits for the host, and loads a layer's "
      "weights while the one before ends. Every layer's input is prepared ahead, from the "
      "reference's results; figures by layer are from fence to fence.");
  command
      .add_option("--jobs", options.jobs,
                  "simulates N programs side by side (default: one a core)\n"
                  "Programs of a quantized network, each on a device of its own. The report does "
                  "not depend on N: its clocks are those of one accelerator that works alone.")
      ->transform(whole_number(1, 1024));
  command.add_flag("--allow-host-only", options.allow_host_only,
                   "succeeds even if no layer of the network runs on the device");
}

/// All options of `run`, and `batch` as it is where nobody gives it.
void add_options(CLI::App& command, NetworkOptions& options) {
  options.batch = 64;
  add_model_options(command, options);
  add_common_options(command, options);
  command
      .add_option(
          "--precision", options.precision,
          "arithmetic of float32 Linear layers (default file)\n"
          "Layers of 8 bits are computed as they are. file: in float32; of a float file on the "
          "device in four slices of 7 bits, ten int8 products, of a quantized one on the host. "
          "float32: of any file in slices. int8: quantized on the way by its own input, in another "
          "arithmetic than the file's. The networks that the program makes are quantized first, "
          "but "
          "for float32.")
      ->transform(one_of(std::map<std::string, Precision>{{"file", Precision::kFile},
                                                          {"int8", Precision::kInt8},
                                                          {"float32", Precision::kFloat32}}));
  command.get_option("--batch")->description(
      "images at once\n"
      "With --model the default is the file's batch or, where the file leaves it open, all images "
      "of "
      "--input, at most 256 at once.");
}

/// To be called when they were read.
void settle_batch(const CLI::App& command, NetworkOptions& options) {
  if (!options.model.empty() && command.count("--batch") == 0) {
    options.batch = 0;  // as the file says
  }
}

}  // namespace

NetworkOptions parse_network_options(const std::vector<std::string>& arguments) {
  NetworkOptions options;
  CLI::App app;
  app.set_help_flag();
  CLI::App* const command = app.add_subcommand("run");
  add_options(*command, options);
  refuse_unusable_values(app);
  std::vector<std::string> words(arguments.rbegin(), arguments.rend());
  words.emplace_back("run");
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (see --help)", error.what()));
  }
  settle_batch(*command, options);
  return options;
}

void add_run_command(CLI::App& app, int& result) {
  auto options = std::make_shared<NetworkOptions>();
  CLI::App* command = app.add_subcommand(
      "run",
      "runs a network's convolutions and Linear layers on a device and checks every value, clock "
      "and byte");
  add_options(*command, *options);
  command->callback([options, command, &result] {
    settle_batch(*command, *options);
    result = run_network_command(*options);
  });
  command->footer(fmt::format(
      "With --device reference --precision float32 the whole network runs on the host.\f"
      "Supported ONNX operators: {}.",
      fmt::join(supported_operators(), ", ")));
}

}  // namespace gemm64
