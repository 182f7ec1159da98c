// SPDX-License-Identifier: Apache-2.0
#include "host/report/page/comparison.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::Pair;

Json layer(const char* name, std::uint64_t cycles, std::uint64_t weights) {
  return {{"name", name},
          {"cycles", cycles},
          {"bytes", {{"weights", weights}, {"results", 10}}},
          {"counters", {{"compute", {{"compute", 100}, {"wait_weights", cycles - 100}}}}}};
}

Json report(const Json& layers) {
  return {
      {"model", "net"},          {"device", "rtl"}, {"array", 8}, {"memory", {{"latency", 100}}},
      {"total", Json::object()}, {"layers", layers}};
}

TEST(Comparison, PairsLayersByNameAndOrder) {
  const Json a = report(
      {layer("x", 200, 1), layer("same", 200, 1), layer("same", 300, 1), layer("gone", 200, 1)});
  const Json b = report({layer("same", 200, 1), layer("new", 200, 1), layer("x", 200, 1),
                         layer("same", 200, 1), layer("same", 200, 1)});
  EXPECT_THAT(pair_layers(a, b), ElementsAre(Pair(0, 2), Pair(1, 0), Pair(2, 3), Pair(3, -1),
                                             Pair(-1, 1), Pair(-1, 4)));
}

TEST(Comparison, ReportsEveryDifference) {
  const Json a = report({layer("fc1", 1200, 4096), layer("fc2", 300, 100), layer("gone", 500, 1)});
  Json b = report({layer("fc1", 1500, 4000), layer("fc2", 300, 100), layer("new\x1b[2J", 700, 1)});
  b["memory"]["latency"] = 300;
  EXPECT_EQ(comparison_tables(a, b, 0),
            "memory/latency: 100 in A, 300 in B\n"
            "\n"
            "                cycles  cycles  cycles    cycles  bytes  bytes  bytes    bytes\n"
            "layer                A       B   B - A    change      A      B  B - A   change\n"
            "------------------------------------------------------------------------------\n"
            "fc1              1,200   1,500    +300  +25.00 %  4,106  4,010    -96  -2.34 %\n"
            "fc2                300     300       0    0.00 %    110    110      0   0.00 %\n"
            "------------------------------------------------------------------------------\n"
            "layers of both   1,500   1,800    +300  +20.00 %  4,216  4,120    -96  -2.28 %\n"
            "\n"
            "Only in A: gone (500 cycles).\n"
            "\n"
            "Only in B: new\\x1b[2J (700 cycles).\n"
            "\n"
            "counters that differ      A      B  B - A    change\n"
            "---------------------------------------------------\n"
            "compute.wait_weights  1,300  1,600   +300  +23.08 %\n");
}

TEST(Comparison, SummarizesOneReport) {
  Json one = report({layer("fc1", 1200, 4096), layer("fc2\x1b", 300, 100)});
  one["layers"][0].update({{"m", 2U}, {"k", 3U}, {"n", 4U}, {"macs", 24U}, {"mismatches", 0U}});
  one["layers"][1]["predicted_cycles"] = "many";
  one["layers"].push_back({{"name", "pool"}, {"on", "host"}});
  one["total"] = {{"cycles", 1500U}, {"mismatches", 0U}};
  EXPECT_EQ(report_summary(one, 0),
            "net on device 'rtl', 64 MACs per cycle at most\n"
            "\n"
            "layer    MxKxN  MACs  cycles  predicted      bytes  mismatches\n"
            "--------------------------------------------------------------\n"
            "fc1      2x3x4    24   1,200          -  4.010 KiB           0\n"
            "fc2\\x1b            0     300          -      110 B           -\n"
            "--------------------------------------------------------------\n"
            "total             24   1,500          -  4.117 KiB           0\n");
}

TEST(Comparison, SaysWhereAllCountersAreEqual) {
  const Json a = report(Json::array({layer("fc1", 1200, 4096)}));
  const std::string text = comparison_tables(a, a, 0);
  EXPECT_THAT(text, testing::AllOf(Says("All 2 counters are equal."), Lacks("in B")));
}

TEST(Comparison, LeavesOutLayersOnTheHost) {
  Json a = report(Json::array({layer("fc1", 1200, 4096)}));
  a["layers"].push_back({{"name", "conv"}, {"on", "host"}});
  EXPECT_THAT(comparison_tables(a, a, 0), Lacks("conv"));
}

TEST(Comparison, CountsOnlyWhatBothHave) {
  const Json a = report({layer("conv", 900, 1), layer("fc", 1200, 4096), layer("end", 100, 1)});
  Json b = report(Json::array({layer("fc", 1200, 4096)}));
  b["layers"].push_back({{"name", "conv"}, {"on", "host"}, {"macs", 7}});
  b["layers"].push_back({{"name", "end"}, {"cycles", nullptr}});  // only its program's
  const std::string text = comparison_tables(a, b, 0);
  EXPECT_THAT(text, testing::AllOf(
                        Says("layers of both   1,200   1,200       0  0.00 %",
                             "\nOnly in A: conv (900 cycles; on the host in B), end (100 cycles; "
                             "without cycles of its own in B).\n"),
                        Lacks("Only in B")));
  const Json both = compare(a, b);
  EXPECT_EQ(both["both"]["clocks"], Json({1200, 1200}));
  EXPECT_EQ(both["layers"].size(), 1U);
  EXPECT_EQ(both["layers"][0]["places"], Json({1, 0}));
}

TEST(Comparison, SaysWhereNothingIsInBoth) {
  const std::string text = comparison_tables(report(Json::array({layer("x", 200, 1)})),
                                             report(Json::array({layer("y", 300, 1)})), 0);
  EXPECT_THAT(text, Says("No layer has cycles in both.\n", "Only in A: x (200 cycles).\n"));
}

TEST(Comparison, UsesTheMacsOfLayersThatBothHave) {
  Json a = report({layer("fc", 1000, 1), layer("conv", 10, 1)});
  a["layers"][0]["macs"] = 32000U;
  a["layers"][1]["macs"] = 64000U;
  Json b = report(Json::array({a["layers"][0]}));
  EXPECT_EQ(compare(a, b)["both"]["utilization"], Json({0.5, 0.5}));  // of 64 MACs per cycle
}

TEST(Comparison, OfAnalysesReadsWhatTheArrayCosts) {
  Json a = report({{{"name", "conv"}, {"array", {{"clocks", 500}, {"bytes", {{"weights", 7}}}}}},
                   {{"name", "relu"}}});
  a["array"] = {{"n", 64}};
  Json b = a;
  b["layers"][0]["array"]["clocks"] = 400;
  EXPECT_THAT(comparison_tables(a, b, 0), Says("conv               500     400    -100  -20.00 %"));
}

}  // namespace
}  // namespace gemm64
