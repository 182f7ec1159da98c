// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/journal.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class JournalFile : public InFolder {
 protected:
  static SweepRow row(std::size_t point) {
    return {
        {"point", point}, {"network", "a \"b\"\n"}, {"utilization", 1.0 / 3}, {"error", nullptr}};
  }

  void keep(const std::vector<std::size_t>& points) const {
    Journal journal(path_, kProvenance, true);
    for (const std::size_t point : points) journal.add(row(point));
  }

  std::string refusal(const Provenance& provenance, bool resume) const {
    return message_of([&] { const Journal journal(path_, provenance, resume); });
  }

  std::string contents() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  const Provenance kProvenance{{"the program", "12"}, {"s.json", "34"}};
  const fs::path path_ = folder_ / "journal";
};

TEST_F(JournalFile, KeepsRowsToTheLastDigit) {
  keep({3, 1});
  const Journal journal(path_, kProvenance, true);
  EXPECT_TRUE(journal.resumed());
  ASSERT_EQ(journal.rows().size(), 2U);
  EXPECT_EQ(journal.rows().at(1), row(1));
  EXPECT_EQ(journal.rows().at(3).dump(), row(3).dump());
}

TEST_F(JournalFile, ForgetsALineThatIsCutOff) {
  keep({0, 1});
  const std::string whole = contents();
  const std::size_t end_of_first = whole.find('\n', whole.find('\n') + 1) + 1;
  for (std::size_t size = end_of_first; size < whole.size(); ++size) {
    std::ofstream(path_) << whole.substr(0, size);
    {
      Journal journal(path_, kProvenance, true);
      EXPECT_EQ(journal.rows().size(), 1U);
      journal.add(row(1));
    }
    EXPECT_EQ(contents(), whole);
  }
}

TEST_F(JournalFile, IsNeverReplacedUnasked) {
  keep({0, 1});
  EXPECT_THAT(refusal(kProvenance, false),
              Says("2 finished points of an earlier sweep; go on with --resume, or remove"));
  EXPECT_EQ(refusal(kProvenance, true), "");
}

TEST_F(JournalFile, IsRefusedByTheNameOfWhatChanged) {
  keep({0});
  EXPECT_THAT(refusal({{"the program", "99"}, {"s.json", "34"}}, true),
              Says("the program has changed since its points were finished; remove it"));
  EXPECT_THAT(refusal({{"the program", "12"}, {"s.json", "35"}}, true), Says("s.json has changed"));
  EXPECT_THAT(refusal({{"the program", "12"}, {"s.json", "34"}, {"n.onnx", "1"}}, true),
              Says("n.onnx has changed"));
}

TEST_F(JournalFile, IsRefusedWhereItIsNone) {
  for (const char* text : {"no JSON\n", "{}\n", "[]\n", "{\"sweep\": 1}\n"}) {
    std::ofstream(path_) << text;
    EXPECT_THAT(refusal(kProvenance, true), Says("this is no sweep's")) << text;
  }
}

TEST_F(JournalFile, ServesOneProcessAtATime) {
  const Journal journal(path_, kProvenance, false);
  EXPECT_THAT(refusal(kProvenance, true), Says("another sweep is writing it"));
}

TEST_F(JournalFile, LeavesNothingWithoutRows) {
  { const Journal journal(path_, kProvenance, false); }
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(JournalFile, IsNextToRegularFilesOnly) {
  EXPECT_EQ(Journal::path_beside("rows.csv"), "rows.csv.part");
  for (const char* output : {"", "-", "/dev/null", "/dev/stdout", "/tmp"}) {
    EXPECT_EQ(Journal::path_beside(output), "") << output;
  }
}

}  // namespace
}  // namespace gemm64
