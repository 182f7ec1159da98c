// SPDX-License-Identifier: Apache-2.0
// Convolutions as jobs, from the network's operands to its results: every value, and the bytes over
// each port as the plan says.

#include "host/numerics/quality.hpp"
#include "tests/system/convolutions.hpp"

namespace gemm64::system_test {
namespace {

struct Setting {
  int n;
  double stalls;
  bool tight;
  unsigned channels;
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << (setting.tight ? "TightN" : "N") << setting.n << (setting.stalls > 0 ? "Stalling" : "");
}

class ConvolutionJobs : public testing::TestWithParam<Setting> {
 protected:
  static Rig rig() {
    RtlOptions options = Rig::options(GetParam().n, GetParam().stalls, 3);
    options.tight = GetParam().tight;
    return Rig(options);
  }
};

void expect_right(Rig& rig, const Job& job, const Operands& operands) {
  const Convolution& c = job.plan.window->convolution;
  const Output& output = job.plan.output;
  const Packed packed(job, operands);
  const GemmResult found =
      rig.driver.run(job, JobOperands{packed.weights, operands.a, &packed.parameters});
  EXPECT_EQ(compare(expected_convolution(c, output, operands), found.sums).count, 0u);
  if (rig.memory.predictable()) {
    const Counters predicted = predict_counters(job.program, rig.driver.geometry(), rig.memory);
    EXPECT_TRUE(found.counters == predicted) << difference(predicted, found.counters);
  }
  EXPECT_EQ(job.plan.shape.macs(), macs(c));
  expect_causes_add_up(found.counters);
  const Traffic traffic = predict_traffic(job.plan);
  EXPECT_EQ(found.counters[counter::kBytesWeights], traffic.weights);
  EXPECT_EQ(found.counters[counter::kBytesActivations], traffic.activations);
  EXPECT_EQ(found.counters[counter::kBytesResults], traffic.results);
  EXPECT_EQ(found.counters[counter::kBytesCommands], traffic.commands);
  EXPECT_EQ(found.counters[counter::kBytesParameters], traffic.parameters);
}

TEST_P(ConvolutionJobs, GiveTheirValues) {
  Rig rig = this->rig();
  unsigned done = 0, strips = 0;
  for_seeds(3000, 60, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 150));
    const Convolution c = random_convolution(random, GetParam().channels, 14, 1'500'000);
    const Output output = draw(random, 0, 2) == 0 ? Output{} : random_output(random);
    SCOPED_TRACE(to_string(c));
    const Operands operands = random_operands(random, c);
    Job job;
    try {
      job = gemm64::make_job("convolution", c, rig.driver.geometry(), output);
    } catch (const UsageError&) {
      ASSERT_TRUE(GetParam().tight);  // a scratchpad too small for one output pixel
      return;
    }
    ++done;
    strips += job.plan.window->in_strips() ? 1 : 0;
    expect_right(rig, job, operands);
  });
  EXPECT_GE(done, at_least(seeds_to_run(40)));
  EXPECT_EQ(strips >= seeds_to_run(6), GetParam().tight) << strips << " are cut into strips";
}

INSTANTIATE_TEST_SUITE_P(Settings, ConvolutionJobs,
                         testing::Values(Setting{2, 0, false, 9}, Setting{4, 0, false, 40},
                                         Setting{4, 0.3, false, 30}, Setting{8, 0, false, 60},
                                         Setting{8, 0.4, false, 40}, Setting{4, 0, true, 20},
                                         Setting{4, 0.3, true, 20}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gemm64::system_test
