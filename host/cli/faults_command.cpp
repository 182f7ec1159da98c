// SPDX-License-Identifier: Apache-2.0
// `faults`: a campaign of injected faults, or of broken programs.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "host/cli/child_process.hpp"
#include "host/cli/commands.hpp"
#include "host/cli/network_faults.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/faults/broken_report.hpp"
#include "host/faults/campaign_report.hpp"
#include "host/faults/fault_campaign.hpp"
#include "host/faults/network_campaign_report.hpp"
#include "host/graph/onnx/networks.hpp"
#include "host/report/progress.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/console.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"
#include "sim/models/devices.hpp"
#include "sim/models/rtl_device.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kMaxFaults = 100'000'000;
constexpr std::int64_t kMaxJobs = 1024;
constexpr std::chrono::milliseconds kBetweenLines{100};  // of progress

constexpr const char* kInjected = "injected";
constexpr const char* kBrokenPrograms = "broken-programs";
constexpr const char* kAllPrograms = "all";

struct FaultsCommand : CampaignOptions {
  std::string kind = kInjected;
  std::string program = kAllPrograms;
  std::string json;
  NetworkOptions network;
  std::uint64_t repeat = 0;
};

/// What Verilator prints of failed assertions, thousands of times in a campaign, goes nowhere.
class QuietStandardOutput {
 public:
  QuietStandardOutput() : kept_(dup(STDOUT_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept_ >= 0 && nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0) close(nowhere);
  }
  ~QuietStandardOutput() {
    std::fflush(stdout);
    if (kept_ < 0) return;
    dup2(kept_, STDOUT_FILENO);
    close(kept_);
  }
  QuietStandardOutput(const QuietStandardOutput&) = delete;
  QuietStandardOutput& operator=(const QuietStandardOutput&) = delete;

 private:
  const int kept_;
};

/// Shows now and then `line` of what was tried so far.
template <class Report>
auto progress_of(ProgressBar& bar, std::uint64_t count, std::string (*line)(const Report&)) {
  return [&bar, count, line,
          last = std::chrono::steady_clock::time_point()](const Report& so_far) mutable {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < kBetweenLines) return;
    last = now;
    bar.show("faults: " + line(so_far),
             static_cast<double>(so_far.tries.size()) / static_cast<double>(count));
  };
}

CampaignReport campaign(FaultsCommand options) {
  for (std::size_t i = 0; i < kFaultPrograms; ++i) {
    const auto program = static_cast<FaultProgram>(i);
    if (options.program == name(program)) options.programs = program;
  }
  const DeviceKind& kind = devices().find_inspectable("rtl", "faults");
  const QuietStandardOutput quiet;
  ProgressBar bar;
  return run_campaign(
      options,
      [&kind](const DeviceOptions& device) {
        return kind.make_inspectable(device, TraceOptions());
      },
      progress_of(bar, options.count, campaign_line));
}

std::unique_ptr<Device> make_rtl(std::uint32_t array, const MemoryTiming& memory,
                                 std::uint32_t seed, std::uint64_t bytes) {
  RtlOptions options;
  options.n = static_cast<int>(array);
  options.memory = memory;
  options.seed = seed;
  options.memory_bytes = bytes;
  return make_rtl_device(options);
}

BrokenReport broken_programs(const FaultsCommand& options) {
  const QuietStandardOutput quiet;
  ProgressBar bar;
  BrokenOptions broken;
  broken.array = options.array;
  broken.first = options.first;
  broken.count = options.count;
  broken.seed = options.seed;
  broken.jobs = options.jobs;
  return run_broken_programs(broken, make_rtl, progress_of(bar, options.count, broken_line));
}

/// The choices of --program.
std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kFaultPrograms; ++i) {
    names.emplace_back(name(static_cast<FaultProgram>(i)));
  }
  names.emplace_back(kAllPrograms);
  return names;
}

int tell(const std::string& text, const nlohmann::ordered_json& report, bool held,
         OutputFile* json) {
  print_report(text);
  if (json != nullptr) keep_going([&] { json->write(report.dump(2) + "\n"); });
  return held ? 0 : 1;
}

/// The campaign of --model, whose options that have other names there are taken over.
NetworkCampaignReport network_campaign(const FaultsCommand& options) {
  NetworkFaultsOptions faults;
  faults.network = options.network;
  NetworkOptions& network = faults.network;
  const std::vector<std::string> known = known_onnx_networks();
  if (std::find(known.begin(), known.end(), network.model) != known.end()) {
    network.network = std::exchange(network.model, "");
  }
  network.array = static_cast<int>(options.array);
  network.seed = options.seed;
  network.self_check = options.self_check;
  network.check = CheckLevel::kNone;  // of values; outputs are compared
  faults.first = options.first;
  faults.count = options.count;
  faults.repeat = options.repeat;
  faults.jobs = options.jobs;
  const QuietStandardOutput quiet;
  return network_faults(faults);
}

int faults(const FaultsCommand& options) {
  if (!options.network.model.empty()) {
    if (options.program != kAllPrograms || options.kind != kInjected || options.flips != 1) {
      throw UsageError("--model does not go with --kind, --program and --flips");
    }
    ClaimedFiles files;
    claim_inputs(options.network, files);
    files.output("--json", options.json);
    const std::unique_ptr<OutputFile> json = open_output(options.json);
    const NetworkCampaignReport report = network_campaign(options);
    return tell(network_campaign_table(report, terminal_width()), to_json(report), report.holds(),
                json.get());
  }
  if (options.program != kAllPrograms && options.kind != kInjected) {
    throw UsageError("--program is for --kind injected");
  }
  if (options.self_check && options.kind != kInjected) {
    throw UsageError("--self-check is for --kind injected");
  }
  if (options.flips != 1 && options.kind != kInjected) {
    throw UsageError("--flips is for --kind injected");
  }
  ClaimedFiles().output("--json", options.json);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  if (options.kind == kBrokenPrograms) {
    const BrokenReport report = broken_programs(options);
    return tell(broken_table(report, terminal_width()), to_json(report), report.holds(),
                json.get());
  }
  const CampaignReport report = campaign(options);
  return tell(campaign_table(report, terminal_width()), to_json(report), report.holds(),
              json.get());
}

}  // namespace

void add_faults_command(CLI::App& app, int& result) {
  auto options = std::make_shared<FaultsCommand>();
  options->jobs = std::max(std::thread::hardware_concurrency(), 1U);
  CLI::App* command = app.add_subcommand(
      "faults",
      "fault-injection campaign: detection and diagnosis rates of random faults in small programs; "
      "or broken programs, on the RTL and the reference device; or flipped bits in a whole "
      "network, "
      "and how often its outputs change");
  command->add_option("--kind", options->kind, "injected, or broken-programs")
      ->transform(one_of({kInjected, kBrokenPrograms}))
      ->capture_default_str();
  command
      ->add_option(
          "--program", options->program,
          "what the faults are put into: products, convolutions, programs of the depthwise "
          "lanes (lanes), of the element-wise unit (vector), or all by turns")
      ->transform(one_of(program_names()))
      ->capture_default_str();
  command
      ->add_option(
          "--flips", options->flips,
          "bits to flip in each try, 1 or 2. The second flip is in the same cycle and, as a "
          "rule, in the same word; with 2, no handshake is lost and no memory fails")
      ->transform(one_of({"1", "2"}))
      ->capture_default_str();
  command->add_option("--first", options->first, "number of the seed's first fault or program")
      ->transform(whole_number(0, kMaxFaults))
      ->capture_default_str();
  command->add_option("--count", options->count, "faults or broken programs to try")
      ->transform(whole_number(1, kMaxFaults))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of programs and faults")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  command->add_option("--array", options->array, "rows and columns of the array: 2, 4, 8 or 64")
      ->transform(one_of({"2", "4", "8", "64"}))
      ->capture_default_str();
  command->add_flag("--self-check", options->self_check,
                    "uses the self-checking variant, whose programs run again");
  command->add_option("--jobs", options->jobs, "tries to run in parallel (default: one a core)")
      ->transform(whole_number(1, kMaxJobs));
  command->add_option(
      "--json", options->json,
      "writes counts, and every try with the command that repeats it, to this file");
  CLI::Option* const model = command->add_option(
      "--model", options->network.model,
      "instead: a network, whose programs the faults are put into\n"
      "alexnet, lenet, mnist-cnn, or a file as `run` takes it. Only the program "
      "that is hit runs on the RTL. Reported by structure: masked, detected, "
      "silent corruption of outputs, top-1 changed, with intervals of 95 %.");
  options->network.batch = 1;
  command->add_option("--batch", options->network.batch, "images at once")
      ->transform(whole_number(1, kMaxSize))
      ->capture_default_str()
      ->needs(model);
  CLI::Option* const input =
      command
          ->add_option("--input", options->network.inputs,
                       "the network's input: .npy, idx, PNG, JPEG, a folder (default: random)")
          ->needs(model);
  command
      ->add_option("--images", options->network.images,
                   "takes only the first N images of --input (default: all)")
      ->transform(whole_number(1, kMaxSize))
      ->needs(input);
  add_input_shapes(*command, options->network).needs(model);
  add_image_options(*command, options->network.pixels);
  add_calibration_options(*command, options->network).needs(model);
  add_setting(*command, device_settings(), "memory-latency", options->network);
  command
      ->add_option("--repeat", options->repeat,
                   "repeats N of the tries with the whole network on the RTL: outcome and bytes "
                   "must be the same")
      ->transform(whole_number(0, kMaxFaults))
      ->capture_default_str()
      ->needs(model);
  add_progress_option(*command);
  command->callback([options, &result] {
    const std::string& model = options->network.model;
    const auto action = [&] { return faults(*options); };
    result = model.empty() ? action() : run_in_child(model, action);
  });
  command->footer(
      "Exit codes: 0 nothing hung, went unnoticed, was misdiagnosed or differed (with --model: "
      "each "
      "repeated try ended in the same way), 1 something did, 2 bad usage or input, 3 an output was "
      "lost.");
}

}  // namespace gemm64
