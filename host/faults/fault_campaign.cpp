// SPDX-License-Identifier: Apache-2.0
#include "host/faults/fault_campaign.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <vector>

#include "host/check/investigation.hpp"
#include "host/faults/layer_values.hpp"
#include "host/numerics/initialize.hpp"
#include "host/runtime/job_runner.hpp"
#include "host/tiling/job_program.hpp"
#include "host/util/error.hpp"
#include "host/util/parallel_for.hpp"

namespace gemm64 {
namespace {

/// Ends a run after a number of cycles.
class CycleLimit : public Observer {
 public:
  struct Reached {};

  explicit CycleLimit(std::uint64_t last) : last_(last) {}
  void clock(std::uint64_t clock, const Probe&) override {
    if (clock > last_) throw Reached{};
  }

 private:
  const std::uint64_t last_;
};

/// Operands and expected results of a try: of a product, or of its layers.
struct TryValues {
  explicit TryValues(const FaultTry& drawn) {
    std::mt19937 random(drawn.seed);
    if (drawn.program == FaultProgram::kProducts) {
      a = MatrixI8(static_cast<Eigen::Index>(drawn.shape.m),
                   static_cast<Eigen::Index>(drawn.shape.k));
      w = MatrixI8(static_cast<Eigen::Index>(drawn.shape.n), a.cols());
      for (MatrixI8* matrix : {&a, &w}) {
        fill_int8(random, matrix->data(), static_cast<std::size_t>(matrix->size()));
      }
    }
    for (const FaultLayer& layer : drawn.layers) {
      layers.push_back(draw_values(layer, random));
      const auto of = [this](std::optional<std::size_t> from, const MatrixI8& own) {
        return from ? MatrixI8(results[*from].cast<std::int8_t>()) : own;
      };
      results.push_back(layer_results(layer, layers.back(), of(layer.source, layers.back().a),
                                      of(layer.operand, layers.back().operands)));
    }
  }

  MatrixI8 a, w;
  std::vector<LayerValues> layers;
  std::vector<MatrixI32> results;  // of each layer
};

/// Is every sum A[M x K] * W[N x K]^T? Shares no code with the check.
bool is_product(const MatrixI8& a, const MatrixI8& w, const MatrixI32& sums) {
  if (sums.rows() != a.rows() || sums.cols() != w.rows()) return false;
  for (Eigen::Index m = 0; m < a.rows(); ++m) {
    for (Eigen::Index n = 0; n < w.rows(); ++n) {
      std::int64_t sum = 0;
      for (Eigen::Index k = 0; k < a.cols(); ++k) sum += std::int64_t{a(m, k)} * w(n, k);
      if (sum != sums(m, n)) return false;
    }
  }
  return true;
}

/// Does each layer's memory hold its results? Shares no code with the check.
bool hold_results(Device& device, const JobProgram& list, const std::vector<MatrixI32>& results) {
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const Plan& plan = list.jobs[i].plan;
    std::vector<std::uint8_t> memory(plan.result_bytes());
    device.read_memory(list.jobs[i].layout.results, memory.data(), memory.size());
    const std::size_t bytes = plan.results().bytes();
    for (Eigen::Index row = 0; row < results[i].rows(); ++row) {
      for (Eigen::Index column = 0; column < results[i].cols(); ++column) {
        const std::uint64_t lane = plan.first_lane() + static_cast<std::uint64_t>(column);
        const std::uint64_t word =
            lane / plan.array * plan.shape.m + static_cast<std::uint64_t>(row);
        const std::uint64_t at = (word * plan.array + lane % plan.array) * bytes;
        const auto expected = static_cast<std::uint32_t>(results[i](row, column));
        for (std::size_t byte = 0; byte < bytes; ++byte) {
          if (memory[at + byte] != (expected >> (8 * byte) & 0xff)) return false;
        }
      }
    }
  }
  return true;
}

/// The layers in JobRunner's form.
std::vector<ProgramLayer> program_layers(const FaultTry& drawn, const TryValues& values,
                                         const Geometry& geometry) {
  std::vector<ProgramLayer> layers;
  for (std::size_t i = 0; i < drawn.layers.size(); ++i) {
    const FaultLayer& from = drawn.layers[i];
    const LayerValues& own = values.layers[i];
    ProgramLayer layer;
    layer.job = job_of(from, geometry);
    layer.source = from.source;
    layer.operand = from.operand;
    layer.a = own.a;
    layer.w = own.w;
    layer.operands = own.operands;
    layer.bias = own.bias;
    layer.scale = own.scale;
    layer.table = own.table;
    layer.expected = values.results[i];
    layer.expect = [&from, &own](const MatrixI32* source, const MatrixI32* operand) {
      return layer_results(from, own, source != nullptr ? source->cast<std::int8_t>() : own.a,
                           operand != nullptr ? operand->cast<std::int8_t>() : own.operands);
    };
    layers.push_back(std::move(layer));
  }
  return layers;
}

DeviceOptions device_options(unsigned array, bool self_check) {
  DeviceOptions options;
  options.array = static_cast<int>(array);
  options.self_check = self_check;
  return options;
}

DeviceOptions device_options(const FaultTry& t) {
  DeviceOptions options = device_options(t.array, t.self_check);
  options.seed = t.seed;
  options.memory = t.memory;
  return options;
}

}  // namespace

bool run_check(const RunReport& report) { return report.verified(); }

TriedFault carry_out(const FaultTry& drawn, const MakeTryDevice& make, const Check& check,
                     std::uint64_t max_cycles) {
  TriedFault tried;
  tried.fault_try = drawn;
  const TryValues values(drawn);

  const std::unique_ptr<DebugDevice> device = make(device_options(drawn));
  read_geometry(*device);  // costs the same cycles as in the program
  const Timeouts timeouts{drawn.memory.latency, drawn.watchdog};
  Driver driver(*device, timeouts);
  Fault& fault = tried.fault_try.fault;
  fault.clock += device->cycles();
  if (tried.fault_try.second) tried.fault_try.second->clock = fault.clock;
  const std::vector<Fault> faults = tried.fault_try.faults();
  for (const Fault& each : faults) device->inject(each);
  CycleLimit limit(device->cycles() + max_cycles);
  device->observe(limit);

  RunOptions options;
  options.accumulate = drawn.accumulate;
  options.memory = drawn.memory;
  options.investigate = [&](const JobRun& run, Failure& failure) {
    if (failure.mismatches.count == 0) return;
    const auto make_again = [&](bool) {
      std::unique_ptr<DebugDevice> again = make(device_options(drawn));
      for (const Fault& each : faults) again->inject(each);
      return again;
    };
    investigate(run, make_again, timeouts, failure);
    tried.diagnosis = describe(failure);
    tried.misdiagnosed = std::none_of(faults.begin(), faults.end(), [&](const Fault& each) {
      return is_place_of(each, failure.finding, run.job.plan);
    });
  };
  JobRunner runner(*device, driver, options);
  Evidence evidence;
  try {
    RunReport report = runner.report("gemm", 1);
    if (drawn.program == FaultProgram::kProducts) {
      MatrixI32 sums;
      report.layers.push_back(
          runner.run(runner.job("gemm", drawn.shape), values.a, values.w, sums, ProgressShare()));
      evidence.right = is_product(values.a, values.w, sums);
    } else {
      const std::vector<ProgramLayer> layers = program_layers(drawn, values, driver.geometry());
      std::vector<Job> jobs;
      for (const ProgramLayer& layer : layers) jobs.push_back(layer.job);
      report.chained = layers.size() > 1;
      report.layers = runner.run_program(layers, ProgressShare()).layers;
      evidence.right =
          hold_results(*device, make_job_program(jobs, driver.geometry()), values.results);
    }
    evidence.verified = check(report);
    const std::vector<LayerFault> found = report.total().faults;
    evidence.again = !found.empty();
    if (evidence.again) {
      tried.found_after = found.front().found - fault.clock;
      tried.found_in = found.front().memory;
      tried.found_word = found.front().place;
    }
  } catch (const DeviceError& error) {
    // An error has no diagnosis, so only its first line counts.
    const std::string text = error.what();
    evidence.error = text.substr(0, text.find('\n'));
    evidence.reported = driver.has_error();
  } catch (const CycleLimit::Reached&) {
    evidence.hung = true;
  }
  tried.outcome = classify(evidence);
  tried.error = evidence.error;
  return tried;
}

CampaignReport run_campaign(const CampaignOptions& options, const MakeTryDevice& make,
                            const CampaignProgress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  const Geometry geometry = read_geometry(*make(device_options(options.array, options.self_check)));
  CampaignReport report;
  report.array = options.array;
  report.seed = options.seed;
  report.self_check = options.self_check;
  report.flips = options.flips;
  report.programs = options.programs;
  report.jobs = std::max(options.jobs, 1U);

  std::mutex mutex;  // of report
  parallel_for(options.count, report.jobs, [&](std::size_t index) {
    FaultTry drawn =
        draw_try(options.seed, options.programs, options.first + index, geometry, options.flips);
    drawn.self_check = options.self_check;
    TriedFault tried = carry_out(drawn, make);
    if (drawn.self_check) {
      drawn.self_check = false;
      tried.matters = carry_out(drawn, make).outcome != FaultOutcome::kMasked;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    report.tries.push_back(std::move(tried));
    if (progress) progress(report);
  });

  std::sort(report.tries.begin(), report.tries.end(), [](const TriedFault& a, const TriedFault& b) {
    return a.fault_try.index < b.fault_try.index;
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  report.seconds = seconds.count();
  return report;
}

}  // namespace gemm64
