// SPDX-License-Identifier: Apache-2.0
// Runs products and networks through a driver, and checks every value, clock and byte.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/debug/investigation.hpp"
#include "host/debug/product_observer.hpp"
#include "host/driver/driver.hpp"
#include "host/models/network.hpp"
#include "host/run/run_report.hpp"

namespace gemm64 {

/// Told of the first product that failed; finds out more, and tells `failure`.
using Investigate = std::function<void(const ProductRun& product, Failure& failure)>;

/// One product of a run, to be run alone; the sums of all others are the reference's.
struct OneProduct {
  std::size_t index = 0;
  std::uint64_t first_clock = 0;                // in which it begins, with a reset
  std::function<void(std::uint64_t)> reset_at;  // of the device, as DebugDevice's
};

struct RunOptions {
  Precision precision = Precision::kInt8;
  Accumulate accumulate = Accumulate::kDevice;
  MemoryTiming memory;
  Investigate investigate;                  // nothing: a failure is only reported
  std::optional<OneProduct> alone;          // nothing: all run
  std::vector<ProductObserver*> observers;  // told of each product; the device must show its clocks
};

/// Told the name of what is under way and how much of the whole is done, 0 to 1.
using RunProgress = std::function<void(const std::string& name, double done)>;

class Runner {
 public:
  /// Neither the device nor the driver is owned; both outlive the runner.
  Runner(Device& device, Driver& driver, const RunOptions& options, RunProgress progress = nullptr);

  /// C[M x N] = A[M x K] * W[N x K]^T in int8, every sum compared with the reference. `sums`, where
  /// given, takes the device's result. Throws DeviceError where the device fails, after a second
  /// look at the product, with what that found.
  LayerReport product(const std::string& name, const MatrixI8& a, const MatrixI8& w,
                      MatrixI32* sums = nullptr);

  /// The same in float32, from four int8 products of K, 2K, 3K and 4K (see slices.hpp); the result
  /// is compared with a product in double.
  LayerReport product(const std::string& name, const MatrixF& a, const MatrixF& w,
                      MatrixF* result = nullptr);

  /// `result` = a * w^T as the precision asks: in int8 with one scale for all of `a`, chosen by its
  /// own values, and one for each row of `w`; or in float32 as above.
  LayerReport linear(const std::string& name, const MatrixF& a, const Eigen::Ref<const MatrixF>& w,
                     MatrixF& result);

  /// The first product that failed.
  const std::optional<Failure>& failure() const { return failure_; }

  /// For the progress shown: `done` of the whole is finished, the next product is `share` of it.
  void set_progress(double done, double share);

  /// All Linear layers of a network, one after the other; between them the host adds the bias,
  /// applies ReLU and quantizes again. Weights are quantized and packed ahead of the run.
  RunReport network(const Workload& workload);

  /// A report of the run so far, without layers.
  RunReport report(const std::string& model, std::uint64_t batch) const;

 private:
  LayerReport run(const std::string& name, const Plan& plan,
                  const std::vector<std::uint8_t>& packed, const MatrixI8& a, const MatrixI8& w,
                  MatrixI32& sums);
  GemmResult run_on_device(const std::string& name, const ProductRun& product);
  void announce(const Workload& workload);
  void look_again(const ProductRun& product, Failure failure);
  Plan plan(const MatrixI8& a, const MatrixI8& w) const;
  /// The next `share` of the whole belongs to what comes.
  void set_share(double share);

  Device& device_;
  Driver& driver_;
  RunOptions options_;
  RunProgress progress_;
  std::size_t products_ = 0;       // begun so far
  std::uint64_t first_clock_ = 0;  // of the product under way
  std::optional<Failure> failure_;
  double done_ = 0;   // of the whole, before what is under way
  double share_ = 1;  // of the whole, what is under way
};

}  // namespace gemm64
