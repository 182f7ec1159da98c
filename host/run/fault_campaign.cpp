// SPDX-License-Identifier: Apache-2.0
#include "host/run/fault_campaign.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <vector>

#include "host/error.hpp"
#include "host/numerics/initialize.hpp"
#include "host/run/job_runner.hpp"
#include "host/side_by_side.hpp"

namespace gemm64 {
namespace {

/// Ends a run that nothing else ends.
class ClockLimit : public Observer {
 public:
  struct Reached {};

  explicit ClockLimit(std::uint64_t last) : last_(last) {}
  void clock(std::uint64_t clock, const Probe&) override {
    if (clock > last_) throw Reached{};
  }

 private:
  const std::uint64_t last_;
};

MatrixI8 random_matrix(std::uint64_t rows, std::uint64_t columns, std::mt19937& random) {
  MatrixI8 matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  fill_int8(random, matrix.data(), static_cast<std::size_t>(matrix.size()));
  return matrix;
}

/// Is every sum A[M x K] * W[N x K]^T? By nothing that the check goes by.
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

DeviceOptions device_options(const FaultTry& t) {
  DeviceOptions options;
  options.array = static_cast<int>(t.array);
  options.seed = t.seed;
  options.memory = t.memory;
  return options;
}

}  // namespace

bool run_check(const RunReport& report) { return report.verified(); }

TriedFault carry_out(const FaultTry& drawn, const MakeTryDevice& make, const Check& check,
                     std::uint64_t max_clocks) {
  TriedFault tried;
  tried.fault_try = drawn;
  std::mt19937 random(drawn.seed);
  const MatrixI8 a = random_matrix(drawn.shape.m, drawn.shape.k, random);
  const MatrixI8 w = random_matrix(drawn.shape.n, drawn.shape.k, random);

  const std::unique_ptr<DebugDevice> device = make(device_options(drawn));
  read_geometry(*device);  // takes the clocks that it takes in the program
  Driver driver(*device, Patience{drawn.memory.latency, drawn.watchdog});
  Fault& fault = tried.fault_try.fault;
  fault.clock += device->clocks();
  device->inject(fault);
  ClockLimit limit(device->clocks() + max_clocks);
  device->observe(limit);

  RunOptions options;
  options.accumulate = drawn.accumulate;
  options.memory = drawn.memory;
  JobRunner runner(*device, driver, options);
  Evidence evidence;
  try {
    RunReport report = runner.report("gemm", 1);
    MatrixI32 sums;
    report.layers.push_back(
        runner.run(runner.job("gemm", drawn.shape), a, w, sums, ProgressShare()));
    evidence.verified = check(report);
    evidence.right = is_product(a, w, sums);
  } catch (const DeviceError& error) {
    evidence.error = error.what();
  } catch (const ClockLimit::Reached&) {
    evidence.hung = true;
  }
  tried.outcome = classify(evidence);
  tried.error = evidence.error;
  return tried;
}

CampaignReport run_campaign(const CampaignOptions& options, const MakeTryDevice& make,
                            const CampaignProgress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  DeviceOptions described;
  described.array = static_cast<int>(options.array);
  const Geometry geometry = read_geometry(*make(described));
  CampaignReport report;
  report.array = options.array;
  report.seed = options.seed;
  report.jobs = std::max(options.jobs, 1U);

  std::mutex mutex;  // of report
  side_by_side(options.count, report.jobs, [&](std::size_t index) {
    TriedFault tried = carry_out(draw_try(options.seed, index, geometry), make);
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
