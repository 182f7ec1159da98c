// SPDX-License-Identifier: Apache-2.0
// The points of a sweep, each predicted or run.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "host/device/registry.hpp"
#include "host/runtime/progress.hpp"
#include "host/sweep/networks.hpp"
#include "host/sweep/row.hpp"
#include "host/sweep/sweep.hpp"

namespace gemm64 {

class SweepRunner {
 public:
  /// Throws UsageError if points are to run on a device that has no such geometry. `devices` is
  /// not owned.
  SweepRunner(Sweep sweep, const DeviceRegistry& devices);

  const Sweep& sweep() const { return sweep_; }

  /// Plans all points that are to run, before anything runs. Returns about what each takes, in any
  /// unit. Throws UsageError, which names the point, if one cannot be.
  std::vector<double> check();

  /// A point's row; the same whenever it is asked for. `progress` is called during a run. Called by
  /// several threads. Throws UsageError, which names the point, if it cannot be.
  SweepRow row(std::size_t index, const RunProgress& progress = nullptr);

 private:
  RunReport run(const SweepPoint& point, const RunProgress& progress);
  std::unique_ptr<Device> make_device(const SweepDesign& design) const;

  const Sweep sweep_;
  const DeviceRegistry& devices_;
  SweepNetworks networks_;
};

/// Notified of each point that is finished, in any order, one at a time.
using PointFinished = std::function<void(std::size_t index, SweepRow row)>;

/// Runs points in parallel, `jobs` at a time, as far as possible in their order. What one of them
/// throws ends all, once the others have finished theirs.
void run_points(SweepRunner& runner, const std::vector<std::size_t>& points, unsigned jobs,
                const std::vector<double>& costs, const PointFinished& finished,
                const RunProgress& progress);

}  // namespace gemm64
