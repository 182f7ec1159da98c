// SPDX-License-Identifier: Apache-2.0
#include "host/cli/gemm_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "host/cli/commands.hpp"
#include "host/cli/failure_file.hpp"
#include "host/cli/gemm_operands.hpp"
#include "host/cli/inspected_device.hpp"
#include "host/cli/values.hpp"
#include "host/numerics/mersenne_twister.hpp"
#include "host/numerics/npy.hpp"
#include "host/report/progress.hpp"
#include "host/runtime/float_gemm.hpp"
#include "host/util/claimed_files.hpp"
#include "host/util/error.hpp"
#include "host/util/lost_outputs.hpp"

namespace gemm64 {
namespace {

std::vector<Job> announced(const JobRunner& runner, std::vector<Job> jobs) {
  runner.announce(jobs);
  return jobs;
}

template <class T>
GemmShape shape_of(const Matrix<T>& a, const Matrix<T>& weights) {
  const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
  return {size(a.rows()), size(a.cols()), size(weights.rows())};
}

/// The jobs of a product; refused where the device has no room for one.
std::vector<Job> jobs_of(const JobRunner& runner, const GemmShape& shape, Precision precision) {
  return announced(runner, precision == Precision::kInt8
                               ? std::vector<Job>{runner.job("gemm", shape)}
                               : sliced_jobs(runner, "gemm", shape));
}

LayerReport run(JobRunner& runner, const std::vector<Job>& jobs, const MatrixI8& a,
                const MatrixI8& weights, MatrixI32& result, const ProgressShare& progress) {
  return runner.run(jobs.front(), a, weights, result, progress);
}

LayerReport run(JobRunner& runner, const std::vector<Job>& jobs, const MatrixF& a,
                const MatrixF& weights, MatrixF& result, const ProgressShare& progress) {
  return run_sliced(runner, "gemm", jobs, a, weights, result, progress);
}

template <class T, class Result>
int multiply(const GemmOptions& options) {
  std::int64_t m = 0, k = 0, n = 0;
  if (!options.sizes.empty()) {
    m = options.sizes[0];
    k = options.sizes[1];
    n = options.sizes[2];
    if (m > kMaxSize / options.batch) {
      throw UsageError(fmt::format("M is {} and the batch {}; their product may be at most {}", m,
                                   options.batch, kMaxSize));
    }
    m *= options.batch;
  } else if (options.a.empty() || options.b.empty()) {
    throw UsageError("give M K N, or both operands as --a A.npy and --b B.npy");
  }
  ClaimedFiles files;
  files.input("--a", options.a);
  files.input("--b", options.b);
  files.output("--output", options.output);
  claim_outputs(files, options);
  const std::unique_ptr<OutputFile> json = open_output(options.json);
  const std::unique_ptr<OutputFile> output = open_output(options.output);

  InspectedDevice inspected(options, "gemm",
                            {{"sizes", options.sizes}, {"a", options.a}, {"b", options.b}});
  Driver driver(inspected.device(), inspected.timeouts());
  JobRunner runner(inspected.device(), driver, inspected.run_options());
  ProgressBar bar;
  std::vector<Job> jobs;
  // Before the operands are made: what cannot be is refused at once.
  if (m != 0) {
    const GemmShape shape = {static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(k),
                             static_cast<std::uint64_t>(n)};
    jobs = jobs_of(runner, shape, options.precision);
  }
  bar.show("the operands", 0);
  MersenneTwister random(options.seed);
  const Matrix<T> a = gemm_operand<T>("A", options.a, m, k, random);
  const Matrix<T> weights = gemm_weights<T>(options.b, k, n, random);
  if (a.cols() != weights.cols()) {
    throw UsageError(fmt::format("A is {}x{} and B is {}x{}: A's columns must be B's rows",
                                 a.rows(), a.cols(), weights.cols(), weights.rows()));
  }

  if (jobs.empty()) jobs = jobs_of(runner, shape_of(a, weights), options.precision);
  ProgressShare progress([&bar](const std::string& name, double done) { bar.show(name, done); });
  progress.next(1);
  RunReport report = runner.report("gemm", static_cast<std::uint64_t>(options.batch));
  Result result;
  try {
    report.layers.push_back(run(runner, jobs, a, weights, result, progress));
  } catch (const DeviceError& error) {
    report.error = error.what();
  }
  report.failure = runner.failure();
  bar.erase();
  if (output && report.error.empty()) keep_going([&] { save_npy(*output, result); });
  return inspected.finish(std::move(report), json.get());
}

}  // namespace

int run_gemm(const GemmOptions& options) {
  return options.precision == Precision::kInt8 ? multiply<std::int8_t, MatrixI32>(options)
                                               : multiply<float, MatrixF>(options);
}

GemmOptions read_gemm_options(const CommonOptions& common, const nlohmann::json& own) {
  GemmOptions options;
  static_cast<CommonOptions&>(options) = common;
  options.sizes = json_field<std::vector<std::int64_t>>(own, "options", "sizes");
  if (!options.sizes.empty() && options.sizes.size() != 3) {
    throw UsageError("options.sizes: give M, K and N, or none");
  }
  for (const std::int64_t size : options.sizes) {
    if (size < 1 || size > kMaxSize) {
      throw UsageError(
          fmt::format("options.sizes: {}; each size must be from 1 to {}", size, kMaxSize));
    }
  }
  options.a = json_field<std::string>(own, "options", "a");
  options.b = json_field<std::string>(own, "options", "b");
  return options;
}

void add_gemm_command(CLI::App& app, int& result) {
  auto options = std::make_shared<GemmOptions>();
  CLI::App* command =
      app.add_subcommand("gemm", "one product C[M x N] = A[M x K] B[K x N], checked");
  command->add_option("sizes", options->sizes, "M K N, each at least 1")
      ->delimiter('x')  // 64x64x64 too
      ->expected(3)
      ->transform(whole_number(1, kMaxSize));
  command->add_option("--a", options->a,
                      "A from this .npy file (int8, or float32 with --precision)");
  command->add_option("--b", options->b, "B from this .npy file");
  command->add_option("-o,--output", options->output, "writes C to this .npy file");
  add_common_options(*command, *options);
  command
      ->add_option("--precision", options->precision,
                   "arithmetic (default int8)\n"
                   "int8: operands of int8. float32: four slices of 7 bits, ten int8 products.")
      ->transform(one_of(std::map<std::string, Precision>{{"int8", Precision::kInt8},
                                                          {"float32", Precision::kFloat32}}));
  command->callback([options, &result] { result = run_gemm(*options); });
}

}  // namespace gemm64
