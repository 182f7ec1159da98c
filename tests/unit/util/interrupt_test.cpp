// SPDX-License-Identifier: Apache-2.0
#include "host/util/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "tests/test.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

TEST(InterruptDeathTest, LibraryLeavesNoFile) {
  const fs::path path = fs::path(testing::TempDir()) / ("interrupt." + std::to_string(getpid()));
  std::ofstream(path) << "some of it";
  EXPECT_EXIT(
      {
        catch_interrupts();
        const TemporaryName name(path);
        std::exit(EXIT_FAILURE);  // as libgomp does where it can start no thread
      },
      testing::ExitedWithCode(2), "a library ended the program");
  EXPECT_FALSE(fs::exists(path));
}

TEST(InterruptDeathTest, TheProgramEndsAsItWants) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        end_is_wanted();
        std::exit(1);
      },
      testing::ExitedWithCode(1), "^$");
}

// A worker may still report progress while the program ends.
TEST(InterruptDeathTest, TheLastNoteStays) {
  EXPECT_EXIT(
      {
        catch_interrupts();
        note_finished("in the first layer");
        note_finished_last("with 1 of 2 points finished");
        note_finished("in the second layer");
        raise(SIGTERM);
      },
      testing::ExitedWithCode(143), "signal with 1 of 2 points finished\n$");
}

}  // namespace
}  // namespace gemm64
