// SPDX-License-Identifier: Apache-2.0
// Arrays that keep the contract, in several styles.
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
  VerilatedBench bench(description, build_model(description, options));
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
  EXPECT_EQ(failures(check_file(array.file(), Simulator::kIcarus)), "");
}

/// Bits of one vector, some continuous, some registers: Verilator refuses that by
/// default.
TEST(Wrappers, KeepRulesWithMixedAssignments) {
  const EditedTemplate array(
      "weight-stationary",
      {{"wrapper.v", "    localparam",
        "    logic [1:0] mixed;\n    assign mixed[0] = aresetn;\n"
        "    always_ff @(posedge aclk) mixed[1] <= mixed[0];\n    localparam"},
       {"wrapper.v", "= valid_q[LATENCY-1];", "= valid_q[LATENCY-1] && mixed[1];"}});
  EXPECT_EQ(failures(check_file(array.file())), "");
}

/// Products of fixed-point values, rounded; and one cell of them broken.
TEST(Wrappers, FixedPointKeepsRules) {
  const std::vector<Edit> edits{
      {"array.toml", "sum_bits", "product_shift = 4\nround_products = true\nsum_bits"},
      {"pe.v", "sum_i + activation_i * weight;", "sum_i + ((p + 8) >>> 4);"},
      {"pe.v", "    always @", "    wire signed [31:0] p = activation_i * weight;\n    always @"}};
  const EditedTemplate array("weight-stationary", edits);
  EXPECT_EQ(failures(check_file(array.file())), "");
  std::vector<Edit> broken = edits;
  broken.push_back({"array.v", "pe u_pe (", "pe #(.BAD(r == 1 && c == 2)) u_pe ("});
  broken.push_back({"pe.v", "module pe (", "module pe #(parameter BAD = 0) ("});
  broken.push_back({"pe.v", "= activation_i * weight;",
                    "= activation_i * (BAD ? $signed({1'b0, weight}) : weight);"});
  const EditedTemplate other("weight-stationary", broken);
  const std::string found = failures(check_file(other.file()));
  EXPECT_NE(found.find("cell row 1, column 2: its weight is taken as unsigned"), std::string::npos)
      << found;
}

/// An array that loses tiles of one and two beats: the length from which it works is found.
TEST(Wrappers, ShortestTileIsNamed) {
  const EditedTemplate array(
      "output-stationary",
      {{"wrapper.v", "if (accept) running_q <= !last;",
        "if (accept) running_q <= !last;\n            if (accept) beats_q <= last ? 0 : beats_q + "
        "1;"},
       {"wrapper.v", "reg [15:0] row_q; ", "reg [15:0] beats_q = 0;\n    reg [15:0] row_q; "},
       {"wrapper.v", "running_q <= 1'b0;", "running_q <= 1'b0;\n            beats_q <= 0;"},
       {"wrapper.v", "if (accept && last) begin", "if (accept && last && beats_q >= 2) begin"}});
  for (const RuleResult& rule : check_file(array.file()).rules) {
    if (rule.failure) EXPECT_EQ(rule.failure->holds_from, 3) << rule.rule;
    if (rule.rule == "lengths") EXPECT_TRUE(rule.failure);
  }
}

class Templates : public testing::TestWithParam<std::string> {};

TEST_P(Templates, KeepEveryRule) {
  const EditedTemplate array(GetParam(), {});
  EXPECT_EQ(failures(check_file(array.file())), "");
}

INSTANTIATE_TEST_SUITE_P(Dut, Templates,
                         testing::Values("weight-stationary", "output-stationary",
                                         "input-stationary"),
                         template_name);

}  // namespace
}  // namespace gemm64::dut
