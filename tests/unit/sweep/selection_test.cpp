// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/selection.hpp"

#include "host/sweep/front.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::ElementsAre;

SweepRow row(int point, int array, const char* memory, int cycles, double utilization) {
  return {{"point", point},
          {"network", "net"},
          {"batch", 1},
          {"array", array},
          {"memory", memory},
          {"cycles", cycles < 0 ? SweepRow() : SweepRow(cycles)},
          {"utilization", utilization},
          {"verified", nullptr}};
}

class Selection : public testing::Test {
 protected:
  std::vector<int> points(const RowSelection& selection) const {
    std::vector<int> found;
    for (const SweepRow& one : selected(rows_, selection)) found.push_back(one["point"]);
    return found;
  }
  const std::vector<SweepRow> rows_{row(0, 8, "shared", 900, 0.5), row(1, 16, "shared", 300, 0.2),
                                    row(2, 64, "exclusive", -1, 0.1),
                                    row(3, 64, "shared", 100, 0.4)};
};

TEST_F(Selection, OfNothingIsEveryRow) { EXPECT_THAT(points({}), ElementsAre(0, 1, 2, 3)); }

TEST_F(Selection, SortsTheBestFirst) {
  EXPECT_THAT(points({{}, "cycles"}), ElementsAre(3, 1, 0, 2)) << "no value comes last";
  EXPECT_THAT(points({{}, "utilization"}), ElementsAre(0, 3, 1, 2));
  EXPECT_THAT(points({{}, "cycles", true, 2}), ElementsAre(2, 0));
  EXPECT_THAT(points({{}, "", false, 1}), ElementsAre(0));
}

TEST_F(Selection, KeepsRowsThatMeetAllConditions) {
  EXPECT_THAT(points({{"array=64"}}), ElementsAre(2, 3));
  EXPECT_THAT(points({{"array!=64"}}), ElementsAre(0, 1));
  EXPECT_THAT(points({{"cycles<=300"}}), ElementsAre(1, 3));
  EXPECT_THAT(points({{"cycles>100", "cycles<900"}}), ElementsAre(1));
  EXPECT_THAT(points({{"utilization>=0.4"}}), ElementsAre(0, 3));
  EXPECT_THAT(points({{"memory=exclusive"}}), ElementsAre(2));
  EXPECT_THAT(points({{"memory!=exclusive", "array<10"}}), ElementsAre(0));
}

TEST_F(Selection, RefusesUnknownColumnsAndConditions) {
  const auto message = [&](const RowSelection& selection) -> std::string {
    try {
      selected(rows_, selection);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({{}, "area"}), Says("no column is called 'area'", "cycles"));
  EXPECT_THAT(message({{"size=3"}}), Says("no column is called 'size'"));
  EXPECT_THAT(message({{"array"}}), Says("'array' is no condition"));
  EXPECT_THAT(message({{"array="}}), Says("is no condition"));
  EXPECT_THAT(message({{"array=big"}}), Says("has numbers"));
}

TEST_F(Selection, OfTheFrontWeighsTheObjectives) {
  EXPECT_EQ(pareto_front(rows_, {"cycles", "array"}), (std::vector<bool>{true, true, false, true}));
  EXPECT_EQ(pareto_front(rows_, {"cycles", "utilization"}),
            (std::vector<bool>{true, false, false, true}));
  EXPECT_EQ(with_front(rows_, {"cycles"})[3]["pareto"], true);
  EXPECT_THROW(with_front(rows_, {"memory"}), UsageError);
  EXPECT_THROW(with_front(rows_, {"area"}), UsageError);
}

}  // namespace
}  // namespace gemm64
