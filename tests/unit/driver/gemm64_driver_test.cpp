// SPDX-License-Identifier: Apache-2.0
// The driver in C, on a device made of plain registers: a test plays the hardware.
#include "host/driver/gemm64_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace gemm64 {
namespace {

/// Registers and memory that a test sets, and everything that the driver did to them, in order.
class Fake {
 public:
  Fake() {
    hooks.context = this;
    hooks.read = [](void* self, std::uint32_t offset, std::uint32_t* value) {
      return static_cast<Fake*>(self)->read(offset, value);
    };
    hooks.write = [](void* self, std::uint32_t offset, std::uint32_t value) {
      return static_cast<Fake*>(self)->write(offset, value);
    };
    hooks.store = [](void* self, std::uint64_t address, const void* data, std::size_t bytes) {
      Fake& fake = *static_cast<Fake*>(self);
      fake.log.push_back("store");
      if (address + bytes > fake.memory.size()) return -1;
      std::memcpy(fake.memory.data() + address, data, bytes);
      return 0;
    };
    registers[GEMM64_REG_ID] = GEMM64_ID_RESET_VALUE;
    registers[GEMM64_REG_VERSION] = GEMM64_VERSION_MAJOR << 16;
    registers[GEMM64_REG_ARRAY] = 64;
    registers[GEMM64_REG_SCRATCHPAD_WORDS] = 9216;
    registers[GEMM64_REG_ACCUMULATOR_ROWS] = 128;
    registers[GEMM64_REG_ADDRESS_WIDTH] = 40;
  }

  int read(std::uint32_t offset, std::uint32_t* value) {
    if (offset == dead) return -1;
    ++reads[offset];
    if (on_read) on_read(offset);
    *value = registers[offset];
    return 0;
  }

  int write(std::uint32_t offset, std::uint32_t value) {
    if (offset == dead) return -1;
    log.push_back(offset == GEMM64_REG_RING_TAIL ? "tail" : "write");
    written.push_back({offset, value});
    if (offset == GEMM64_REG_INTERRUPT) {
      registers[offset] &= ~value;
    } else if (offset == GEMM64_REG_CONTROL) {
      if ((value & GEMM64_CONTROL_RESET_MASK) != 0) {
        registers[GEMM64_REG_RING_HEAD] = registers[GEMM64_REG_RING_TAIL] = 0;
      }
    } else {
      registers[offset] = value;
    }
    return 0;
  }

  /// Lets the hooks that are optional note that they were called.
  void log_hooks() {
    hooks.clean = [](void* self, std::uint64_t, std::size_t) {
      static_cast<Fake*>(self)->log.push_back("clean");
    };
    hooks.invalidate = [](void* self, std::uint64_t, std::size_t) {
      static_cast<Fake*>(self)->log.push_back("invalidate");
    };
    hooks.barrier = [](void* self) { static_cast<Fake*>(self)->log.push_back("barrier"); };
  }

  /// Waits by hook: `line` is whether the interrupt line is high.
  void wait_by_hook() {
    hooks.wait = [](void* self, std::uint64_t limit) {
      Fake& fake = *static_cast<Fake*>(self);
      fake.limits.push_back(limit);
      return fake.line();
    };
  }

  gemm64_hooks hooks{};
  std::map<std::uint32_t, std::uint32_t> registers, reads;
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(1 << 16);
  std::vector<std::string> log;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> written;
  std::function<void(std::uint32_t)> on_read;
  std::function<int()> line;
  std::vector<std::uint64_t> limits;
  std::uint32_t dead = ~0u;  // a register that answers with an error
};

/// Distinguishable commands: a number in each first byte.
std::vector<std::uint8_t> numbered(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint8_t> bytes(std::size_t{count} * GEMM64_COMMAND_BYTES);
  for (std::uint32_t i = 0; i < count; ++i) {
    bytes[std::size_t{i} * GEMM64_COMMAND_BYTES] = static_cast<std::uint8_t>(first + i);
  }
  return bytes;
}

class Core : public testing::Test {
 protected:
  void open(std::uint32_t places = 4, std::uint64_t ring = 0x1000) {
    ASSERT_EQ(gemm64_open(&driver, &fake.hooks), GEMM64_OK);
    ASSERT_EQ(gemm64_set_ring(&driver, ring, places), GEMM64_OK);
  }
  gemm64_result submit(std::uint32_t first, std::uint32_t count, std::uint32_t* ticket = nullptr) {
    return gemm64_submit(&driver, numbered(first, count).data(), count, ticket);
  }
  std::uint32_t in_place(std::uint32_t place) const {
    return fake.memory[driver.ring + std::size_t{place} * GEMM64_COMMAND_BYTES];
  }
  void raise(std::uint32_t cause) { fake.registers[GEMM64_REG_INTERRUPT] = cause; }

  Fake fake;
  gemm64_driver driver{};
};

TEST_F(Core, ProbeReadsSizesAndWritesNothing) {
  ASSERT_EQ(gemm64_probe(&driver, &fake.hooks), GEMM64_OK);
  EXPECT_EQ(driver.info.n, 64u);
  EXPECT_EQ(driver.info.scratchpad_words, 9216u);
  EXPECT_EQ(driver.info.accumulator_rows, 128u);
  EXPECT_EQ(driver.info.address_width, 40u);
  EXPECT_TRUE(fake.written.empty());
}

TEST_F(Core, OtherDevicesAreNotTouched) {
  fake.registers[GEMM64_REG_ID] = 0xdeadbeef;
  EXPECT_EQ(gemm64_open(&driver, &fake.hooks), GEMM64_NO_GEMM64);
  EXPECT_EQ(driver.info.id, 0xdeadbeefu);
  fake.registers[GEMM64_REG_ID] = GEMM64_ID_RESET_VALUE;
  fake.registers[GEMM64_REG_VERSION] = (GEMM64_VERSION_MAJOR + 1) << 16 | 5;
  EXPECT_EQ(gemm64_open(&driver, &fake.hooks), GEMM64_NO_VERSION);
  EXPECT_EQ(driver.info.version, (GEMM64_VERSION_MAJOR + 1) << 16 | 5);
  EXPECT_TRUE(fake.written.empty());
}

TEST_F(Core, ALaterMinorVersionIsTaken) {
  fake.registers[GEMM64_REG_VERSION] |= 0xffff;
  EXPECT_EQ(gemm64_open(&driver, &fake.hooks), GEMM64_OK);
}

TEST_F(Core, ABusErrorEndsEveryCall) {
  for (const std::uint32_t offset : {GEMM64_REG_ID, GEMM64_REG_VERSION, GEMM64_REG_ADDRESS_WIDTH,
                                     GEMM64_REG_CONTROL, GEMM64_REG_STATUS}) {
    fake.dead = offset;
    EXPECT_EQ(gemm64_open(&driver, &fake.hooks), GEMM64_NO_ACCESS) << offset;
  }
  fake.dead = ~0u;
  open();
  fake.dead = GEMM64_REG_RING_TAIL;
  EXPECT_EQ(submit(0, 1), GEMM64_NO_ACCESS);
  fake.dead = GEMM64_REG_INTERRUPT;
  EXPECT_EQ(gemm64_wait(&driver, 10), GEMM64_NO_ACCESS);
  fake.dead = GEMM64_COUNTERS_BASE + 4;
  std::uint64_t value;
  EXPECT_EQ(gemm64_read_counter(&driver, 0, &value), GEMM64_NO_ACCESS);
}

TEST_F(Core, ResetPollsUntilItIsThrough) {
  ASSERT_EQ(gemm64_probe(&driver, &fake.hooks), GEMM64_OK);
  fake.registers[GEMM64_REG_STATUS] = GEMM64_STATUS_RESETTING_MASK;
  fake.on_read = [this](std::uint32_t offset) {
    if (offset == GEMM64_REG_STATUS && fake.reads[offset] == 7) fake.registers[offset] = 0;
  };
  EXPECT_EQ(gemm64_reset(&driver), GEMM64_OK);
  EXPECT_EQ(fake.reads[GEMM64_REG_STATUS], 7u);
  EXPECT_EQ(fake.written.front(), (std::pair{GEMM64_REG_CONTROL, GEMM64_CONTROL_RESET_MASK}));
}

TEST_F(Core, AResetThatNeverEndsIsReported) {
  ASSERT_EQ(gemm64_probe(&driver, &fake.hooks), GEMM64_OK);
  fake.registers[GEMM64_REG_STATUS] = GEMM64_STATUS_RESETTING_MASK;
  EXPECT_EQ(gemm64_reset(&driver), GEMM64_RESETTING);
}

TEST_F(Core, RingsThatCannotBeAreRefused) {
  ASSERT_EQ(gemm64_open(&driver, &fake.hooks), GEMM64_OK);
  EXPECT_EQ(submit(0, 1), GEMM64_BAD_RING);
  for (const std::uint32_t places : {0u, 1u, 3u, 63u, 65537u, 131072u}) {
    EXPECT_EQ(gemm64_set_ring(&driver, 0, places), GEMM64_BAD_RING) << places;
  }
  EXPECT_EQ(gemm64_set_ring(&driver, 0x1020, 4), GEMM64_BAD_RING);
  EXPECT_EQ(gemm64_set_ring(&driver, 0xab'0000'1000, 65536), GEMM64_OK);
  EXPECT_EQ(fake.registers[GEMM64_REG_RING_BASE_LOW], 0x1000u);
  EXPECT_EQ(fake.registers[GEMM64_REG_RING_BASE_HIGH], 0xabu);
  EXPECT_EQ(fake.registers[GEMM64_REG_RING_MASK], 0xffffu);
}

TEST_F(Core, ARingInUseStaysWhereItIs) {
  open();
  ASSERT_EQ(submit(1, 1), GEMM64_OK);
  EXPECT_EQ(gemm64_set_ring(&driver, 0, 4), GEMM64_BAD_RING);
  ASSERT_EQ(gemm64_reset(&driver), GEMM64_OK);
  EXPECT_EQ(gemm64_set_ring(&driver, 0, 4), GEMM64_OK);
}

TEST_F(Core, CommandsGoRoundTheRing) {
  open(4);
  std::uint32_t ticket = 0;
  ASSERT_EQ(submit(10, 3, &ticket), GEMM64_OK);
  EXPECT_EQ(ticket, 3u);
  EXPECT_EQ(fake.registers[GEMM64_REG_RING_TAIL], 3u);
  fake.registers[GEMM64_REG_RING_HEAD] = 2;  // two are gone
  ASSERT_EQ(submit(20, 2, &ticket), GEMM64_OK);
  EXPECT_EQ(ticket, 5u);
  EXPECT_EQ(fake.registers[GEMM64_REG_RING_TAIL], 1u);
  EXPECT_EQ(in_place(2), 12u);
  EXPECT_EQ(in_place(3), 20u);
  EXPECT_EQ(in_place(0), 21u);
  EXPECT_EQ(in_place(1), 11u);
}

TEST_F(Core, AFullRingIsReported) {
  open(4);
  EXPECT_EQ(submit(0, 4), GEMM64_RING_FULL);
  ASSERT_EQ(submit(1, 3), GEMM64_OK);
  const auto before = fake.memory;
  EXPECT_EQ(submit(7, 1), GEMM64_RING_FULL);
  fake.registers[GEMM64_REG_RING_HEAD] = 1;
  EXPECT_EQ(submit(7, 2), GEMM64_RING_FULL);
  EXPECT_EQ(fake.memory, before);
  EXPECT_EQ(fake.registers[GEMM64_REG_RING_TAIL], 3u);
  EXPECT_EQ(submit(7, 1), GEMM64_OK);
}

// Against a queue of numbers: any mixture of submits and of progress, rings of any size.
TEST_F(Core, NoCommandIsLostOrOverwritten) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::uint32_t places = 2u << random() % 5;
    open(places);
    std::uint32_t given = 0, taken = 0;
    for (int step = 0; step < 300; ++step) {
      const std::uint32_t count = random() % (places + 1);
      const bool fits = count < places - (given - taken);
      ASSERT_EQ(submit(given, count), fits ? GEMM64_OK : GEMM64_RING_FULL);
      if (fits) given += count;
      for (std::uint32_t some = random() % (given - taken + 1); some != 0; --some) {
        ASSERT_EQ(in_place(taken % places), taken % 256);
        ++taken;
      }
      fake.registers[GEMM64_REG_RING_HEAD] = taken % places;
      std::uint32_t dispatched = 0;
      ASSERT_EQ(gemm64_dispatched(&driver, &dispatched), GEMM64_OK);
      ASSERT_EQ(dispatched, taken);
    }
  }
}

TEST_F(Core, CommandsAreInMemoryBeforeTheTail) {
  fake.log_hooks();
  open(4);
  ASSERT_EQ(submit(1, 3), GEMM64_OK);
  fake.registers[GEMM64_REG_RING_HEAD] = 3;
  fake.log.clear();
  ASSERT_EQ(submit(1, 2), GEMM64_OK);
  EXPECT_EQ(fake.log,
            (std::vector<std::string>{"store", "clean", "store", "clean", "barrier", "tail"}));
}

TEST_F(Core, GiveAndTakeHaveBarriersInOrder) {
  fake.log_hooks();
  open();
  fake.log.clear();
  gemm64_give(&driver, 0, 64);
  gemm64_take(&driver, 0, 64);
  EXPECT_EQ(fake.log, (std::vector<std::string>{"clean", "barrier", "barrier", "invalidate"}));
}

TEST_F(Core, CachesGetAddresses) {
  static std::vector<std::uint64_t> reported;
  reported.clear();
  fake.hooks.clean = fake.hooks.invalidate = [](void*, std::uint64_t address, std::size_t bytes) {
    reported.insert(reported.end(), {address, bytes});
  };
  open();
  reported.clear();
  gemm64_give(&driver, 0x2000, 64);
  gemm64_take(&driver, 0x3000, 128);
  EXPECT_EQ(reported, (std::vector<std::uint64_t>{0x2000, 64, 0x3000, 128}));
  reported.clear();
  ASSERT_EQ(submit(1, 2), GEMM64_OK);
  EXPECT_EQ(reported, (std::vector<std::uint64_t>{driver.ring, 2 * GEMM64_COMMAND_BYTES}));
}

TEST_F(Core, CommandsThatCannotBeStoredStartNothing) {
  open(4, 0x10000 - 128);  // two of its four places lie in the memory
  EXPECT_EQ(submit(1, 3), GEMM64_NO_ACCESS);
  EXPECT_EQ(fake.registers[GEMM64_REG_RING_TAIL], 0u);
}

TEST_F(Core, PollingFindsTheInterruptAndClearsIt) {
  open();
  fake.on_read = [this](std::uint32_t offset) {
    if (offset == GEMM64_REG_INTERRUPT && fake.reads[offset] == 9) raise(1);
  };
  EXPECT_EQ(gemm64_wait(&driver, 20), GEMM64_OK);
  EXPECT_EQ(fake.reads[GEMM64_REG_INTERRUPT], 9u);
  EXPECT_EQ(fake.registers[GEMM64_REG_INTERRUPT], 0u);
}

TEST_F(Core, PollingEndsAtItsLimit) {
  open();
  EXPECT_EQ(gemm64_wait(&driver, 20), GEMM64_TIMEOUT);
  EXPECT_EQ(fake.reads[GEMM64_REG_INTERRUPT], 20u);
  EXPECT_EQ(gemm64_wait(&driver, 3000), GEMM64_TIMEOUT) << "no line is high for nothing";
  EXPECT_EQ(fake.reads[GEMM64_REG_INTERRUPT], 3020u);
}

TEST_F(Core, ABarrierStandsBeforeResultsAreRead) {
  fake.log_hooks();
  open();
  fake.log.clear();
  raise(1);
  EXPECT_EQ(gemm64_wait(&driver, 1), GEMM64_OK);
  EXPECT_EQ(fake.log, (std::vector<std::string>{"barrier", "write"})) << "and clears the cause";
}

TEST_F(Core, WaitingIsTheHooks) {
  fake.wait_by_hook();
  open();
  fake.line = [] { return 0; };
  EXPECT_EQ(gemm64_wait(&driver, 77), GEMM64_TIMEOUT);
  EXPECT_EQ(fake.limits, std::vector<std::uint64_t>{77});
  EXPECT_EQ(fake.reads[GEMM64_REG_INTERRUPT], 0u);
  fake.line = [] { return -1; };
  EXPECT_EQ(gemm64_wait(&driver, 1), GEMM64_NO_ACCESS);
  fake.line = [this] {
    if (fake.limits.size() == 5) raise(1);
    return 1;  // woken three times for nothing
  };
  EXPECT_EQ(gemm64_wait(&driver, 1), GEMM64_OK);
  EXPECT_EQ(fake.limits.size(), 5u);
}

TEST_F(Core, ASpuriousLineIsReported) {
  fake.wait_by_hook();
  open();
  fake.line = [] { return 1; };
  EXPECT_EQ(gemm64_wait(&driver, 1), GEMM64_SPURIOUS);
}

TEST_F(Core, ErrorsAreTakenApart) {
  open();
  raise(GEMM64_INTERRUPT_ERROR_MASK | GEMM64_INTERRUPT_DONE_MASK);
  fake.registers[GEMM64_REG_ERROR] = 0x1234'0000u | GEMM64_ENGINE_RESULTS << 4 | 5;
  EXPECT_EQ(gemm64_wait(&driver, 1), GEMM64_FAILED);
  EXPECT_EQ(driver.error.code, GEMM64_ERROR_BUS_DECODE);
  EXPECT_EQ(driver.error.engine, GEMM64_ENGINE_RESULTS);
  EXPECT_EQ(driver.error.command, 0x1234u);
  EXPECT_STREQ(gemm64_error_name(driver.error.code), "BUS_DECODE");
  EXPECT_STREQ(gemm64_engine_name(driver.error.engine), "results");
  EXPECT_STREQ(gemm64_error_name(15), "unknown");
  EXPECT_EQ(gemm64_wait(&driver, 1), GEMM64_FAILED);  // until a reset
}

// Two programs in the ring, and one interrupt for both.
TEST_F(Core, ATicketIsForSharedInterrupts) {
  open(8);
  std::uint32_t first = 0, second = 0;
  ASSERT_EQ(submit(1, 2, &first), GEMM64_OK);
  ASSERT_EQ(submit(3, 3, &second), GEMM64_OK);
  raise(1);
  fake.registers[GEMM64_REG_RING_HEAD] = 5;
  EXPECT_EQ(gemm64_wait_for(&driver, first, 1), GEMM64_OK);
  EXPECT_EQ(fake.registers[GEMM64_REG_INTERRUPT], 0u);
  EXPECT_EQ(gemm64_wait_for(&driver, second, 1), GEMM64_OK);
}

TEST_F(Core, ATicketWaitsForItsOwnProgram) {
  open(8);
  std::uint32_t first = 0, second = 0;
  ASSERT_EQ(submit(1, 2, &first), GEMM64_OK);
  ASSERT_EQ(submit(3, 3, &second), GEMM64_OK);
  int interrupts = 0;
  fake.wait_by_hook();
  driver.hooks = fake.hooks;
  fake.line = [&] {
    fake.registers[GEMM64_REG_RING_HEAD] = ++interrupts == 1 ? 2 : 5;
    raise(1);
    return 1;
  };
  EXPECT_EQ(gemm64_wait_for(&driver, second, 1), GEMM64_OK);
  EXPECT_EQ(interrupts, 2);
  EXPECT_EQ(fake.registers[GEMM64_REG_INTERRUPT], 0u);
  EXPECT_EQ(gemm64_wait_for(&driver, first, 1), GEMM64_OK);
  EXPECT_EQ(interrupts, 2);
}

// The one after it ends just when its own end is seen.
TEST_F(Core, ATicketLeavesTheInterruptOfALaterProgram) {
  open(8);
  std::uint32_t first = 0;
  ASSERT_EQ(submit(1, 2, &first), GEMM64_OK);
  ASSERT_EQ(submit(3, 3), GEMM64_OK);
  fake.wait_by_hook();
  driver.hooks = fake.hooks;
  fake.line = [&] {
    fake.registers[GEMM64_REG_RING_HEAD] = 2;
    raise(1);
    return 1;
  };
  fake.on_read = [&](std::uint32_t offset) {
    if (offset == GEMM64_REG_RING_HEAD && fake.registers[offset] == 2) raise(1);
  };
  EXPECT_EQ(gemm64_wait_for(&driver, first, 1), GEMM64_OK);
  EXPECT_EQ(fake.registers[GEMM64_REG_INTERRUPT], 1u);
}

TEST_F(Core, ATicketReportsTimeoutsAndErrors) {
  open(8);
  std::uint32_t ticket = 0;
  ASSERT_EQ(submit(1, 2, &ticket), GEMM64_OK);
  EXPECT_EQ(gemm64_wait_for(&driver, ticket, 5), GEMM64_TIMEOUT);
  raise(GEMM64_INTERRUPT_ERROR_MASK);
  EXPECT_EQ(gemm64_wait_for(&driver, ticket, 5), GEMM64_FAILED);
}

TEST_F(Core, ACounterIsReadInOnePieceWhileItCounts) {
  open();
  static constexpr std::uint32_t kLow = GEMM64_COUNTERS_BASE + 8 * GEMM64_COUNTER_BYTES_WEIGHTS;
  fake.registers[kLow] = 0xffff'fff0;
  fake.registers[kLow + 4] = 2;
  fake.on_read = [this](std::uint32_t offset) {
    if (offset != kLow || fake.reads[offset] != 1) return;
    fake.registers[kLow] = 5;  // between the reads of its halves it goes on
    fake.registers[kLow + 4] = 3;
  };
  std::uint64_t value = 0;
  ASSERT_EQ(gemm64_read_counter(&driver, GEMM64_COUNTER_BYTES_WEIGHTS, &value), GEMM64_OK);
  EXPECT_EQ(value, 0x3'0000'0005u);
}

// As firmware does: a FENCE that writes a snapshot, in a ring after other commands.
TEST_F(Core, SnapshotsAreReadAsTheyLieInMemory) {
  std::uint8_t bytes[GEMM64_SNAPSHOT_BYTES];
  for (unsigned i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(sizeof bytes, 8u * GEMM64_COUNTERS);
  EXPECT_EQ(gemm64_snapshot_counter(bytes, GEMM64_COUNTER_TOTAL_CLOCKS), 0x0706050403020100u);
  EXPECT_EQ(gemm64_snapshot_counter(bytes, GEMM64_COUNTER_RESULTS_IDLE), 0xcfcecdcccbcac9c8u);
}

TEST_F(Core, EncodingRefusesWhatDoesNotFit) {
  std::uint8_t bytes[GEMM64_COMMAND_BYTES];
  gemm64_command command{};
  command.opcode = GEMM64_OP_STORE;
  command.rows = 0xffff;
  EXPECT_EQ(gemm64_encode(&command, bytes), 0);
  command.rows = 0x10000;
  EXPECT_EQ(gemm64_encode(&command, bytes), -1);
}

/// A device that checks itself, and so has its registers read back.
class Checked : public Core {
 protected:
  Checked() {
    fake.registers[GEMM64_REG_VERSION] = GEMM64_VERSION_MAJOR << 16 | 3;
    fake.registers[GEMM64_REG_SELF_CHECK] = 1;
    fake.registers[GEMM64_REG_WATCHDOG] = 0x100000;
    fake.registers[GEMM64_REG_INTERRUPT_ENABLE] = 3;
  }
  void expect_altered(gemm64_result result, std::uint32_t offset, std::uint32_t written,
                      std::uint32_t found) const {
    EXPECT_EQ(result, GEMM64_ALTERED);
    EXPECT_EQ(driver.altered.offset, offset);
    EXPECT_EQ(driver.altered.written, written);
    EXPECT_EQ(driver.altered.found, found);
    EXPECT_TRUE(gemm64_may_pass(&driver, result));
  }
  std::size_t doorbells() const {
    return static_cast<std::size_t>(std::count(fake.log.begin(), fake.log.end(), "tail"));
  }
};

TEST_F(Checked, RegistersAreReadBackAfterTail) {
  const std::pair<std::uint32_t, std::uint32_t> settings[] = {{GEMM64_REG_RING_BASE_LOW, 0x1000},
                                                              {GEMM64_REG_RING_BASE_HIGH, 0},
                                                              {GEMM64_REG_RING_MASK, 3}};
  for (const auto& [offset, written] : settings) {
    open();
    fake.log.clear();
    fake.registers[offset] ^= 0x40;
    expect_altered(submit(1, 2), offset, written, written ^ 0x40);
    EXPECT_EQ(doorbells(), 1u);
    // It is right again.
    ASSERT_EQ(gemm64_reset(&driver), GEMM64_OK);
    EXPECT_EQ(submit(1, 2), GEMM64_OK);
    EXPECT_EQ(doorbells(), 2u);
  }
}

TEST_F(Checked, RegistersAreReadBackWhateverTheEnd) {
  for (const std::uint32_t offset :
       {GEMM64_REG_RING_BASE_LOW, GEMM64_REG_RING_BASE_HIGH, GEMM64_REG_RING_MASK,
        GEMM64_REG_RING_TAIL, GEMM64_REG_WATCHDOG, GEMM64_REG_INTERRUPT_ENABLE}) {
    for (const std::uint32_t cause :
         {0u, GEMM64_INTERRUPT_DONE_MASK, GEMM64_INTERRUPT_ERROR_MASK}) {
      open();
      raise(0);
      ASSERT_EQ(submit(1, 2), GEMM64_OK);
      const std::uint32_t written = fake.registers[offset];
      fake.registers[offset] ^= 2;
      fake.registers[GEMM64_REG_ERROR] = GEMM64_ERROR_BAD_OPCODE;
      raise(cause);
      expect_altered(gemm64_wait(&driver, 3), offset, written, written ^ 2);
      fake.registers[offset] = written;
      EXPECT_EQ(gemm64_wait(&driver, 3),
                cause == GEMM64_INTERRUPT_ERROR_MASK ? GEMM64_FAILED : GEMM64_TIMEOUT);
    }
  }
}

TEST_F(Checked, AFoundFaultIsReportedFirst) {
  open();
  ASSERT_EQ(submit(1, 2), GEMM64_OK);
  fake.registers[GEMM64_REG_RING_TAIL] ^= 1;
  fake.registers[GEMM64_REG_ERROR] = GEMM64_ERROR_PARITY;
  raise(GEMM64_INTERRUPT_ERROR_MASK);
  EXPECT_EQ(gemm64_wait(&driver, 3), GEMM64_FAILED);
}

TEST_F(Checked, AnErrorWithoutACodeIsNone) {
  open();
  ASSERT_EQ(submit(1, 2), GEMM64_OK);
  raise(GEMM64_INTERRUPT_ERROR_MASK);
  expect_altered(gemm64_wait(&driver, 3), GEMM64_REG_INTERRUPT, 0, GEMM64_INTERRUPT_ERROR_MASK);
}

TEST_F(Checked, ATicketReadsRegistersBack) {
  open();
  std::uint32_t ticket = 0;
  ASSERT_EQ(submit(1, 2, &ticket), GEMM64_OK);
  fake.registers[GEMM64_REG_RING_HEAD] = 2;
  EXPECT_EQ(gemm64_wait_for(&driver, ticket, 3), GEMM64_OK);
  fake.registers[GEMM64_REG_RING_TAIL] = 3;
  expect_altered(gemm64_wait_for(&driver, ticket, 3), GEMM64_REG_RING_TAIL, 2, 3);
}

TEST_F(Checked, SettingsMayBeChangedThroughTheDriver) {
  open(8);
  ASSERT_EQ(submit(1, 2), GEMM64_OK);
  ASSERT_EQ(gemm64_write(&driver, GEMM64_REG_WATCHDOG, 77), GEMM64_OK);
  ASSERT_EQ(gemm64_write(&driver, GEMM64_REG_INTERRUPT_ENABLE, 1), GEMM64_OK);
  EXPECT_EQ(submit(3, 2), GEMM64_OK);
  EXPECT_EQ(gemm64_compare_registers(&driver), GEMM64_OK);
}

TEST_F(Checked, ADoneThatIsDisabledIsEnabledForAWait) {
  fake.registers[GEMM64_REG_INTERRUPT_ENABLE] = 2;
  open();
  EXPECT_EQ(submit(1, 2), GEMM64_OK) << "INTERRUPT is polled";
  fake.wait_by_hook();
  open();
  expect_altered(submit(1, 2), GEMM64_REG_INTERRUPT_ENABLE, 3, 2);
  EXPECT_EQ(fake.registers[GEMM64_REG_INTERRUPT_ENABLE], 3u);
}

// Writing it is refused while commands are in the device, and begins a reset.
TEST_F(Checked, AResetRestoresTheTensorMemory) {
  fake.registers[GEMM64_REG_VERSION] = GEMM64_VERSION_MAJOR << 16 | 7;
  for (const std::uint32_t written : {0u, 1u}) {
    fake.registers[GEMM64_REG_TENSOR_MEMORY] = written;
    open();
    ASSERT_EQ(submit(1, 2), GEMM64_OK);
    fake.registers[GEMM64_REG_TENSOR_MEMORY] ^= 1;
    raise(GEMM64_INTERRUPT_DONE_MASK);
    expect_altered(gemm64_wait(&driver, 3), GEMM64_REG_TENSOR_MEMORY, written, written ^ 1);
    EXPECT_EQ(fake.registers[GEMM64_REG_TENSOR_MEMORY], written ^ 1);
    ASSERT_EQ(gemm64_reset(&driver), GEMM64_OK);
    EXPECT_EQ(fake.registers[GEMM64_REG_TENSOR_MEMORY], written);
    EXPECT_EQ(submit(1, 2), GEMM64_OK);
  }
}

TEST_F(Checked, OfOlderDevicesTensorMemoryIsNotRead) {
  fake.registers[GEMM64_REG_VERSION] = GEMM64_VERSION_MAJOR << 16 | 6;
  open();
  ASSERT_EQ(submit(1, 2), GEMM64_OK);
  EXPECT_EQ(fake.reads[GEMM64_REG_TENSOR_MEMORY], 0u);
}

TEST_F(Core, OfOtherDevicesNoRegisterIsReadBack) {
  open();
  ASSERT_EQ(submit(1, 2), GEMM64_OK);
  for (const std::uint32_t offset :
       {GEMM64_REG_RING_BASE_LOW, GEMM64_REG_RING_BASE_HIGH, GEMM64_REG_RING_MASK,
        GEMM64_REG_RING_TAIL, GEMM64_REG_WATCHDOG, GEMM64_REG_INTERRUPT_ENABLE,
        GEMM64_REG_TENSOR_MEMORY, GEMM64_REG_SELF_CHECK}) {
    EXPECT_EQ(fake.reads[offset], 0u) << offset;
    fake.registers[offset] ^= 2;
  }
  raise(GEMM64_INTERRUPT_DONE_MASK);
  EXPECT_EQ(gemm64_wait(&driver, 3), GEMM64_OK);
  raise(GEMM64_INTERRUPT_ERROR_MASK);
  EXPECT_EQ(gemm64_wait(&driver, 3), GEMM64_FAILED);
}

TEST_F(Core, EveryResultHasItsText) {
  for (int result = GEMM64_OK; result <= GEMM64_ALTERED; ++result) {
    EXPECT_STRNE(gemm64_result_text(static_cast<gemm64_result>(result)), "unknown") << result;
  }
}

}  // namespace
}  // namespace gemm64
