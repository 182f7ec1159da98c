// SPDX-License-Identifier: Apache-2.0
#include "host/output_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "host/error.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest()
      : folder_(fs::path(testing::TempDir()) / ("output_file." + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string contents(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AppearsWholeAtTheEnd) {
  const fs::path path = folder_ / "report.json";
  OutputFile file(path);
  EXPECT_FALSE(fs::exists(path));
  file.write("{}\n");
  EXPECT_EQ(contents(path), "{}\n");
}

TEST_F(OutputFileTest, LeavesNothingWhereTheWorkFailed) {
  { const OutputFile file(folder_ / "report.json"); }
  EXPECT_EQ(files(), 0U);
}

TEST_F(OutputFileTest, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const fs::path path = folder_ / "report.json";
  std::ofstream(path) << "old";
  { const OutputFile file(path); }
  EXPECT_EQ(contents(path), "old");
  OutputFile file(path);
  file.write("new");
  EXPECT_EQ(contents(path), "new");
}

TEST_F(OutputFileTest, RefusesAPlaceThatCannotBeWritten) {
  for (const fs::path& path : {folder_ / "no" / "such" / "folder.json", folder_, fs::path()}) {
    EXPECT_THAT([&] { OutputFile file(path); },
                testing::ThrowsMessage<UsageError>(testing::HasSubstr("cannot be written")))
        << path;
  }
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace gemm64
