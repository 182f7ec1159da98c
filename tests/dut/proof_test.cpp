// SPDX-License-Identifier: Apache-2.0
// Proofs of small arrays, and defects that show for few operands only.
#include "host/dut/proof.hpp"

#include "tests/dut/checked_array.hpp"
#include "tests/test.hpp"

namespace gemm64::dut {
namespace {

using testing::HasSubstr;

/// Edits that make a template of 4 x 4 one of 2 x 2.
std::vector<Edit> small(std::vector<Edit> edits) {
  for (const char* key : {"{ N = 4 }", "rows            = 4", "columns         = 4"}) {
    std::string to = key;
    edits.push_back({"array.toml", key, to.replace(to.find('4'), 1, "2")});
  }
  return edits;
}

ProofResult prove_file(const std::filesystem::path& file, ProofOptions options = {}) {
  options.build.cache = GEMM64_DUT_CACHE;
  return prove(read_description(file), options);
}

class Proven : public testing::TestWithParam<const char*> {};

TEST_P(Proven, TemplatesAre) {
  const EditedTemplate array(GetParam(), small({}));
  const ProofResult result = prove_file(array.file());
  EXPECT_TRUE(result.proven);
  EXPECT_EQ(result.operand_bits, 2U * (4 + 4) * 8);
  EXPECT_EQ(result.sums, 8U);
}

INSTANTIATE_TEST_SUITE_P(Dut, Proven,
                         testing::Values("weight-stationary", "output-stationary",
                                         "input-stationary"),
                         template_name);

class ProvenStyles : public testing::TestWithParam<const char*> {};

/// Packages, interfaces and arrays of SystemVerilog, which slang reads; partial sums; odd widths.
TEST_P(ProvenStyles, OtherArraysAre) {
  const ProofResult result = prove_file(std::filesystem::path(GEMM64_DUT_TEST_DATA) / GetParam());
  EXPECT_TRUE(result.proven);
}

INSTANTIATE_TEST_SUITE_P(Dut, ProvenStyles,
                         testing::Values("no_backpressure.toml", "output_burst.toml",
                                         "partial_sums.toml", "unpacked_rows.toml",
                                         "interfaces.json"),
                         [](const auto& one) {
                           const std::string name = one.param;
                           return name.substr(0, name.find('.'));
                         });

struct Rare {
  const char* name;
  const char* array;
  std::vector<Edit> edits;
  std::string problem;
  std::optional<bool> replayed;  // empty: as the solver chooses
};

std::ostream& operator<<(std::ostream& out, const Rare& rare) { return out << rare.name; }

const std::string kSum = "sum_i + activation_i * weight;";

/// Random operands do not meet these in a tile or two.
const std::vector<Rare> kRare{
    {"OneProduct",
     "weight-stationary",
     {{"pe.v", kSum, "activation_i == -113 && weight == 77 ? sum_i : " + kSum}},
     "wrong value",
     true},
    {"SaturatesAtTheLargestSum",
     "weight-stationary",
     {{"pe.v", kSum, "s == 32768 ? 32767 : s;"},
      {"pe.v", "    always @",
       "    wire signed [31:0] s = sum_i + activation_i * weight;\n    always @"}},
     "wrong value",
     true},
    {"KeepsAWeight",
     "weight-stationary",
     {{"pe.v", "switch_i ? next_q : weight_q;",
       "switch_i && !(weight_q == 17 && next_q == -5) ? next_q : weight_q;"},
      {"pe.v", "weight_q     <= weight;", "weight_q <= switch_i ? next_q : weight_q;"}},
     "wrong value",
     {}},
    {"LastDependsOnData",
     "weight-stationary",
     {{"wrapper.v", "= last_q[LATENCY-1];", "= last_q[LATENCY-1] && m_axis_results_tdata != 1;"}},
     "TLAST",
     true},
    {"OutputProduct",
     "output-stationary",
     {{"pe.v", "activation_i * weight_i;",
       "(weight_i == 99 && activation_i == 98 ? 0 : activation_i * weight_i);"}},
     "wrong value",
     true},
    // The simulation draws values before the reset; 40 bits of them are met by the solver only.
    {"StartsByChance",
     "weight-stationary",
     {{"wrapper.v", "    localparam",
       "    reg [39:0] odd_q;\n    always @(posedge aclk) odd_q <= odd_q;\n    localparam"},
      {"wrapper.v", "= valid_q[LATENCY-1];", "= valid_q[LATENCY-1] || odd_q == 40'h123456789a;"}},
     "a result came that no input leads to",
     false},
};

class Disproven : public testing::TestWithParam<Rare> {};

TEST_P(Disproven, ByRareOperands) {
  const Rare& rare = GetParam();
  const EditedTemplate array(rare.array, small(rare.edits));
  ProofOptions options;
  options.waveform = (array.folder() / "wave.fst").string();
  const ProofResult result = prove_file(array.file(), options);
  ASSERT_TRUE(result.counterexample);
  EXPECT_FALSE(result.proven);
  EXPECT_THAT(result.counterexample->problem, HasSubstr(rare.problem));
  if (rare.replayed) EXPECT_EQ(result.replayed, *rare.replayed);
  EXPECT_GT(std::filesystem::file_size(result.waveform), 100U);
  EXPECT_TRUE(std::filesystem::exists(array.folder() / "wave.gtkw"));
}

INSTANTIATE_TEST_SUITE_P(Dut, Disproven, testing::ValuesIn(kRare),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(DutProof, ProvesFourTimesFour) {
  const EditedTemplate array("weight-stationary", {});
  EXPECT_TRUE(prove_file(array.file()).proven);
}

TEST(DutProof, ProvesFixedPoint) {
  const EditedTemplate array(
      "weight-stationary",
      small({{"array.toml", "sum_bits", "product_shift = 4\nround_products = true\nsum_bits"},
             {"pe.v", kSum, "sum_i + ((p + 8) >>> 4);"},
             {"pe.v", "    always @",
              "    wire signed [31:0] p = activation_i * weight;\n    always @"}}));
  EXPECT_TRUE(prove_file(array.file()).proven);
}

TEST(DutProof, EndsAtItsTimeLimit) {
  // Twice the same product, by another multiplier: hard for any solver.
  const EditedTemplate array(
      "weight-stationary",
      small({{"pe.v", kSum, "sum_i + p;"},
             {"pe.v", "    always @",
              "    wire signed [31:0] a = activation_i, b = weight, m = a - b, n = a + b;\n"
              "    wire signed [31:0] q = n * n - m * m, p = q >>> 2;\n    always @"}}));
  ProofOptions options;
  options.seconds = 1;
  const ProofResult result = prove_file(array.file(), options);
  EXPECT_TRUE(result.timed_out());
  EXPECT_LT(result.shown, result.cycles);
  EXPECT_THAT(proof_text(read_description(array.file()), options, result),
              HasSubstr("the time limit of 1 s was reached; shown until cycle"));
}

TEST(DutProof, LargeArraysAreRefused) {
  const EditedTemplate array("weight-stationary",
                             {{"array.toml", "rows            = 4", "rows            = 99"}});
  EXPECT_THAT([&] { prove_file(array.file()); }, Fails<UsageError>("99×4", "2×2"));
}

TEST(DutProof, OtherCyclesAreRefused) {
  const EditedTemplate array(
      "weight-stationary",
      small({{"wrapper.v", "    localparam",
              "    reg late_q;\n    always @(negedge aclk) late_q <= aresetn;\n    localparam"},
             {"wrapper.v", "= valid_q[LATENCY-1];", "= valid_q[LATENCY-1] && late_q;"}}));
  EXPECT_THAT([&] { prove_file(array.file()); }, Fails<UsageError>("rising edge of aclk"));
}

}  // namespace
}  // namespace gemm64::dut
