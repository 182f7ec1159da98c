// SPDX-License-Identifier: Apache-2.0
// Runs the benchmarks in interleaved repetitions, so that what else the machine does meets all of
// them alike, and ends with the medians next to each other. Items are simulated cycles; rates are
// of the processor's time. Takes Google Benchmark's own options.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr const char* kSystem = "system/linear_1024x1024/batch/64";
constexpr const char* kDebug = "system/debug/linear_1024x1024/batch/64";
constexpr const char* kTextbook = "array/textbook";

/// Prints as Google Benchmark does, and keeps the rates' medians.
class Reporter : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.error_occurred) failed_ = true;
      const auto rate = run.counters.find("items_per_second");
      if (rate == run.counters.end()) continue;
      // A single repetition has no aggregates; where there are some, they come after it.
      if (run.run_type == Run::RT_Aggregate && run.aggregate_name != "median") continue;
      const std::string& arguments = run.run_name.args;
      rates_[run.run_name.function_name + (arguments.empty() ? "" : "/" + arguments)] =
          rate->second;
    }
  }

  bool failed() const { return failed_; }

  /// The median of a benchmark's rates, 0 where it was not run.
  double rate(const std::string& name) const {
    const auto found = rates_.find(name);
    return found == rates_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, double> rates_;
  bool failed_ = false;
};

/// As Linux names it; rates of different processors do not compare.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

}  // namespace

int main(int argc, char** argv) {
  // Before the user's, which count where they say otherwise.
  std::vector<std::string> defaults{"--benchmark_repetitions=7", "--benchmark_min_time=0.2",
                                    "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_report_aggregates_only=true"};
  std::vector<char*> arguments{argv[0]};
  for (std::string& option : defaults) arguments.push_back(option.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  std::printf("processor: %s\n", processor_name().c_str());
  const double system = reporter.rate(kSystem);
  const double textbook = reporter.rate(kTextbook);
  if (system > 0 && textbook > 0) {
    std::printf("whole system %.0f cycles/s, textbook array %.0f cycles/s: %.1f times as fast\n",
                system, textbook, system / textbook);
  }
  const double debug = reporter.rate(kDebug);
  if (system > 0 && debug > 0) {
    std::printf(
        "debug build %.0f cycles/s: the default build, without any of it, %.2f times as fast\n",
        debug, system / debug);
  }
  return reporter.failed() ? 1 : 0;
}
