// SPDX-License-Identifier: Apache-2.0
#include "host/session/network_run.hpp"

#include <cstring>
#include <limits>

#include "host/execute/linear.hpp"
#include "host/kernels/matmul_bits.hpp"
#include "host/run/float_gemm.hpp"
#include "host/session/device_schedule.hpp"

namespace gemm64 {
namespace {

/// A runner that runs nothing: all sums are the reference's.
JobRunner reference_runner(JobRunner& runner) {
  RunOptions options;
  options.precision = runner.options().precision;
  options.accumulate = runner.options().accumulate;
  options.memory = runner.options().memory;
  options.alone = OneJob{std::numeric_limits<std::size_t>::max(), 0, nullptr};
  return JobRunner(runner.device(), runner.driver(), options);
}

}  // namespace

NamedTensors host_outputs(const Executor& executor, const Executable& executable,
                          const NamedTensors& inputs, JobRunner& runner) {
  JobRunner reference = reference_runner(runner);
  ExecutorHooks hooks;
  const IntegerProduct exact = [&](const MatrixI8& a, const MatrixI8& w) {
    const auto size = [](Eigen::Index index) { return static_cast<std::uint64_t>(index); };
    MatrixI32 sums;
    const GemmShape shape{size(a.rows()), size(a.cols()), size(w.rows())};
    const Job job = reference.job("", shape);
    reference.run(job, a, w, sums, ProgressShare());
    return sums;
  };
  hooks.instead = [&](const Step& step, const Tensors& arguments) {
    if (adds_in_lanes(*step.context.node) &&
        executable.plan.sums.count(static_cast<int>(index_of(executor, step))) != 0) {
      NodeContext context = step.context;
      context.product = &exact;
      return compute(*step.info, context, arguments);
    }
    // The host's other products of integers are exact.
    if (!is_float_product(step) ||
        !why_product_on_host(executor, executable, runner.options(), step, arguments).empty()) {
      return Tensors{};
    }
    const auto product = [&](const MatrixF& a, const ConstMapF& weights) {
      MatrixF result;
      run_float(reference, runner.options().precision, step.context.label, a, weights, result,
                ProgressShare());
      return result;
    };
    return Tensors{run_linear(step.context, arguments, product)};
  };
  return executor.run(inputs, hooks);
}

void compare_outputs(const NamedTensors& expected, const NamedTensors& found, OutputCheck& check) {
  for (const auto& [name, tensor] : found) {
    const Tensor& wanted = expected.at(name);
    const std::size_t size = tensor.element_size();
    check.values += static_cast<std::uint64_t>(tensor.elements());
    const bool same = wanted.type() == tensor.type() && wanted.dims() == tensor.dims();
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * size;
      if (same && std::memcmp(wanted.raw() + at, tensor.raw() + at, size) == 0) continue;
      if (check.mismatches++ == 0) check.first = name;
    }
  }
}

}  // namespace gemm64
