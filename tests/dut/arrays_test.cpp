// SPDX-License-Identifier: Apache-2.0
// Arrays that keep the contract, in several styles.
#include "host/dut/icarus_bench.hpp"
#include "host/dut/network_products.hpp"
#include "host/dut/product_run.hpp"
#include "tests/dut/checked_array.hpp"

namespace gemm64::dut {
namespace {

class Arrays : public testing::TestWithParam<const char*> {};

std::filesystem::path file_of(const std::string& name) {
  const std::filesystem::path own = std::filesystem::path(GEMM64_DUT_ARRAYS) / (name + ".toml");
  if (std::filesystem::exists(own)) return own;
  const std::filesystem::path other =
      std::filesystem::path(GEMM64_DUT_TEST_DATA) / (name + ".toml");
  return std::filesystem::exists(other) ? other
                                        : std::filesystem::path(other).replace_extension(".json");
}

TEST_P(Arrays, KeepEveryRule) {
  const CheckResult result = check_file(file_of(GetParam()));
  EXPECT_EQ(failures(result), "");
  EXPECT_GT(result.tried(), 12U);
}

TEST_P(Arrays, RunProducts) {
  const Description description = read_description(file_of(GetParam()));
  BuildOptions options;
  options.cache = GEMM64_DUT_CACHE;
  VerilatedBench bench(description, build_model(description, options).program);
  for (const ProductShape& shape :
       {ProductShape{1, 1, 1}, ProductShape{5, 21, 18}, ProductShape{17, 8, 9}}) {
    const ProductRun run = run_product(
        bench, description, random_operands(shape.m, shape.k, description.activations, 1),
        random_operands(shape.n, shape.k, description.weights, 2), [](double) {});
    EXPECT_TRUE(run.verified()) << run.error << run.mismatches << " " << run.total_mismatches;
    std::uint64_t cycles = run.fill + run.beats[description.moving()] + run.drain;
    for (std::uint32_t i = 0; i < kIdles; ++i) cycles += run.between[i] + run.within[i];
    EXPECT_EQ(cycles, run.cycles) << "the parts add up to the whole";
  }
}

INSTANTIATE_TEST_SUITE_P(Dut, Arrays,
                         testing::Values("gemm64_array", "textbook", "unpacked_rows", "interfaces",
                                         "no_backpressure", "output_burst", "partial_sums"),
                         [](const auto& one) { return std::string(one.param); });

/// Inputs that the contract does not know: TKEEP is at ones, an identifier at 0.
TEST(Wrappers, KeepRulesWithTkeepAndTid) {
  const EditedTemplate array(
      "weight-stationary",
      {{"wrapper.v", "    input  wire            s_axis_weights_tlast,\n",
        "    input  wire            s_axis_weights_tlast,\n"
        "    input  wire [N-1:0]    s_axis_weights_tkeep,\n"
        "    input  wire [99:0]     s_axis_activations_tstrb,\n"
        "    input  wire [3:0]      s_axis_weights_tid,\n"},
       {"wrapper.v", "= s_axis_weights_tvalid && s_axis_weights_tready;",
        "= s_axis_weights_tvalid && s_axis_weights_tready && &s_axis_weights_tkeep\n"
        "        && &s_axis_activations_tstrb && s_axis_weights_tid == 0;"}});
  EXPECT_EQ(failures(check_file(array.file())), "");
  const Description description = read_description(array.file());
  const BuiltModel model = build_model(description, {false, GEMM64_DUT_CACHE});
  const RuleResult unknown = check_unknowns(description, model.ports);
  EXPECT_TRUE(unknown.passed()) << unknown.skipped;
}

class Templates : public testing::TestWithParam<std::string> {};

TEST_P(Templates, KeepEveryRule) {
  const EditedTemplate array(GetParam(), {});
  EXPECT_EQ(failures(check_file(array.file())), "");
}

INSTANTIATE_TEST_SUITE_P(Dut, Templates,
                         testing::Values("weight-stationary", "output-stationary",
                                         "input-stationary"),
                         [](const auto& info) {
                           std::string name = info.param;
                           name.erase(name.find('-'), 1);
                           return name;
                         });

}  // namespace
}  // namespace gemm64::dut
