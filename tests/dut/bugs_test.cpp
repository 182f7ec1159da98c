// SPDX-License-Identifier: Apache-2.0
// Defects that users' arrays have: each is found, with the cell or the rule named.

#include "host/dut/proof.hpp"
#include "tests/dut/checked_array.hpp"
#include "tests/test.hpp"

namespace gemm64::dut {
namespace {

using testing::HasSubstr;

struct Bug {
  const char* name;
  const char* array;
  std::vector<Edit> edits;
  std::vector<std::string> found;  // in the list of failures
  // In the counterexample; empty: only stalls or sums longer than those of the proof show it.
  std::string disproven = "";
};

std::ostream& operator<<(std::ostream& out, const Bug& bug) { return out << bug.name; }

/// One cell of the array is built with BAD = 1.
std::vector<Edit> in_cell(int row, int column, std::vector<Edit> edits) {
  edits.push_back({"array.v", "pe u_pe (",
                   "pe #(.BAD(r == " + std::to_string(row) + " && c == " + std::to_string(column) +
                       ")) u_pe ("});
  edits.push_back({"pe.v", "module pe (", "module pe #(parameter BAD = 0) ("});
  return edits;
}

const std::string kSum = "sum_i + activation_i * weight;";
const std::string kOutputSum = "(first_i ? 32'sd0 : sum_q) + activation_i * weight_i;";

/// Cells whose sum `s` becomes `narrow`.
std::vector<Edit> with_sum(const std::string& narrow) {
  return {{"pe.v", kSum, narrow + ";"},
          {"pe.v", "    always @",
           "    wire signed [31:0] s = sum_i + activation_i * weight;\n    always @"}};
}

const std::vector<Bug> kBugs{
    {"WrongSign",
     "weight-stationary",
     in_cell(1, 2,
             {{"pe.v", kSum, "sum_i + activation_i * (BAD ? $signed({1'b0, weight}) : weight);"}}),
     {"cells: wrong value; cell row 1, column 2: its weight is taken as unsigned"},
     "cell row 1, column 2: its weight is taken as unsigned"},
    {"WrongSignOfProduct",
     "weight-stationary",
     in_cell(3, 0, {{"pe.v", kSum, "BAD ? sum_i - activation_i * weight : " + kSum}}),
     {"cell row 3, column 0: its product has the wrong sign"},
     "cell row 3, column 0: its product has the wrong sign"},
    {"SkewOffByOne",
     "weight-stationary",
     {{"array.v", ".CYCLES(r)", ".CYCLES(r == 2 ? 3 : r)"}},
     {"row 2: its activations enter one cycle late (skew)"},
     "row 2: its activations enter one cycle late (skew)"},
    {"ColumnLeavesLate",
     "weight-stationary",
     {{"array.v", ".CYCLES(N - 1 - c)", ".CYCLES(c == 1 ? N - 1 : N - 1 - c)"}},
     {"column 1: sums leave one row late"},
     "column 1: sums leave one row late"},
    {"SumTooNarrow",
     "weight-stationary",
     with_sum("{{16{s[15]}}, s[15:0]}"),
     {"extremes: wrong value; sums wrap at 16 bits"},
     "sums wrap at 16 bits"},
    {"SaturatingAdder",
     "weight-stationary",
     with_sum("s > 32767 ? 32767 : s < -32768 ? -32768 : s"),
     {"extremes: wrong value; sums saturate at 16 bits"},
     "sums saturate at 16 bits"},
    {"DroppedLastRow",
     "weight-stationary",
     {{"wrapper.v", "{valid_q[LATENCY-2:0], activations_move}",
       "{valid_q[LATENCY-2:0], activations_move && !(s_axis_activations_tlast && running_q)}"}},
     {"values: no answer", "rows of results came"},
     "rows of results came"},
    {"StaleWeight",
     "weight-stationary",
     in_cell(2, 1,
             {{"pe.v", "switch_i ? next_q : weight_q;", "switch_i && !BAD ? next_q : weight_q;"},
              {"pe.v", "weight_q     <= weight;", "weight_q     <= switch_i ? next_q : weight;"}}),
     {"cell row 2, column 1: for some rows it still holds the weight of the tile before"},
     "cell row 2, column 1: "},
    {"SwappedColumns",
     "weight-stationary",
     {{"array.v", ".data_o (sum_o[32*c +: 32])",
       ".data_o (sum_o[32*(c == 1 ? 2 : c == 2 ? 1 : c) +: 32])"}},
     {"columns 1 and 2 are swapped"},
     "columns 1 and 2 are swapped"},
    {"MissingReset",
     "weight-stationary",
     {{"wrapper.v", "            valid_q   <= 0;\n", ""},
      {"wrapper.v", "running_q <= 1'b0;\n", "\n"}},
     {"reset: "},
     "; "},
    {"StallLosesAResult",
     "weight-stationary",
     {{"wrapper.v", "wire move = !m_axis_results_tvalid || m_axis_results_tready;",
       "wire move = 1'b1;"}},
     {"stability: m_axis_results_t"}},
    {"StallLosesAWeight",
     "weight-stationary",
     {{"wrapper.v", "wire weights_move     = s_axis_weights_tvalid && s_axis_weights_tready;",
       "wire weights_move     = s_axis_weights_tvalid;"}},
     {"tiles: "},
     "; "},
    {"LoadsWhileStalled",
     "weight-stationary",
     {{"wrapper.v", "= move && !full_q", "= !full_q"}},
     {"stalls-results: wrong value"}},
    {"LastOneEarly",
     "weight-stationary",
     {{"wrapper.v", "= last_q[LATENCY-1];", "= last_q[LATENCY-2];"}},
     {"tlast: TLAST is", "TLAST comes 1 row early"},
     "TLAST comes 1 row early"},
    {"ValidWaitsForReady",
     "weight-stationary",
     {{"wrapper.v", "= valid_q[LATENCY-1];", "= valid_q[LATENCY-1] && m_axis_results_tready;"}},
     {"valid-first: no answer"}},
    {"TransposedWeights",
     "weight-stationary",
     {{"array.v", ".load_i (load_i[r]), .weight_i (weight_i[8*c +: 8])",
       ".load_i (load_i[c]), .weight_i (weight_i[8*r +: 8])"}},
     {"weights are transposed"},
     "weights are transposed"},
    {"OutputWrongSign",
     "output-stationary",
     in_cell(1, 3,
             {{"pe.v", kOutputSum,
               "(first_i ? 32'sd0 : sum_q) + activation_i * (BAD ? $signed({1'b0, weight_i}) : "
               "weight_i);"}}),
     {"cell row 1, column 3: its weights are taken as unsigned"},
     "cell row 1, column 3: its weights are taken as unsigned"},
    {"OutputSumTooNarrow",
     "output-stationary",
     {{"pe.v", "if (last_i) result_o <= sum;",
       "if (last_i) result_o <= {{8{sum[23]}}, sum[23:0]};"}},
     {"extremes: wrong value; sums wrap at 24 bits"}},
    {"OutputLastOneEarly",
     "output-stationary",
     {{"wrapper.v", "m_axis_results_tlast      = row_q == N - 1;",
       "m_axis_results_tlast      = row_q == N - 2;"}},
     {"no answer"},
     "; "},
    {"OutputMissingReset",
     "output-stationary",
     {{"wrapper.v", "busy_q    <= 1'b0;\n", "\n"}},
     {"reset: "},
     "; "},
    {"OutputKeepsOldSum",
     "output-stationary",
     {{"wrapper.v", ".first_i      (accept && !running_q)", ".first_i      (1'b0)"}},
     {"wrong value"},
     "wrong value"},
};

class Bugs : public testing::TestWithParam<Bug> {};

TEST_P(Bugs, AreFoundAndNamed) {
  const Bug& bug = GetParam();
  const EditedTemplate array(bug.array, bug.edits);
  const std::string found = failures(check_file(array.file()));
  for (const std::string& part : bug.found) EXPECT_THAT(found, HasSubstr(part));
}

/// The proof's streams do not stall, and its sums have as many products as the array has rows.
TEST_P(Bugs, AreDisproven) {
  const Bug& bug = GetParam();
  const EditedTemplate array(bug.array, bug.edits);
  ProofOptions options;
  options.build.cache = GEMM64_DUT_CACHE;
  const ProofResult result = prove(read_description(array.file()), options);
  ASSERT_FALSE(result.timed_out());
  EXPECT_EQ(result.proven, bug.disproven.empty());
  if (!result.counterexample) return;
  EXPECT_THAT(result.counterexample->problem + "; " + result.counterexample->diagnosis,
              HasSubstr(bug.disproven));
}

INSTANTIATE_TEST_SUITE_P(Dut, Bugs, testing::ValuesIn(kBugs),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace gemm64::dut
