// SPDX-License-Identifier: Apache-2.0
// Convolutions as jobs and as programs on the reference device: whatever way they are cut, their
// values are those of plain loops. The RTL meets the same ones in tests/system.

#include "host/device/reference_device.hpp"
#include "tests/system/convolution_programs.hpp"

namespace gemm64 {
namespace {

using system_test::Operands;
using system_test::Packed;

Geometry small(bool tight) {
  Geometry geometry;
  geometry.n = 4;
  if (tight) {  // one output row may not fit, so that convolutions are cut into strips
    geometry.scratchpad_words = 79;
    geometry.accumulator_rows = 16;
  }
  return geometry;
}

class ConvolutionValues : public testing::TestWithParam<bool> {
 protected:
  /// Runs them as one program.
  void expect_values(const std::vector<system_test::ProgramPart>& parts) {
    std::vector<Job> jobs;
    for (const system_test::ProgramPart& part : parts) jobs.push_back(part.job);
    const JobProgram list = make_job_program(jobs, geometry_);
    EXPECT_NO_THROW(predict_counters(list.program, geometry_, {})) << "it never ends";
    std::vector<Packed> packed;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      packed.emplace_back(list.jobs[i], parts[i].operands);
    const MatrixI8 none;
    std::vector<JobOperands> operands;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      operands.push_back(
          {packed[i].weights, jobs[i].source ? none : parts[i].operands.a, &packed[i].parameters});
    }
    const std::vector<GemmResult> found = driver_.run(list, operands);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      ASSERT_EQ(compare(parts[i].expected, found[i].sums).count, 0u)
          << "layer " << i << ": " << jobs[i].name;
    }
  }

  const Geometry geometry_ = small(GetParam());
  ReferenceDevice device_{geometry_, std::uint64_t{16} << 20};
  Driver driver_{device_};
};

TEST_P(ConvolutionValues, AreThoseOfPlainLoops) {
  unsigned strips = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Convolution c = system_test::random_convolution(random, seed % 2 == 0 ? 12 : 40, 20, 100'000);
    if (seed % 4 == 1) c.out_width += 7;  // far more padding on the right than a tap needs
    const Output output = seed % 3 == 0 ? Output{} : system_test::random_output(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << to_string(c));
    const Operands operands = system_test::random_operands(random, c);
    Job job;
    try {
      job = make_job("convolution", c, geometry_, output);
    } catch (const UsageError&) {
      ASSERT_TRUE(GetParam());  // a scratchpad too small for one output pixel
      continue;
    }
    strips += job.plan.window->in_strips() ? 1 : 0;
    const Packed packed(job, operands);
    const GemmResult found =
        driver_.run(job, JobOperands{packed.weights, operands.a, &packed.parameters});
    const MatrixI32 expected = system_test::expected_convolution(c, output, operands);
    ASSERT_EQ(compare(expected, found.sums).count, 0u);
  }
  EXPECT_EQ(strips > 60, GetParam()) << strips << " are cut into strips";
}

/// Runs a convolution on the lanes if they take it, and counts whether they do, and in strips.
void expect_on_lanes(std::mt19937& random, Driver& driver, const Geometry& geometry,
                     const Convolution& c, const Output& output, unsigned& on_lanes,
                     unsigned& strips) {
  const std::optional<Job> job = make_lanes_job("depthwise", c, geometry, output);
  if (!job) return;
  ++on_lanes;
  if (job->plan.lanes->in_strips()) ++strips;
  const Operands operands = system_test::random_operands(random, c);
  const Packed packed(*job, operands);
  const GemmResult found =
      driver.run(*job, JobOperands{packed.weights, operands.a, &packed.parameters});
  const MatrixI32 expected = system_test::expected_convolution(c, output, operands);
  ASSERT_EQ(compare(expected, found.sums).count, 0u);
}

TEST_P(ConvolutionValues, MatchOnTheDepthwiseUnit) {
  unsigned on_lanes = 0, strips = 0;
  for (unsigned seed = 400; seed < 700; ++seed) {
    std::mt19937 random(seed);
    Convolution c = system_test::random_convolution(random, 12, 20, 100'000);
    c.groups = c.out_channels = c.channels;
    c.dilation_height = c.dilation_width = 1;
    if (seed % 3 == 0) {
      c.dilation_height = draw(random, 1, 8);
      c.dilation_width = draw(random, 1, 8);
      c.pad_top = draw(random, 0, (c.kernel_height - 1) * c.dilation_height);
      c.pad_left = draw(random, 0, (c.kernel_width - 1) * c.dilation_width);
    }
    if (!system_test::draw_output(random, c)) continue;
    const Output output = seed % 5 == 0 ? Output{} : system_test::random_output(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << to_string(c));
    expect_on_lanes(random, driver_, geometry_, c, output, on_lanes, strips);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(on_lanes, 100u);
  EXPECT_EQ(strips, 0u);
}

TEST_P(ConvolutionValues, MatchInDepthwiseStrips) {
  unsigned on_lanes = 0, strips = 0;
  for (unsigned seed = 700; seed < 860; ++seed) {
    std::mt19937 random(seed);
    const Convolution c = system_test::random_wide_convolution(random, 12, 100'000);
    const Output output = seed % 5 == 0 ? Output{} : system_test::random_output(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << to_string(c));
    expect_on_lanes(random, driver_, geometry_, c, output, on_lanes, strips);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(on_lanes, 60u);
  EXPECT_EQ(strips, on_lanes);
}

TEST_P(ConvolutionValues, MatchInFusedLayers) {
  for (unsigned seed = 100; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    system_test::ProgramParts program(random, geometry_);
    std::vector<Convolution> layers;
    Output output = {ResultFormat(ResultCode::kInt8), 3, -100, 120};
    for (unsigned tries = 0; layers.size() < 5 && tries < 20; ++tries) {
      std::optional<std::size_t> source;
      if (!layers.empty() && random() % 5 != 0)
        source = layers.size() - 1 - random() % std::min<std::size_t>(2, layers.size());
      const Convolution c =
          source ? system_test::convolution_behind(random, layers[*source], 12, 10, 50'000)
                 : system_test::random_convolution(random, 12, 10, 50'000);
      try {
        program.add(c, output, source);
        layers.push_back(c);
      } catch (const UsageError&) {
        ASSERT_TRUE(GetParam());
      }
    }
    expect_values(program.parts);
    if (HasFatalFailure()) return;
  }
}

/// Each pixel of a map as often as `repeats` says, vertically and horizontally.
MatrixI8 enlarged(const MatrixI8& map, const Convolution& reader,
                  std::pair<std::uint32_t, std::uint32_t> repeats) {
  MatrixI8 large(static_cast<Eigen::Index>(reader.pixels()), map.cols());
  const std::uint32_t width = reader.width / repeats.second;
  Eigen::Index row = 0;
  for (std::uint32_t image = 0; image < reader.images; ++image) {
    for (std::uint32_t y = 0; y < reader.height; ++y) {
      for (std::uint32_t x = 0; x < reader.width; ++x) {
        const std::uint32_t rows = image * (reader.height / repeats.first) + y / repeats.first;
        large.row(row++) = map.row(rows * width + x / repeats.second);
      }
    }
  }
  return large;
}

TEST_P(ConvolutionValues, OfEnlargedMapsAreToo) {
  unsigned on_lanes = 0;
  for_seeds(900, 150, [&](std::mt19937& random) {
    const std::pair<std::uint32_t, std::uint32_t> repeats{draw(random, 1, 4), draw(random, 1, 4)};
    Convolution first = system_test::random_convolution(random, 6, 8, 20'000);
    Convolution c;
    c.images = first.images;
    c.channels = c.out_channels = c.groups = first.out_channels;
    c.height = first.out_height * repeats.first;
    c.width = first.out_width * repeats.second;
    c.kernel_height = c.kernel_width = 3;
    c.stride_height = draw(random, 1, 2);
    c.stride_width = draw(random, 1, 2);
    c.pad_top = draw(random, 0, 2);
    c.pad_left = draw(random, 0, 2);
    if (!system_test::draw_output(random, c)) return;
    const Output output{ResultFormat(ResultCode::kInt8), 3, -100, 120};
    system_test::ProgramParts program(random, geometry_);
    try {
      program.add(first, output, {}, false);
    } catch (const UsageError&) {
      return;  // does not fit
    }
    std::optional<Job> job =
        make_lanes_job("enlarged", c, geometry_, output, LaneSum::kProducts, repeats);
    if (!job) return;
    ++on_lanes;
    SCOPED_TRACE(testing::Message() << to_string(c) << ", each pixel " << repeats.first << "x"
                                    << repeats.second << " times");
    job->source = 0;
    Operands operands = system_test::random_operands(random, c);
    operands.a = enlarged(program.parts[0].expected.cast<std::int8_t>(), c, repeats);
    MatrixI32 expected = system_test::expected_convolution(c, output, operands);
    program.parts.push_back({std::move(*job), std::move(operands), std::move(expected)});
    expect_values(program.parts);
  });
  EXPECT_GT(on_lanes, at_least(50));
}

// Maps that stay in the tensor memory, whole or in stripes: what leaves the chip is right.
TEST(TensorMemoryValues, AreThoseOfPlainLoops) {
  unsigned on_chip = 0, stripes = 0;
  for_seeds(1100, 200, [&](std::mt19937& random) {
    Geometry device_geometry;
    device_geometry.n = 4;
    ReferenceDevice device(device_geometry, std::uint64_t{16} << 20);
    Driver driver(device);
    Geometry geometry = device_geometry.with_tensor_memory();
    const unsigned channels = draw(random, 1, 12);
    system_test::ProgramParts program(random, geometry);
    Convolution c;
    do {
      c = system_test::random_convolution(random, channels, 12, 100'000);
    } while (c.images != 1 || c.out_height < 6);
    for (unsigned left = draw(random, 2, 5); left != 0; --left) {
      const Output output{ResultFormat(ResultCode::kInt8), 3, -100, 120};
      const std::size_t before = program.parts.size();
      program.add(c, output, before == 0 ? std::nullopt : std::optional(before - 1));
      program.parts.back().job.internal = left != 1;
      c = system_test::convolution_behind(random, c, channels, 12, 100'000);
    }
    geometry.tensor_words = draw(random, 20, 160);
    const JobProgram list = system_test::jobs_of(program.parts, geometry);
    stripes += static_cast<unsigned>(list.stripes.size());
    std::vector<Packed> packed;
    for (std::size_t i = 0; i < list.jobs.size(); ++i)
      packed.emplace_back(list.jobs[i], program.parts[i].operands);
    const MatrixI8 none;
    std::vector<JobOperands> operands;
    for (std::size_t i = 0; i < list.jobs.size(); ++i) {
      operands.push_back({packed[i].weights,
                          list.jobs[i].source ? none : program.parts[i].operands.a,
                          &packed[i].parameters});
    }
    const std::vector<GemmResult> found = driver.run(list, operands);
    for (std::size_t i = 0; i < list.jobs.size(); ++i) {
      on_chip += list.is_on_chip(i) ? 1 : 0;
      if (list.is_on_chip(i)) continue;
      ASSERT_EQ(compare(program.parts[i].expected, found[i].sums).count, 0u) << "layer " << i;
    }
  });
  EXPECT_GT(on_chip, at_least(50));
  EXPECT_GT(stripes, at_least(20));
}

INSTANTIATE_TEST_SUITE_P(Geometries, ConvolutionValues, testing::Bool(),
                         [](const auto& info) { return info.param ? "Tight" : "Usual"; });

}  // namespace
}  // namespace gemm64
