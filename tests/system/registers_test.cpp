// SPDX-License-Identifier: Apache-2.0
// The register map, on every device: one driver must find the same on all.

#include "host/cycles/tlm_device.hpp"
#include "host/device/reference_device.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint32_t kRegisterSpace = 0x1000;

struct Kind {
  int n;
  const char* device;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.device << "N" << kind.n; }

Command bad_command() {
  Command command;
  command.opcode = static_cast<Opcode>(0xff);
  return command;
}

class Registers : public testing::TestWithParam<Kind> {
 protected:
  Registers() {
    RtlOptions options = Rig::options(GetParam().n);
    std::unique_ptr<RtlDevice> rtl = make_rtl_device(options);
    if (GetParam().device == std::string("Rtl")) {
      device_ = std::move(rtl);
    } else if (GetParam().device == std::string("Tlm")) {
      device_ =
          std::make_unique<TlmDevice>(read_geometry(*rtl), MemoryTiming{}, options.memory_bytes);
    } else {
      device_ = std::make_unique<ReferenceDevice>(read_geometry(*rtl), options.memory_bytes);
    }
  }
  Device& device() { return *device_; }
  std::uint32_t read(std::uint32_t offset) { return device_->read_register(offset); }
  void write(std::uint32_t offset, std::uint32_t value) { device_->write_register(offset, value); }

  /// Runs FINISH only: the shortest work there is.
  void finish() {
    const std::uint32_t head = read(reg::kRingHead);
    put(*device_, std::uint64_t{head} * kCommandBytes, gemm64::finish());
    write(reg::kRingTail, head + 1);
    ASSERT_TRUE(device_->wait_interrupt(10000));
  }

 private:
  std::unique_ptr<Device> device_;
};

TEST_P(Registers, ReadTheirResetValues) {
  for (const Register& entry : kRegisters) {
    if (entry.resets) EXPECT_EQ(read(entry.offset), entry.reset) << entry.name;
  }
  EXPECT_EQ(read(reg::kVersion), kVersionMajor << 16 | kVersionMinor);
  for (const std::uint32_t offset :
       {reg::kControl, reg::kStatus, reg::kInterrupt, reg::kError, reg::kRingHead}) {
    EXPECT_EQ(read(offset), 0u) << offset;
  }
  for (const Counter& entry : kCounters) {
    EXPECT_EQ(read(entry.offset), 0u) << entry.engine << "." << entry.cause;
    EXPECT_EQ(read(entry.offset + 4), 0u) << entry.engine << "." << entry.cause;
  }
}

TEST_P(Registers, TellTheSizesOfTheBuild) {
  const auto n = static_cast<std::uint32_t>(GetParam().n);
  const Geometry geometry = read_geometry(device());
  EXPECT_EQ(geometry.n, n);
  EXPECT_EQ(geometry.stage_rows, std::min(n, 4u));
  EXPECT_EQ(geometry.weight_tiles, 1024 / n);
  EXPECT_EQ(geometry.scratchpad_words, 9216u);
  EXPECT_EQ(geometry.accumulator_rows, 128u);
  EXPECT_EQ(geometry.reads, 16u);
  EXPECT_EQ(geometry.writes, 16u);
  EXPECT_EQ(geometry.commands, 16u);
  EXPECT_EQ(geometry.burst_beats, 64u);
  EXPECT_EQ(geometry.address_width, 40u);
}

TEST_P(Registers, OffsetsOutsideAreErrors) {
  std::set<std::uint32_t> known;
  for (const Register& entry : kRegisters) known.insert(entry.offset);
  for (const Counter& entry : kCounters) {
    known.insert(entry.offset);
    known.insert(entry.offset + 4);
  }
  for (std::uint32_t offset = 0; offset < kRegisterSpace; offset += 4) {
    if (known.count(offset) != 0) {
      EXPECT_NO_THROW(read(offset)) << offset;
    } else {
      EXPECT_THAT(message_of<DeviceError>([&] { read(offset); }), Says("SLVERR")) << offset;
      EXPECT_THAT(message_of<DeviceError>([&] { write(offset, 0); }), Says("SLVERR")) << offset;
    }
  }
  EXPECT_THROW(read(2), DeviceError);
  EXPECT_THROW(write(0x031, 0), DeviceError);
  EXPECT_THROW(read(kRegisterSpace), DeviceError);
}

TEST_P(Registers, WritesToReadOnlyAreErrors) {
  const auto refuses = [this](std::uint32_t offset) {
    const std::uint32_t before = read(offset);
    EXPECT_THROW(write(offset, ~before), DeviceError) << offset;
    EXPECT_EQ(read(offset), before) << offset;
  };
  for (const Register& entry : kRegisters) {
    if (entry.access == Access::kReadOnly) refuses(entry.offset);
  }
  for (const Counter& entry : kCounters) refuses(entry.offset);
}

TEST_P(Registers, SettingsKeepWhatIsWritten) {
  const struct {
    std::uint32_t offset, bits;
  } settings[] = {{reg::kWatchdog, ~0u},
                  {reg::kRingBaseLow, ~0u},
                  {reg::kRingMask, 0xffffu},
                  {reg::kInterruptEnable, 3u}};
  for (const std::uint32_t value : {0xffffffffu, 0u, 0xa5c3f00fu, 0x5a3c0ff0u}) {
    std::uint32_t place = 0;
    for (const auto& setting : settings) write(setting.offset, value + place++);
    place = 0;
    for (const auto& setting : settings) {
      EXPECT_EQ(read(setting.offset), (value + place++) & setting.bits) << setting.offset;
    }
  }
}

TEST_P(Registers, ARingBaseAboveTheBusIsRefused) {
  write(reg::kRingBaseHigh, 0xa5);
  for (const std::uint32_t high : {0x100u, 0x1a5u, 0x80000000u, 0xffffffffu}) {
    EXPECT_THAT(message_of<DeviceError>([&] { write(reg::kRingBaseHigh, high); }), Says("SLVERR"));
    EXPECT_EQ(read(reg::kRingBaseHigh), 0xa5u);
  }
  write(reg::kRingBaseHigh, 0xff);
  EXPECT_EQ(read(reg::kRingBaseHigh), 0xffu);
}

TEST_P(Registers, OnlyCausesEnabledRaiseTheInterrupt) {
  write(reg::kInterruptEnable, field::kInterruptEnableError.mask());
  put(device(), 0, gemm64::finish());
  write(reg::kRingTail, 1);
  EXPECT_FALSE(device().wait_interrupt(2000));
  EXPECT_EQ(read(reg::kInterrupt), field::kInterruptDone.mask()) << "it is reported all the same";
  write(reg::kInterruptEnable, field::kInterruptEnableDone.mask());
  EXPECT_TRUE(device().wait_interrupt(0));
  write(reg::kInterruptEnable, 0);
  EXPECT_FALSE(device().wait_interrupt(100));
  write(reg::kInterruptEnable, field::kInterruptEnableError.mask());
  put(device(), kCommandBytes, bad_command());
  write(reg::kRingTail, 2);
  EXPECT_TRUE(device().wait_interrupt(2000));
  EXPECT_EQ(read(reg::kInterrupt), field::kInterruptDone.mask() | field::kInterruptError.mask());
}

TEST_P(Registers, TheTailIsCutToTheRing) {
  write(reg::kWatchdog, 0);
  write(reg::kRingMask, 3);
  finish();
  write(reg::kRingTail, 0xfffffff9u);  // the head stands at 1
  EXPECT_EQ(read(reg::kRingTail), 1u);
  EXPECT_EQ(read(reg::kRingHead), 1u);
}

// A command never is across the words of 64 bytes, so that its burst is one that AXI allows.
TEST_P(Registers, TheRingBeginsAtAMultipleOf64) {
  write(reg::kRingBaseLow, 4096 - 1);
  put(device(), 4096 - 64, gemm64::finish());
  write(reg::kRingTail, 1);
  ASSERT_TRUE(device().wait_interrupt(10000));
  EXPECT_EQ(read(reg::kInterrupt), field::kInterruptDone.mask());
}

TEST_P(Registers, TheInterruptStaysUntilCleared) {
  finish();
  EXPECT_EQ(read(reg::kInterrupt), field::kInterruptDone.mask());
  write(reg::kInterrupt, field::kInterruptError.mask());  // the other bit
  EXPECT_EQ(read(reg::kInterrupt), field::kInterruptDone.mask());
  EXPECT_TRUE(device().wait_interrupt(0));
  write(reg::kInterrupt, 0);
  EXPECT_TRUE(device().wait_interrupt(0));
  write(reg::kInterrupt, field::kInterruptDone.mask());
  EXPECT_EQ(read(reg::kInterrupt), 0u);
  EXPECT_FALSE(device().wait_interrupt(100));
}

TEST_P(Registers, ControlClearsTheCountersOnItsOwn) {
  finish();
  ASSERT_EQ(read(kCounters[counter::kBytesCommands].offset), 64u);
  write(reg::kControl, field::kControlClearCounters.mask());
  for (const Counter& entry : kCounters) {
    EXPECT_EQ(read(entry.offset), 0u) << entry.engine << "." << entry.cause;
  }
  EXPECT_EQ(read(reg::kInterrupt), field::kInterruptDone.mask());
  EXPECT_EQ(read(reg::kRingHead), 1u);
}

TEST_P(Registers, ASoftResetKeepsSettings) {
  write(reg::kWatchdog, 12345);
  write(reg::kRingMask, 7);
  finish();
  write(reg::kControl, field::kControlReset.mask());
  for (int i = 0; field::kStatusResetting.get(read(reg::kStatus)) != 0; ++i) ASSERT_LT(i, 100);
  EXPECT_EQ(read(reg::kRingHead), 0u);
  EXPECT_EQ(read(reg::kRingTail), 0u);
  EXPECT_EQ(read(reg::kInterrupt), 0u);
  EXPECT_EQ(read(reg::kStatus), 0u);
  EXPECT_EQ(read(reg::kWatchdog), 12345u);
  EXPECT_EQ(read(reg::kRingMask), 7u);
  EXPECT_EQ(read(kCounters[counter::kBytesCommands].offset), 64u);
  finish();
}

TEST_P(Registers, AHardResetReturnsAllButMemory) {
  write(reg::kWatchdog, 12345);
  write(reg::kRingMask, 7);
  write(reg::kRingBaseHigh, 0);
  finish();
  const std::uint32_t word = 0xfeedf00d;
  device().write_memory(4096, &word, sizeof word);
  device().reset();
  for (const Register& entry : kRegisters) {
    if (entry.resets) EXPECT_EQ(read(entry.offset), entry.reset) << entry.name;
  }
  EXPECT_EQ(read(reg::kRingHead), 0u);
  EXPECT_EQ(read(reg::kInterrupt), 0u);
  EXPECT_EQ(read(kCounters[counter::kBytesCommands].offset), 0u);
  std::uint32_t kept = 0;
  device().read_memory(4096, &kept, sizeof kept);
  EXPECT_EQ(kept, word);
}

TEST_P(Registers, AnErrorHaltsUntilAReset) {
  put(device(), 0, bad_command());
  write(reg::kRingTail, 1);
  ASSERT_TRUE(device().wait_interrupt(10000));
  EXPECT_EQ(read(reg::kInterrupt), field::kInterruptError.mask());
  EXPECT_EQ(read(reg::kError), static_cast<std::uint32_t>(ErrorCode::kBadOpcode));
  EXPECT_EQ(read(reg::kStatus), field::kStatusHalted.mask() | field::kStatusBusy.mask());
  EXPECT_EQ(read(reg::kRingHead), 0u);
  // Clearing the interrupt does not bring the work back.
  write(reg::kInterrupt, field::kInterruptError.mask());
  EXPECT_FALSE(device().wait_interrupt(1000));
  EXPECT_EQ(field::kStatusHalted.get(read(reg::kStatus)), 1u);
  write(reg::kControl, field::kControlReset.mask());
  for (int i = 0; field::kStatusResetting.get(read(reg::kStatus)) != 0; ++i) ASSERT_LT(i, 100);
  EXPECT_EQ(read(reg::kError), 0u);
  EXPECT_EQ(read(reg::kStatus), 0u);
  finish();
}

INSTANTIATE_TEST_SUITE_P(Devices, Registers,
                         testing::Values(Kind{2, "Rtl"}, Kind{4, "Rtl"}, Kind{8, "Rtl"},
                                         Kind{16, "Rtl"}, Kind{32, "Rtl"}, Kind{2, "Reference"},
                                         Kind{8, "Reference"}, Kind{2, "Tlm"}, Kind{8, "Tlm"}),
                         testing::PrintToStringParamName());

// Stalls on the register port itself: an access takes longer and gives the same.
TEST(RegisterPort, StallsChangeNoValue) {
  Rig rig(8, 0.7, 99);
  for (int i = 0; i < 50; ++i) {
    const auto value = static_cast<std::uint32_t>(i) * 0x01234567u;
    rig.device->write_register(reg::kWatchdog, value);
    EXPECT_EQ(rig.device->read_register(reg::kWatchdog), value);
    EXPECT_EQ(rig.device->read_register(reg::kId), kRegisters[0].reset);
    EXPECT_THROW(rig.device->read_register(0x01c), DeviceError);
  }
}

}  // namespace
}  // namespace gemm64::system_test
