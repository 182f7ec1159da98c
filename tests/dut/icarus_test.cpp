// SPDX-License-Identifier: Apache-2.0
// The same bench in Icarus Verilog, which knows unknown values.

#include "host/dut/network_products.hpp"
#include "host/dut/product_run.hpp"
#include "tests/dut/checked_array.hpp"
#include "tests/test.hpp"

namespace gemm64::dut {
namespace {

using testing::HasSubstr;

ProductRun product_in(const std::filesystem::path& file, Simulator simulator) {
  const Description description = read_description(file);
  BuildOptions options;
  options.cache = GEMM64_DUT_CACHE;
  options.simulator = simulator;
  VerilatedBench bench(description, build_model(description, options));
  return run_product(bench, description, random_operands(7, 9, description.activations, 1),
                     random_operands(6, 9, description.weights, 2), [](double) {});
}

class IcarusTemplates : public testing::TestWithParam<const char*> {};

TEST_P(IcarusTemplates, KeepRulesInTheSameCycles) {
  const EditedTemplate array(GetParam(), {}, 2);
  EXPECT_EQ(failures(check_file(array.file(), Simulator::kIcarus)), "");
  const ProductRun icarus = product_in(array.file(), Simulator::kIcarus);
  const ProductRun verilated = product_in(array.file(), Simulator::kVerilator);
  EXPECT_TRUE(icarus.verified()) << icarus.error;
  EXPECT_EQ(icarus.cycles, verilated.cycles);
  EXPECT_EQ(icarus.fill, verilated.fill);
  EXPECT_EQ(icarus.drain, verilated.drain);
}

INSTANTIATE_TEST_SUITE_P(Dut, IcarusTemplates,
                         testing::Values("weight-stationary", "output-stationary",
                                         "input-stationary"),
                         template_name);

struct Unknown {
  const char* name;
  std::vector<Edit> edits;
  const char* found;
};

std::ostream& operator<<(std::ostream& out, const Unknown& one) { return out << one.name; }

class IcarusUnknowns : public testing::TestWithParam<Unknown> {};

/// Verilator starts such registers with 0 or 1, by which the defect may not show.
TEST_P(IcarusUnknowns, AreFound) {
  const EditedTemplate array("weight-stationary", GetParam().edits, 2);
  EXPECT_THAT(failures(check_file(array.file(), Simulator::kIcarus)), HasSubstr(GetParam().found));
}

INSTANTIATE_TEST_SUITE_P(
    Dut, IcarusUnknowns,
    testing::Values(Unknown{"Handshake",
                            {{"wrapper.v", "            valid_q   <= 0;\n", ""}},
                            "x-after-reset: m_axis_results_tvalid is X or Z in cycle"},
                    Unknown{"Result",
                            {{"wrapper.v", "    localparam", "    reg odd_q;\n    localparam"},
                             {"pe.v", "sum_i + activation_i * weight;",
                              "sum_i + activation_i * weight + odd_q;"},
                             {"pe.v", "    always @", "    reg odd_q;\n    always @"}},
                            "x-after-reset: unknown value"},
                    Unknown{
                        "ReadsIdleData",
                        {{"wrapper.v",
                          "wire weights_move     = s_axis_weights_tvalid && s_axis_weights_tready;",
                          "wire weights_move     = s_axis_weights_tready;"}},
                        "x-after-reset: "}),
    [](const auto& one) { return std::string(one.param.name); });

/// What Icarus does not read, slang does.
TEST(DutIcarus, SystemVerilogIsElaborated) {
  EXPECT_EQ(failures(check_file(std::filesystem::path(GEMM64_DUT_TEST_DATA) / "unpacked_rows.toml",
                                Simulator::kIcarus)),
            "");
}

TEST(DutIcarus, WrongWidthIsNamed) {
  const EditedTemplate array("weight-stationary",
                             {{"array.toml", "sum_bits        = 32", "sum_bits        = 24"}});
  EXPECT_THAT([&] { check_file(array.file(), Simulator::kIcarus); },
              Fails<UsageError>("m_axis_results_tdata has 128 bits", "[95:0]"));
}

}  // namespace
}  // namespace gemm64::dut
