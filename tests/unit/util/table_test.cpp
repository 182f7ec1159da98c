// SPDX-License-Identifier: Apache-2.0
#include "host/util/table.hpp"

#include "host/util/text.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

TEST(Grouped, SetsACommaBeforeEveryThirdDigit) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567890), "1,234,567,890");
}

TEST(Bytes, ChoosesTheUnit) {
  EXPECT_EQ(bytes(320), "320 B");
  EXPECT_EQ(bytes(1536), "1.500 KiB");
  EXPECT_EQ(bytes(37748736), "36.000 MiB");
}

TEST(Table, LinesColumnsUp) {
  Table table;
  table.add_column("name", Align::kLeft);
  table.add_column("on\nthe device");
  table.add_row({"a", "1"});
  table.add_rule();
  table.add_row({"longer", "22,000"});
  EXPECT_EQ(lines(table.render()), (std::vector<std::string>{
                                       "                on",
                                       "name    the device",
                                       "------------------",
                                       "a                1",
                                       "------------------",
                                       "longer      22,000",
                                   }));
}

TEST(Table, CountsCharactersNotBytes) {
  Table table;
  table.add_column("shape", Align::kLeft);
  table.add_column("n");
  table.add_row({"64×64", "1"});
  table.add_row({"abcde", "2"});
  EXPECT_EQ(lines(table.render())[2], "64×64  1");
  EXPECT_EQ(lines(table.render())[3], "abcde  2");
}

TEST(Table, ContinuesBelowWhereTheWidthEnds) {
  Table table;
  table.add_column("layer", Align::kLeft);
  table.add_column("cycles");
  table.add_column("bytes");
  table.add_row({"one", "10", "20"});
  for (const std::string& line : lines(table.render(14))) EXPECT_LE(line.size(), 14U) << line;
  EXPECT_EQ(lines(table.render(14)),
            (std::vector<std::string>{"layer  cycles", "-------------", "one        10", "",
                                      "layer  bytes", "------------", "one       20"}));
  EXPECT_EQ(lines(table.render(20)).size(), 3U);
}

TEST(Table, RefusesARowOfAnotherLength) {
  Table table;
  table.add_column("one");
  EXPECT_THROW(table.add_row({"1", "2"}), std::invalid_argument);
}

TEST(Share, IsNeverRoundedToAllOrToNothing) {
  EXPECT_EQ(share(63, 64), "98.4 % (63 of 64)");
  EXPECT_EQ(share(64, 64), "100.0 % (64 of 64)");
  EXPECT_EQ(share(9999, 10000), "99.9 % (9,999 of 10,000)");
  EXPECT_EQ(share(1, 1000000), "0.1 % (1 of 1,000,000)");
  EXPECT_EQ(share(0, 5), "0.0 % (0 of 5)");
  EXPECT_EQ(share(0, 0), "0 of 0");
  EXPECT_EQ(percent(0.99999), "99.99 %");
  EXPECT_EQ(percent(1.0), "100.00 %");
}

TEST(Table, CountsTheColumnsOfWideCharacters) {
  Table table;
  table.add_column("name", Align::kLeft);
  table.add_column("n");
  table.add_row({"層🙂", "1"});
  table.add_row({"Größe", "2"});
  EXPECT_EQ(table.render(), "name   n\n--------\n層🙂   1\nGröße  2\n");
}

}  // namespace
}  // namespace gemm64
