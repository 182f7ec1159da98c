// SPDX-License-Identifier: Apache-2.0
// Programs of convolutions and products that read each other's results, run by a driver only.
#pragma once

#include "host/cycles/cycle_model.hpp"
#include "host/numerics/quality.hpp"
#include "host/tiling/job_program.hpp"
#include "tests/system/convolutions.hpp"
#include "tests/system/second_operands.hpp"

namespace gemm64::system_test {

inline Output int8_output(std::mt19937& random) {
  Output output = random_output(random);
  while (output.format.code() != ResultCode::kInt8) output = random_output(random);
  return output;
}

/// A layer with its operands; `a` of one with a source is what that one gives.
struct ProgramPart {
  Job job;
  Operands operands;
  MatrixI32 expected;
  MatrixI8 second = {};  // the second operands of its results, where no layer gives them
};

/// A program under construction: layers are added one after the other.
class ProgramParts {
 public:
  ProgramParts(std::mt19937& random, const Geometry& geometry)
      : random_(random), geometry_(geometry) {}

  std::vector<ProgramPart> parts;

  /// A convolution of the results of `source`, or of random activations; a depthwise one on the
  /// lanes or on the array, as `on_lanes` says or at random.
  void add(const Convolution& c, const Output& output, std::optional<std::size_t> source,
           std::optional<bool> on_lanes = {}) {
    Operands operands = random_operands(random_, c);
    if (source) operands.a = parts[*source].expected.cast<std::int8_t>();
    std::optional<Job> lanes;
    if (on_lanes ? *on_lanes : random_() % 3 != 0) {
      lanes = gemm64::make_lanes_job(to_string(c), c, geometry_, output);
    }
    Job job = lanes ? *lanes : gemm64::make_job(to_string(c), c, geometry_, output);
    job.source = source;
    MatrixI32 expected = expected_convolution(c, output, operands);
    parts.push_back({std::move(job), std::move(operands), std::move(expected)});
  }

  /// The largest value of windows of 3 x 3, in steps of 2.
  void add_maximum(std::size_t source) {
    const Convolution& from = *parts[source].job.plan.convolution();
    Convolution c;
    c.channels = c.out_channels = c.groups = from.out_channels;
    c.height = from.out_height;
    c.width = from.out_width;
    c.kernel_height = c.kernel_width = 3;
    c.stride_height = c.stride_width = 2;
    c.pad_top = c.pad_left = 1;
    c.out_height = (c.height + 1) / 2;
    c.out_width = (c.width + 1) / 2;
    c.zero = -128;
    const Output output = int8_output(random_);
    Operands operands = random_operands(random_, c);
    operands.a = parts[source].expected.cast<std::int8_t>();
    operands.w = MatrixI8(c.out_channels, 0);
    Job job = gemm64::make_lanes_job("maximum", c, geometry_, output, LaneSum::kMaximum).value();
    job.source = source;
    parts.push_back({std::move(job), operands, expected_maximum(c, output, operands)});
  }

  /// The map of `source` with each pixel repeated, rows and columns in turn.
  void add_repeated(std::size_t source, std::pair<std::uint32_t, std::uint32_t> repeats) {
    const Convolution& from = *parts[source].job.plan.convolution();
    Convolution c;
    c.channels = c.out_channels = c.groups = from.out_channels;
    c.height = c.out_height = from.out_height * repeats.first;
    c.width = c.out_width = from.out_width * repeats.second;
    c.zero = -128;
    const Output output = int8_output(random_);
    Operands operands = random_operands(random_, c);
    const MatrixI32& pixels = parts[source].expected;
    operands.a = MatrixI8(static_cast<Eigen::Index>(c.pixels()), pixels.cols());
    for (std::uint32_t i = 0; i < c.pixels(); ++i) {
      const std::uint32_t y = i / c.width / repeats.first, x = i % c.width / repeats.second;
      operands.a.row(i) = pixels.row(y * from.out_width + x).cast<std::int8_t>();
    }
    operands.w = MatrixI8(c.out_channels, 0);
    Job job = gemm64::make_lanes_job("repeated", c, geometry_, output, LaneSum::kMaximum, repeats)
                  .value();
    job.source = source;
    parts.push_back({std::move(job), operands, expected_maximum(c, output, operands)});
  }

  /// A convolution whose results take those of `operand` as their second operands, or random ones
  /// in memory.
  void add_with_operand(const Convolution& c, std::size_t source,
                        std::optional<std::size_t> operand) {
    Output output = vector_output(random_);
    while (output.format.code() != ResultCode::kInt8) output = vector_output(random_);
    Output plain = output;
    plain.vector.reset();
    add(c, plain, source, false);
    ProgramPart& part = parts.back();
    part.job = gemm64::make_job("sum", c, geometry_, output);
    part.job.source = source;
    part.job.operand = operand;
    if (!operand)
      part.second = random_operands(random_, GemmShape{c.out_pixels(), c.out_channels, 1}).a;
    const MatrixI8 second =
        operand ? MatrixI8(parts[*operand].expected.cast<std::int8_t>()) : part.second;
    part.expected = expected_vector(output, part.expected, second);
  }

  /// A product of M x K activations.
  void add(const GemmShape& shape, const Output& output, std::optional<std::size_t> source) {
    Operands operands = random_operands(random_, shape);
    if (source) operands.a = parts[*source].expected.cast<std::int8_t>();
    Job job = gemm64::make_job("product", shape, Accumulate::kDevice, geometry_, output);
    job.source = source;
    MatrixI32 expected = expected_results(output, operands);
    parts.push_back({std::move(job), std::move(operands), std::move(expected)});
  }

 private:
  std::mt19937& random_;
  const Geometry geometry_;
};

/// Do the bytes of all ports make up what the plans of a program say?
inline void expect_traffic(const Counters& counters, const JobProgram& list) {
  Traffic traffic;
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const Job& job = list.jobs[i];
    const Traffic own = predict_traffic(job.plan);
    traffic.weights += own.weights;
    traffic.parameters += own.parameters;
    if (!job.operand || !list.is_on_chip(*job.operand)) traffic.operands += own.operands;
    if (!job.source || !list.is_on_chip(*job.source)) traffic.activations += own.activations;
    if (!list.is_on_chip(i)) traffic.results += own.results;
  }
  EXPECT_EQ(counters[counter::kBytesWeights], traffic.weights);
  EXPECT_EQ(counters[counter::kBytesActivations], traffic.activations);
  EXPECT_EQ(counters[counter::kBytesParameters], traffic.parameters);
  EXPECT_EQ(counters[counter::kBytesOperands], traffic.operands);
  EXPECT_EQ(counters[counter::kBytesResults],
            traffic.results + (list.jobs.size() - 1) * list.snapshot_bytes);
  EXPECT_EQ(counters[counter::kBytesCommands], list.program.size() * kCommandBytes);
}

/// The layers as one program.
inline JobProgram jobs_of(const std::vector<ProgramPart>& parts, const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const ProgramPart& part : parts) jobs.push_back(part.job);
  return make_job_program(jobs, geometry);
}

/// Runs the layers as one program; every value in memory must be right, and every counter as
/// predicted where the memory allows it. Returns the cycles of each layer.
inline std::vector<std::uint64_t> expect_program(Rig& rig, const std::vector<ProgramPart>& parts,
                                                 const Geometry& geometry) {
  const JobProgram list = jobs_of(parts, geometry);
  const std::vector<Job>& jobs = list.jobs;
  std::vector<Packed> packed;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    packed.emplace_back(list.jobs[i], parts[i].operands);
  }
  const MatrixI8 none;  // a layer with a source takes none from the host
  std::vector<JobOperands> operands;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    operands.push_back({packed[i].weights, jobs[i].source ? none : parts[i].operands.a,
                        &packed[i].parameters,
                        parts[i].second.size() != 0 ? &parts[i].second : nullptr});
  }
  const std::vector<GemmResult> found = rig.driver.run(list, operands);
  std::vector<std::uint64_t> cycles;
  Counters sum{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    SCOPED_TRACE("layer " + std::to_string(i) + ": " + jobs[i].name);
    if (list.is_on_chip(i)) {
      EXPECT_EQ(found[i].sums.size(), 0);
    } else {
      EXPECT_EQ(compare(parts[i].expected, found[i].sums).count, 0u);
    }
    expect_causes_add_up(found[i].counters);
    cycles.push_back(found[i].counters[counter::kTotalClocks]);
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += found[i].counters[c];
  }
  EXPECT_EQ(sum, rig.driver.read_counters());
  if (rig.memory.predictable()) {
    const Counters predicted =
        predict_counters(list.program, list.geometry_on(rig.driver.geometry()), rig.memory);
    EXPECT_TRUE(sum == predicted) << difference(predicted, sum);
  }
  if (list.stripes.empty()) expect_traffic(sum, list);  // else some rows are read twice
  return cycles;
}

inline std::vector<std::uint64_t> expect_program(Rig& rig, const std::vector<ProgramPart>& parts) {
  return expect_program(rig, parts, rig.driver.geometry());
}

}  // namespace gemm64::system_test
