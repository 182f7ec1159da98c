// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/fpga/serial_device.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "host/device/geometry.hpp"
#include "host/device/registers.hpp"
#include "sim/integrations/fpga/simulated_board.hpp"
#include "tests/cli/program.hpp"

namespace gemm64 {
namespace {

/// The board runs next to the test.
class Board {
 public:
  Board()
      : thread_([this] {
          while (!ends_) board_.run(10);
        }) {}
  ~Board() {
    ends_ = true;
    thread_.join();
  }
  const std::string& path() const { return board_.path(); }

 private:
  SimulatedBoard board_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

class SerialDeviceTest : public testing::Test {
 protected:
  Board board_;
};

class SerialProgram : public cli_test::Program {
 protected:
  std::string device() const { return " --array 4 --device serial:" + board_.path(); }
  Board board_;
};

TEST_F(SerialDeviceTest, ReportsMemoryAndRegisters) {
  SerialDevice device(board_.path());
  EXPECT_EQ(device.memory_bytes(), 128u << 10);
  EXPECT_EQ(device.read_register(reg::kId), 0x67363463u);
  EXPECT_EQ(read_geometry(device).n, 4u);
  device.write_register(reg::kRingBaseLow, 0x1240);
  EXPECT_EQ(device.read_register(reg::kRingBaseLow), 0x1240u);
  device.reset();
  EXPECT_EQ(device.read_register(reg::kRingBaseLow), 0u);
}

TEST_F(SerialDeviceTest, UnknownRegistersAreErrors) {
  SerialDevice device(board_.path());
  EXPECT_THROW(device.read_register(0xffc), DeviceError);
  EXPECT_THROW(device.write_register(reg::kId, 1), DeviceError);
  EXPECT_EQ(device.read_register(reg::kId), 0x67363463u) << "goes on after errors";
}

// Any length at any address, longer than a block too, and up to the last byte.
TEST_F(SerialDeviceTest, MemoryHoldsWhatWasWritten) {
  SerialDevice device(board_.path());
  std::mt19937 random(7);
  for (const auto& [address, bytes] : {std::pair<std::uint64_t, std::size_t>{1, 1},
                                       {2, 7},
                                       {0x1ffd, 6},
                                       {0x1000, 1025},
                                       {device.memory_bytes() - 5, 5},
                                       {12, 0}}) {
    std::vector<std::uint8_t> written(bytes), around(2);
    for (std::uint8_t& byte : written) byte = static_cast<std::uint8_t>(random());
    device.write_memory(address, written.data(), bytes);
    std::vector<std::uint8_t> found(bytes);
    device.read_memory(address, found.data(), bytes);
    EXPECT_EQ(found, written) << address << ", " << bytes;
  }
  EXPECT_THROW(device.write_memory(device.memory_bytes() - 1, "ab", 2), std::out_of_range);
  EXPECT_THROW(device.read_memory(device.memory_bytes() + 1, nullptr, 0), std::out_of_range);
}

TEST_F(SerialDeviceTest, NeighboursOfAByteStay) {
  SerialDevice device(board_.path());
  device.write_memory(64, "abcdefgh", 8);
  device.write_memory(66, "XYZ", 3);
  char found[9] = {};
  device.read_memory(64, found, 8);
  EXPECT_STREQ(found, "abXYZfgh");
}

TEST_F(SerialDeviceTest, NoInterruptComesOfNothing) {
  SerialDevice device(board_.path());
  EXPECT_FALSE(device.wait_interrupt(70000)) << "in two waits";
}

// A host that was ended in the middle of a command, here a write of a block, leaves no state.
TEST_F(SerialDeviceTest, OpensAfterAbortedCommand) {
  const int line = open(board_.path().c_str(), O_RDWR | O_NOCTTY);
  ASSERT_GE(line, 0);
  const unsigned char begun[] = {0xa5, 0, 0, 0, 0, 0, 4, 0, 0, 1, 2, 3};
  ASSERT_EQ(write(line, begun, sizeof begun), static_cast<ssize_t>(sizeof begun));
  close(line);
  SerialDevice device(board_.path());
  EXPECT_EQ(device.read_register(reg::kId), 0x67363463u);
}

TEST(SerialDevice, RefusesWhatIsNoLine) {
  EXPECT_THAT(message_of([] { SerialDevice device("/nowhere/tty"); }), Says("/nowhere/tty"));
  EXPECT_THAT(message_of([] { SerialDevice device("/dev/null"); }), Says("no serial line"));
}

TEST_F(SerialProgram, AProductRunsOnTheBoard) {
  for (const char* sizes : {"9 6 10", "20 33 7"}) {
    const cli_test::Outcome outcome = run(std::string("gemm ") + sizes + device());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Says("VERIFIED"));
    EXPECT_THAT(outcome.out, Says("another memory than the board's"));
  }
}

TEST_F(SerialProgram, AnotherArrayIsRefused) {
  expect_bad(run("gemm 4 4 4 --array 8 --device serial:" + board_.path()), "--array 4");
}

}  // namespace
}  // namespace gemm64
