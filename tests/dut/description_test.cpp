// SPDX-License-Identifier: Apache-2.0
// Descriptions and wrappers that cannot be used: one message each.
#include "tests/dut/checked_array.hpp"
#include "tests/test.hpp"

namespace gemm64::dut {
namespace {

struct Wrong {
  const char* name;
  std::vector<Edit> edits;
  std::vector<std::string> says;
};

std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.name; }

const std::vector<Wrong> kWrong{
    {"UnknownKey",
     {{"array.toml", "double_buffered", "double_bufered"}},
     {"array.toml", "unknown key \"double_bufered\"", "did you mean \"double_buffered\"?"}},
    {"Syntax", {{"array.toml", "= \"wrapper\"", "= wrapper"}}, {"array.toml:2:"}},
    {"Dataflow",
     {{"array.toml", "weight-stationary", "row-stationary"}},
     {"dataflow", "row-stationary", "output-stationary"}},
    {"RowsZero",
     {{"array.toml", "rows            = 4", "rows            = 0"}},
     {"rows is 0", "1 to 1024"}},
    {"SourceMissing",
     {{"array.toml", "\"pe.v\"", "\"pee.v\""}},
     {"sources", "pee.v", "does not exist"}},
    {"SumsTooNarrow",
     {{"array.toml", "sum_bits        = 32", "sum_bits        = 8"}},
     {"sum_bits is 8"}},
    {"SyntaxOfVerilog",
     {{"wrapper.v", "assign m_axis_results_tvalid", "asign m_axis_results_tvalid"}},
     {"does not compile", "wrapper.v:43"}},
    {"ModuleMissing",
     {{"array.toml", "\"pe.v\", ", ""}, {"array.v", "pe u_pe", "peee u_pe"}},
     {"does not compile", "array.v:", "peee"}},
    {"TopMissing",
     {{"array.toml", "= \"wrapper\"", "= \"wraper\""}},
     {"does not compile", "wraper"}},
    {"PortMissing",
     {{"wrapper.v", "    input  wire            s_axis_weights_tlast,\n", ""},
      {"wrapper.v", "    localparam", "    wire s_axis_weights_tlast = 1'b0;\n    localparam"}},
     {"s_axis_weights_tlast is missing", "input s_axis_weights_tlast"}},
    {"PortOfWrongWidth",
     {{"wrapper.v", "output wire [32*N-1:0] m_axis_results_tdata",
       "output wire [16*N-1:0] m_axis_results_tdata"}},
     {"m_axis_results_tdata has 64 bits", "output [127:0] m_axis_results_tdata"}},
    {"PortRenamed",
     {{"wrapper.v", "input  wire            aresetn", "input  wire            areset_n"},
      {"wrapper.v", "if (!aresetn)", "if (!areset_n)"}},
     {"aresetn is missing", "input aresetn", "areset_n"}},
};

class DutDescription : public testing::TestWithParam<Wrong> {};

TEST_P(DutDescription, IsRefusedWithOneMessage) {
  const Wrong& wrong = GetParam();
  const EditedTemplate array("weight-stationary", wrong.edits);
  try {
    BuildOptions options;
    options.cache = GEMM64_DUT_CACHE;
    build_model(read_description(array.file()), options);
    ADD_FAILURE() << "was accepted";
  } catch (const UsageError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& part : wrong.says)
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(Dut, DutDescription, testing::ValuesIn(kWrong),
                         [](const auto& info) { return info.param.name; });

/// What stops a design while it runs.
TEST(DutEnd, CombinationalLoopIsNamed) {
  const EditedTemplate array(
      "weight-stationary",
      {{"wrapper.v", "wire move = ", "wire loop = !loop || !aresetn;\n    wire move = loop && "}});
  EXPECT_NE(failures(check_file(array.file())).find("combinational loop: "), std::string::npos);
}

TEST(DutEnd, DesignThatNeverAnswersShowsItsStreams) {
  const EditedTemplate array("weight-stationary",
                             {{"wrapper.v", "= move && !full_q", "= aresetn && 1'b0 && !full_q"}});
  const std::string text = failures(check_file(array.file()));
  EXPECT_NE(text.find("no answer: nothing moved for"), std::string::npos) << text;
  EXPECT_NE(text.find("s_axis_weights: 0 beats moved"), std::string::npos) << text;
  EXPECT_NE(text.find("TVALID 1, TREADY 0"), std::string::npos) << text;
}

TEST(DutEnd, FinishIsReported) {
  const EditedTemplate array("weight-stationary",
                             {{"wrapper.v", "            if (weights_move) begin\n",
                               "            if (weights_move) begin\n                $finish;\n"}});
  EXPECT_NE(failures(check_file(array.file())).find("called $finish in cycle"), std::string::npos);
}

}  // namespace
}  // namespace gemm64::dut
