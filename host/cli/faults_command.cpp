// SPDX-License-Identifier: Apache-2.0
// `faults`: a campaign of injected faults.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "host/cli/commands.hpp"
#include "host/cli/options.hpp"
#include "host/cli/values.hpp"
#include "host/console.hpp"
#include "host/files/claimed_files.hpp"
#include "host/files/lost_outputs.hpp"
#include "host/report/campaign_report.hpp"
#include "host/report/progress.hpp"
#include "host/run/fault_campaign.hpp"
#include "sim/devices.hpp"

namespace gemm64 {
namespace {

constexpr std::int64_t kMaxFaults = 100'000'000;
constexpr std::int64_t kMaxJobs = 1024;
constexpr std::chrono::milliseconds kBetweenLines{100};  // of progress

struct FaultsCommand : CampaignOptions {
  std::string json;
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

CampaignReport campaign(const FaultsCommand& options) {
  const DeviceKind& kind = devices().find_inspectable("rtl", "faults");
  const QuietStandardOutput quiet;
  ProgressBar bar;
  return run_campaign(
      options,
      [&kind](const DeviceOptions& device) {
        return kind.make_inspectable(device, TraceOptions());
      },
      [&, last = std::chrono::steady_clock::time_point()](const CampaignReport& so_far) mutable {
        const auto now = std::chrono::steady_clock::now();
        if (now - last < kBetweenLines) return;
        last = now;
        bar.show("faults: " + campaign_line(so_far),
                 static_cast<double>(so_far.tries.size()) / static_cast<double>(options.count));
      });
}

int faults(const FaultsCommand& options) {
  ClaimedFiles().output("--json", options.json);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const CampaignReport report = campaign(options);
  print_report(campaign_table(report, terminal_width()));
  if (json) keep_going([&] { json->write(to_json(report).dump(2) + "\n"); });
  return report.holds() ? 0 : 1;
}

}  // namespace

void add_faults_command(CLI::App& app, int& result) {
  auto options = std::make_shared<FaultsCommand>();
  options->jobs = std::max(std::thread::hardware_concurrency(), 1U);
  CLI::App* command = app.add_subcommand(
      "faults", "small products with one random fault each: what the check finds of them");
  command->add_option("--count", options->count, "faults to try")
      ->transform(whole_number(1, kMaxFaults))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of products and faults")
      ->transform(whole_number(0, kMaxSeed))
      ->capture_default_str();
  command->add_option("--array", options->array, "rows and columns of the array: 2, 4, 8 or 64")
      ->transform(one_of({"2", "4", "8", "64"}))
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "tries side by side (default: one a core)")
      ->transform(whole_number(1, kMaxJobs));
  command->add_option(
      "--json", options->json,
      "writes counts, and every try with the command that repeats it, to this file");
  command->callback([options, &result] { result = faults(*options); });
  command->footer(
      "Exit codes: 0 nothing hung or went unnoticed, 1 something did, 2 bad usage or input, 3 an "
      "output was lost.");
}

}  // namespace gemm64
