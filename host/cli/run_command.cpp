// SPDX-License-Identifier: Apache-2.0
#include "host/cli/run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/failure_file.hpp"
#include "host/cli/values.hpp"
#include "host/compile/executable_file.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/passes/quantize.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr const char* kHost = "onnxruntime";  // the only value of --host

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
  own["host"] = kHost;
  return own;
}

/// Refuses a value of --host, which had another one.
void check_host(const std::string& word) {
  if (word == kHost) return;
  throw UsageError(fmt::format(
      "--host {}: ONNX Runtime runs all nodes that the device does not; leave the option out",
      printable(word)));
}

/// Throws UsageError if the device has no space for a product of floats, whose shapes the file has.
void check_space(const OnnxModel& model, const Session& session) {
  if (!is_quantized(model) && why_not_run(model).empty()) session.check(model);
}

/// Refuses what takes a network that runs once, where it runs several times.
void check_passes(const NetworkOptions& options, const NetworkSource& source) {
  if (source.inputs.passes() == 1) return;
  const auto refuse = [&](const char* option, const char* why) {
    const NetworkInputs& inputs = source.inputs;
    const bool in_turn = !inputs.why_in_turn.empty();
    throw UsageError(fmt::format(
        "{}: the {} images run {}, {}; give {}, or leave the option out{}{}", option, source.batch,
        in_turn               ? "one after the other"
        : inputs.at_once == 1 ? "one at a time"
                              : fmt::format("{} at once", inputs.at_once),
        why, inputs.at_once == 1 ? "one image" : fmt::format("at most {} images", inputs.at_once),
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

/// Claims what the options name as inputs, and refuses options that do not fit together.
ClaimedFiles claimed(const NetworkOptions& options) {
  options.check_together(options.device);
  check_images(options);
  ClaimedFiles files;
  claim_inputs(options, files);
  return files;
}

std::unique_ptr<OutputFile> open_json(const NetworkOptions& options, ClaimedFiles& files) {
  claim_outputs(files, options);
  return open_output(options.json);
}

}  // namespace

NetworkCommand::NetworkCommand(NetworkOptions options)
    : options_(std::move(options)),
      files_(claimed(options_)),
      outputs_(options_.outputs, files_),
      json_(open_json(options_, files_)),
      device_(options_, "run", own_options(options_)),
      session_(device_.device(), options_.device, device_.timeouts(), options_,
               device_.run_options()),
      source_([this] {
        bar_.show("reading " + (options_.model.empty() ? options_.network : options_.model), 0);
        return open_network(options_, files_,
                            [this](const OnnxModel& model) { check_space(model, session_); });
      }()),
      judged_((check_passes(options_, source_), options_), source_) {
  outputs_.open(source_.model, files_);
  bar_.show("loading ONNX Runtime", 0);
  onnxruntime_.emplace(session_, device_.parallel_for(jobs_or_cores(options_.jobs)));
  onnxruntime_->open(source_.model, source_.exact.get(), options_.dumps, source_.executable.get());
  if (options_.dumps.empty()) return;
  dump_.emplace(options_.dumps, onnxruntime_->nodes(options_.dumps));
  for (const std::string& file : dump_->files()) files_.output("--dump-activations", file);
}

NetworkRun NetworkCommand::run() {
  const RunProgress progress = [this](const std::string& name, double done) {
    bar_.show(name, done);
  };
  NetworkRun run = onnxruntime_->run(source_.inputs, report(), progress, dump_ ? &*dump_ : nullptr);
  bar_.erase();
  tell_one_job(options_, device_.why_one_job().empty() ? run.why_one_job : device_.why_one_job());
  return run;
}

int NetworkCommand::finish(NetworkRun run) {
  bar_.erase();
  if (run.report.error.empty()) {
    if (const std::string note = dump_ ? dump_->missing_note() : ""; !note.empty()) {
      print_report("{}\n", note);
    }
    outputs_.write(run.outputs);
    run.report.classification = judged_.classify(run);
    if (!run.report.layers.empty()) run.report.scales = scales_text(options_, source_);
  }
  return device_.finish(std::move(run.report), json_.get(), options_.allow_host_only);
}

int run_network_command(const NetworkOptions& options) {
  NetworkCommand command(options);
  return command.finish(command.run());
}

NetworkOptions read_network_options(const CommonOptions& common, const nlohmann::json& own) {
  NetworkOptions options;
  static_cast<CommonOptions&>(options) = common;
  if (own.contains("host")) check_host(json_field<std::string>(own, "options", "host"));
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
  return options;
}

namespace {

void add_model_options(CLI::App& command, NetworkOptions& options) {
  CLI::Option* const network =
      command
          .add_option("network", options.network,
                      fmt::format("{}; or a file, as --model\n"
                                  "What is built in runs on images of Fashion-MNIST.",
                                  fmt::join(known_onnx_networks(), ", ")))
          ->capture_default_str();
  CLI::Option* const data =
      command.add_option("--data", options.data, "folder of the Fashion-MNIST images")
          ->capture_default_str();
  CLI::Option* const model =
      command
          .add_option("--model", options.model,
                      "the network: an ONNX, TorchScript (.pt) or compiled file (.g64)\n"
                      "On the device run the convolutions and Linear layers of a quantized "
                      "network, and the Linear layers of a float one (Gemm, and MatMul with "
                      "constant weights); everything else runs on the host.")
          ->excludes(data);
  network->each([model](const std::string& word) {
    if (model->count() != 0) throw CLI::ExcludesError("network", "--model");
    const std::vector<std::string> known = known_onnx_networks();
    if (std::find(known.begin(), known.end(), word) != known.end()) return;
    if (word == "-" || std::filesystem::exists(word) ||
        std::filesystem::path(word).has_extension()) {
      model->add_result(word);
    }
  });
  CLI::Option* const input =
      command
          .add_option("--input", options.inputs,
                      "the network's input: .npy, idx, PNG, JPEG, a folder (default: random)\n"
                      "A .npy file, an idx file (plain or .gz), PNG or JPEG images, or a folder of "
                      "them, which are resized and normalised; NAME=FILE where the network has "
                      "several inputs. NAME=FOLDER with 0.npy, 1.npy, ... for a sequence. Random "
                      "inputs come from --seed.")
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
                  "writes outputs as .npy: FILE the first, NAME=FILE another, FOLDER/ all\n"
                  "Those of a folder are called NAME.npy. A sequence goes to NAME=FOLDER/.")
      ->allow_extra_args(false)
      ->needs(model);
  command
      .add_option("--dump-activations", options.dumps,
                  "writes the output of each node whose name matches to .npy files")
      ->allow_extra_args(false)
      ->needs(model);
  for (const char* const name : {"results", "check", "convolutions", "depthwise", "one-program"}) {
    add_setting(command, run_settings(), name, options);
  }
  command
      .add_option("--jobs", options.jobs,
                  "simulates N programs in parallel (default: one a core)\n"
                  "Programs of a quantized network, each on a device of its own. The report does "
                  "not depend on N: its cycles are those of a single accelerator.")
      ->transform(whole_number(1, 1024));
  command.add_option_function<std::string>("--host", check_host)->group("");
  command.add_flag("--allow-host-only", options.allow_host_only,
                   "succeeds even if no layer of the network runs on the device");
}

/// All options of `run`, and the default `batch`.
void add_options(CLI::App& command, NetworkOptions& options) {
  options.batch = 64;
  add_model_options(command, options);
  add_common_options(command, options);
  add_setting(command, run_settings(), "precision", options);
  command.get_option("--batch")->description(
      "images at once\n"
      "With --model the default is the file's batch or, where the file leaves it open, all images "
      "of "
      "--input, at most 256 at once.");
}

/// To be called when they were read.
void settle_given(const CLI::App& command, NetworkOptions& options) {
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
  settle_given(*command, options);
  return options;
}

void add_run_command(CLI::App& app, int& result) {
  auto options = std::make_shared<NetworkOptions>();
  CLI::App* command = app.add_subcommand(
      "run",
      "runs a network's convolutions and Linear layers on a device and checks every value, cycle "
      "and byte");
  add_options(*command, *options);
  command->callback([options, command, &result] {
    settle_given(*command, *options);
    result = run_in_child(options->model.empty() ? options->network : options->model,
                          [&options] { return run_network_command(*options); });
  });
  command->footer(
      "Exit codes: 0 all checks held, 1 one did not, 2 bad usage or input, 3 output lost, 4 "
      "--check "
      "none.\f"
      "With --device reference --precision float32 the whole network runs on the host.");
}

}  // namespace gemm64
