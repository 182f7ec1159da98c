// SPDX-License-Identifier: Apache-2.0
#include "host/util/input_file.hpp"

#include <sys/stat.h>

#include <thread>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class Input : public InFolder {};

TEST_F(Input, KnowsWhatIsLeftOfAFile) {
  std::ofstream(folder_ / "x") << "abcdef";
  InputFile file(folder_ / "x");
  EXPECT_EQ(file.left(), 6U);
  char two[2];
  EXPECT_EQ(file.read_some(two, 2), 2U);
  EXPECT_EQ(file.left(), 4U);
  EXPECT_EQ(file.read_up_to(3), "cde");
  EXPECT_EQ(file.read_up_to(3), "f");
}

TEST_F(Input, ReadsAPipeToItsEnd) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << std::string(100000, 'x'); });
  InputFile file(pipe);
  EXPECT_EQ(file.left(), std::nullopt);
  EXPECT_EQ(file.read_rest(100000).size(), 100000U);
  writer.join();
}

TEST_F(Input, RefusesWhatIsTooLargeWithoutReadingIt) {
  std::ofstream(folder_ / "x") << "abc";
  fs::resize_file(folder_ / "x", std::uint64_t{1} << 40);
  EXPECT_THAT([&] { read_file(folder_ / "x", 1000); }, Fails("more than 1000 bytes"));
  EXPECT_THAT([&] { read_file("/dev/zero", 1000); }, Fails("more than 1000 bytes"));
}

TEST_F(Input, RefusesWhatCannotBeRead) {
  EXPECT_THAT([&] { read_file(folder_, 1); }, Fails("it is a folder"));
  EXPECT_THAT([&] { read_file(folder_ / "none", 1); }, Fails("cannot be read: No such file"));
}

}  // namespace
}  // namespace gemm64
