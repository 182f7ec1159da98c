// SPDX-License-Identifier: Apache-2.0
// Runs jobs through a driver, and checks every value, cycle and byte.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/driver/driver.hpp"
#include "host/runtime/progress.hpp"
#include "host/runtime/run_options.hpp"
#include "host/runtime/run_report.hpp"
#include "host/tiling/program_layer.hpp"

namespace gemm64 {

struct ProgramResults {
  std::vector<LayerReport> layers;
  /// Of each layer, what the device wrote; empty where that is as its `expected` says.
  std::vector<MatrixI32> values;
  double waited = 0;  // seconds for what is expected, once the device had finished
};

class JobRunner {
 public:
  /// Neither the device nor the driver is owned; both outlive the runner.
  JobRunner(Device& device, Driver& driver, const RunOptions& options);

  const RunOptions& options() const { return options_; }
  Device& device() { return device_; }
  Driver& driver() { return driver_; }
  const Geometry& geometry() const { return driver_.geometry(); }

  /// The job of a product or a convolution, cut for this device. Throws UsageError where it cannot
  /// be cut, or the device's memory cannot hold it.
  Job job(const std::string& name, const GemmShape& shape, const Output& output = {}) const;
  Job job(const std::string& name, const Convolution& convolution, const Output& output = {}) const;

  /// Throws UsageError where the device's memory cannot hold a program.
  void check_fits(const JobProgram& list) const { driver_.check_fits(list); }

  /// Announces the work to all observers, before anything runs. Throws UsageError where one of them
  /// was asked for what none of the jobs has.
  void announce(const std::vector<Job>& jobs) const;

  /// C[M x N] = A[M x K] * W[N x K]^T on the device, every sum compared with the reference, if the
  /// options say so. `sums` takes the device's result. Throws DeviceError where the device fails,
  /// once the job was diagnosed, with what that found.
  LayerReport run(const Job& job, const MatrixI8& a, const MatrixI8& w, MatrixI32& sums,
                  const ProgressShare& progress);

  /// Where the options ask for one program: run() above gives the reference's sums and a layer that
  /// is to be filled in, and takes a job and its operands into a list. This runs the list, compares
  /// every sum, and fills in `layers`, which are those that run() gave, in order. Otherwise it does
  /// nothing. Throws as run() does.
  void finish(std::vector<LayerReport>& layers, const ProgressShare& progress);

  /// Runs layers as one program: nothing passes through the host between a layer and its source.
  /// Where results are expected, every value of a layer is compared with what it must be for the
  /// inputs that the device had, those that its source wrote; and that, of a product of 8-bit
  /// results, with the reference. `expectations`: what is expected, instead of what the layers say;
  /// called once, by another thread while the device runs them. Throws as run() and that do.
  ProgramResults run_program(std::vector<ProgramLayer> layers, const ProgressShare& progress,
                             const Expectations& expectations = nullptr);

  /// The first job that failed.
  const std::optional<Failure>& failure() const { return failure_; }

  /// A report of a run on this device, without layers.
  RunReport report(const std::string& model, std::uint64_t batch) const;

 private:
  /// A layer of a list, as stored in memory.
  struct Listed {
    ProgramLayer layer;
    SharedBytes packed;
    std::vector<std::uint8_t> parameters;  // of 8-bit results
    bool by_reference = false;             // is `expected` the reference's, and not the caller's?
  };

  /// `values` and `waited` of ProgramResults.
  struct ListResults {
    std::vector<MatrixI32> values;
    double waited = 0;
  };

  static void expect(std::vector<Listed>& listed, const Expectations& expectations);
  /// Runs a list as one program, and fills in its layers, as far as it came where it throws.
  ListResults run_list(std::vector<Listed>& listed, std::vector<LayerReport>& layers,
                       const ProgressShare& progress, const Expectations& expectations);
  std::vector<MatrixI32> check_list(const std::vector<Listed>& listed, const JobProgram& list,
                                    const std::vector<JobOperands>& operands,
                                    std::vector<GemmResult> results,
                                    std::vector<LayerReport>& layers,
                                    const ProgressShare& progress);
  void begin_on_device();
  /// Ends the observers' view of a job or program, or program of jobs, in which the device found a
  /// fault, and begins another one.
  template <class Work>
  void begin_again(const Work& work);
  /// The location of a fault of a program, which now runs again.
  LayerFault layer_fault(const Job& job, std::size_t command, const FoundFault& fault) const;
  GemmResult run_on_device(const JobRun& run, const ProgressShare& progress);
  /// The first counter of a job that is not as predicted, of those that must be; `chained`: it is
  /// one of several in a program.
  std::optional<std::size_t> wrong_counter(const LayerReport& layer, bool chained) const;
  void look_again(const LayerReport& layer, const JobRun& run, const ProgressShare& progress);
  void look_again(const JobRun& run, Failure failure, const ProgressShare& progress);

  Device& device_;
  Driver& driver_;
  const RunOptions options_;
  std::size_t jobs_ = 0;  // begun so far
  std::vector<Listed> listed_;
  std::uint64_t first_clock_ = 0;   // of the current job
  std::vector<LayerFault> faults_;  // found in the job that runs by itself
  std::optional<Failure> failure_;
};

}  // namespace gemm64
