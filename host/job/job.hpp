// SPDX-License-Identifier: Apache-2.0
// The one description of work for a device.
#pragma once

#include <string>
#include <vector>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "host/job/plan.hpp"
#include "host/job/program.hpp"

namespace gemm64 {

/// One product for one device: what is computed and how it is cut (plan), where it lies (layout),
/// and the commands that carry it out (program). Made once; driver, prediction, packing, timeline
/// and the second look at a failure all read it.
struct Job {
  std::string name;  // of the layer
  Plan plan;
  Layout layout;
  std::vector<Command> program;  // FINISH last
  bool chained =
      false;  // in a program of several: its activations are the results of the job before
};

/// Cuts a product and lays it out from address 0. Throws UsageError as make_plan() does.
Job make_job(std::string name, const GemmShape& shape, Accumulate accumulate,
             const Geometry& geometry, const Output& output = {});

}  // namespace gemm64
