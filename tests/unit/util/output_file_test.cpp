// SPDX-License-Identifier: Apache-2.0
#include "host/util/output_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public InFolder {
 protected:
};

TEST_F(OutputFileTest, AppearsWholeAtTheEnd) {
  const fs::path path = folder_ / "report.json";
  OutputFile file(path);
  EXPECT_FALSE(fs::exists(path));
  file.write("{}\n");
  EXPECT_EQ(contents(path), "{}\n");
}

TEST_F(OutputFileTest, LeavesNothingAfterFailure) {
  { const OutputFile file(folder_ / "report.json"); }
  EXPECT_EQ(files(), 0U);
}

TEST_F(OutputFileTest, KeepsOldFileUntilDone) {
  const fs::path path = folder_ / "report.json";
  std::ofstream(path) << "old";
  { const OutputFile file(path); }
  EXPECT_EQ(contents(path), "old");
  OutputFile file(path);
  file.write("new");
  EXPECT_EQ(contents(path), "new");
}

TEST_F(OutputFileTest, KeepsTheModeOfTheFileBefore) {
  const fs::path path = folder_ / "report.json";
  std::ofstream(path) << "old";
  fs::permissions(path, static_cast<fs::perms>(0640));
  OutputFile(path).write("new");
  EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0640));
}

TEST_F(OutputFileTest, FollowsLinks) {
  fs::create_symlink("target", folder_ / "link");
  fs::create_symlink("link", folder_ / "link_to_link");
  OutputFile(folder_ / "link_to_link").write("dangling");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link_to_link"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(contents(folder_ / "target"), "dangling");
  OutputFile(folder_ / "link").write("again");
  EXPECT_EQ(contents(folder_ / "target"), "again");
  EXPECT_EQ(files(), 3U);
}

TEST_F(OutputFileTest, TakesLongNames) {
  const fs::path path = folder_ / std::string(255, 'x');
  OutputFile(path).write("x");
  EXPECT_EQ(contents(path), "x");
}

TEST_F(OutputFileTest, WritesToDevice) {
  OutputFile("/dev/null").write("x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT([] { OutputFile("/dev/full", "the report").write("x"); },
              testing::ThrowsMessage<OutputError>(
                  "/dev/full: the report is lost: No space left on device"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(OutputFileTest, WritesToAPipe) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = contents(path); });
  OutputFile file(path);
  file.stream() << "ab";
  file.stream().seekp(1);
  file.stream() << "cd";
  file.commit();
  reader.join();
  EXPECT_EQ(read, "acd");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(OutputFileTest, ReportsFullDisk) {
  const fs::path path = folder_ / "report.json";
  std::ofstream(path) << "old";
  std::signal(SIGXFSZ, SIG_IGN);
  const auto write = [&path] {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    OutputFile file(path, "the report");
    try {
      file.write(std::string(5000, 'x'));
    } catch (const OutputError& error) {
      const std::string expected = path.string() + ": the report is lost: File too large";
      std::_Exit(error.file() == path && error.what() == expected ? 0 : 2);
    }
    std::_Exit(1);
  };
  EXPECT_EXIT(write(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(contents(path), "old");
}

TEST_F(OutputFileTest, RefusesUnwritablePath) {
  for (const fs::path& path : {folder_ / "no" / "such" / "folder.json", folder_, fs::path()}) {
    EXPECT_THAT([&] { OutputFile file(path); }, Fails("cannot be written")) << path;
  }
  EXPECT_EQ(files(), 0U);
}

}  // namespace
}  // namespace gemm64
