// SPDX-License-Identifier: Apache-2.0
// The driver on devices that answer as they like: it must believe no device.
#include "host/driver/driver.hpp"

#include "host/device/reference_device.hpp"
#include "host/numerics/reference.hpp"
#include "host/tiling/packing.hpp"
#include "tests/commands.hpp"
#include "tests/random_matrix.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"

namespace gemm64 {
namespace {

using testing::_;
using testing::AnyNumber;
using testing::NiceMock;
using testing::Return;

constexpr std::uint64_t kMockBytes = 1 << 20;

/// A reference device in a mock: a test changes single answers.
class MockDevice : public Device {
 public:
  MockDevice() : reference(geometry(), kMockBytes) {
    ON_CALL(*this, read_register).WillByDefault([this](std::uint32_t offset) {
      return reference.read_register(offset);
    });
    ON_CALL(*this, write_register).WillByDefault([this](std::uint32_t offset, std::uint32_t value) {
      reference.write_register(offset, value);
    });
    ON_CALL(*this, memory_bytes).WillByDefault(Return(kMockBytes));
    ON_CALL(*this, write_memory)
        .WillByDefault([this](std::uint64_t address, const void* data, std::size_t bytes) {
          reference.write_memory(address, data, bytes);
        });
    ON_CALL(*this, read_memory)
        .WillByDefault([this](std::uint64_t address, void* data, std::size_t bytes) {
          reference.read_memory(address, data, bytes);
        });
    ON_CALL(*this, wait_interrupt).WillByDefault([this](std::uint64_t cycles) {
      return reference.wait_interrupt(cycles);
    });
    ON_CALL(*this, name).WillByDefault(Return("mock"));
  }

  static Geometry geometry() {
    Geometry geometry;
    geometry.n = 8;
    return geometry;
  }

  MOCK_METHOD(std::uint32_t, read_register, (std::uint32_t offset), (override));
  MOCK_METHOD(void, write_register, (std::uint32_t offset, std::uint32_t value), (override));
  MOCK_METHOD(std::uint64_t, memory_bytes, (), (const, override));
  MOCK_METHOD(void, write_memory, (std::uint64_t address, const void* data, std::size_t bytes),
              (override));
  MOCK_METHOD(void, read_memory, (std::uint64_t address, void* data, std::size_t bytes),
              (override));
  MOCK_METHOD(bool, wait_interrupt, (std::uint64_t max_cycles), (override));
  MOCK_METHOD(void, reset, (), (override));
  MOCK_METHOD(std::uint64_t, cycles, (), (const, override));
  MOCK_METHOD(std::string, name, (), (const, override));

  /// Reads of `offset` give `value`.
  void answer(std::uint32_t offset, std::uint32_t value) {
    EXPECT_CALL(*this, read_register(_)).Times(AnyNumber());
    EXPECT_CALL(*this, read_register(offset)).WillRepeatedly(Return(value));
  }

  ReferenceDevice reference;
};

struct Product {
  explicit Product(Accumulate accumulate = Accumulate::kDevice)
      : job(make_job("product", {11, 20, 13}, accumulate, MockDevice::geometry())) {
    std::mt19937 random(5);
    a = random_matrix(random, 11, 20);
    w = random_matrix(random, 13, 20);
    weights = pack_weights(job, w);
  }
  Job job;
  MatrixI8 a, w;
  std::vector<std::uint8_t> weights;
};

class DriverRun : public testing::Test {
 protected:
  NiceMock<MockDevice> device;
  Driver driver{device};
  const Product product;
};

TEST(DriverOpening, ReadsDeviceSizes) {
  NiceMock<MockDevice> device;
  const Driver driver(device);
  EXPECT_EQ(driver.geometry().n, 8u);
  EXPECT_EQ(driver.geometry().scratchpad_words, 9216u);
}

TEST(DriverOpening, RejectsAnotherId) {
  NiceMock<MockDevice> device;
  device.answer(reg::kId, 0x12345678);
  const std::string text = message_of<DeviceError>([&] { Driver driver(device); });
  EXPECT_THAT(text, Says("'mock'", "0x12345678", "0x67363463"));
}

TEST(DriverOpening, RejectsAnotherMajorVersion) {
  NiceMock<MockDevice> device;
  device.answer(reg::kVersion, field::kVersionMajor.put(kVersionMajor + 1));
  const std::string text = message_of<DeviceError>([&] { Driver driver(device); });
  EXPECT_THAT(text, Says(fmt::format("version {}.0", kVersionMajor + 1),
                         fmt::format("{}.x", kVersionMajor)));
}

TEST(DriverOpening, AcceptsLaterMinorVersion) {
  NiceMock<MockDevice> device;
  device.answer(reg::kVersion, field::kVersionMajor.put(kVersionMajor) | 7);
  EXPECT_NO_THROW(Driver driver(device));
}

TEST(DriverOpening, WritesNothingToOtherDevices) {
  NiceMock<MockDevice> device;
  device.answer(reg::kId, 0);
  EXPECT_CALL(device, write_register).Times(0);
  EXPECT_THROW(Driver driver(device), DeviceError);
}

TEST(DriverOpening, ResetsTheDevice) {
  NiceMock<MockDevice> device;
  EXPECT_CALL(device, write_register(reg::kControl, field::kControlReset.mask()));
  const Driver driver(device);
}

TEST_F(DriverRun, ResetWaitsForDevice) {
  int polls = 0;
  EXPECT_CALL(device, read_register(reg::kStatus)).Times(4).WillRepeatedly([&polls](std::uint32_t) {
    return ++polls < 4 ? field::kStatusResetting.mask() : 0;
  });
  driver.reset();
  EXPECT_EQ(polls, 4);
}

TEST_F(DriverRun, ResetWithoutEndIsAnError) {
  device.answer(reg::kStatus, field::kStatusResetting.mask());
  EXPECT_THAT(message_of<DeviceError>([&] { driver.reset(); }), Says("hard reset"));
}

TEST(DriverDevices, ReturnProduct) {
  for (const Accumulate accumulate : {Accumulate::kDevice, Accumulate::kHost}) {
    NiceMock<MockDevice> device;
    Driver driver(device);
    const Product product(accumulate);
    EXPECT_EQ(driver.run(product.job, product.weights, product.a).sums,
              reference_gemm(product.a, product.w));
  }
}

TEST_F(DriverRun, ReadsBothHalvesOfEveryCounter) {
  EXPECT_CALL(device, read_register(_)).WillRepeatedly([](std::uint32_t offset) {
    return offset % 8 == 0 ? 0xff000000u + offset : 1 + offset;  // low and high word
  });
  const Counters counters = driver.read_counters();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const std::uint64_t offset = kCounters[i].offset;
    EXPECT_EQ(counters[i], (1 + offset + 4) << 32 | (0xff000000u + offset));
  }
}

TEST(DriverDevices, ReturnCountersOfOneRun) {
  ReferenceDevice device(MockDevice::geometry(), kMockBytes);
  Driver driver(device);
  const Product product;
  const Traffic traffic = predict_traffic(product.job.plan);
  for (int i = 0; i < 3; ++i) {
    const Counters counters = driver.run(product.job, product.weights, product.a).counters;
    EXPECT_EQ(counters[counter::kBytesWeights], traffic.weights);
    EXPECT_EQ(counters[counter::kBytesResults], traffic.results);
  }
}

TEST_F(DriverRun, ClearsTheInterrupt) {
  driver.run(product.job, product.weights, product.a);
  EXPECT_EQ(device.reference.read_register(reg::kInterrupt), 0u);
  EXPECT_FALSE(device.reference.wait_interrupt(1));
}

TEST_F(DriverRun, ReportsErrorAndResets) {
  const std::uint32_t error =
      field::kErrorCode.put(static_cast<std::uint32_t>(ErrorCode::kBusDecode)) |
      field::kErrorEngine.put(static_cast<std::uint32_t>(Engine::kResults)) |
      field::kErrorCommand.put(3);
  device.answer(reg::kError, error);
  EXPECT_CALL(device, read_register(reg::kInterrupt))
      .WillRepeatedly(Return(field::kInterruptError.mask()));
  // One reset before the run, one after the error.
  EXPECT_CALL(device, write_register(_, _)).Times(AnyNumber());
  EXPECT_CALL(device, write_register(reg::kControl, field::kControlReset.mask())).Times(2);
  const std::string text =
      message_of<DeviceError>([&] { driver.run(product.job, product.weights, product.a); });
  EXPECT_THAT(text, Says("BUS_DECODE at command 3 (STORE rows=11 count=2 blocks=1 address=",
                         "engine 'results'", gemm64::text(ErrorCode::kBusDecode)));
  EXPECT_THAT(text, Lacks(" in word ", " of its tile ")) << "it has no such place";
}

/// A device that finds a fault of its own in its first `times` programs.
class FaultyDevice : public WrappedDevice<ReferenceDevice> {
 public:
  explicit FaultyDevice(int times)
      : WrappedDevice(MockDevice::geometry(), kMockBytes), times_(times) {}

  std::uint32_t read_register(std::uint32_t offset) override {
    if (times_ > 0) {
      if (offset == reg::kInterrupt) return field::kInterruptError.mask();
      if (offset == reg::kFaultTile) return 5;
      if (offset == reg::kFaultRow) return 7;
      if (offset == reg::kError) {
        return field::kErrorCode.put(static_cast<std::uint32_t>(ErrorCode::kChecksum)) |
               field::kErrorEngine.put(static_cast<std::uint32_t>(Engine::kCompute)) |
               field::kErrorCommand.put(2);
      }
    }
    return WrappedDevice::read_register(offset);
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    WrappedDevice::write_register(offset, value);
    if (offset == reg::kRingTail) ++programs;
    // The reset after the fault; those before a program come ahead of its first.
    if (offset == reg::kControl && value == field::kControlReset.mask() && programs > found) {
      ++found;
      --times_;
    }
  }

  int programs = 0;
  int found = 0;

 private:
  int times_;
};

TEST(DriverDevices, RunAgainAfterFoundFault) {
  FaultyDevice device(1);
  Driver driver(device);
  const Product product;
  std::vector<FoundFault> reported;
  const GemmResult result =
      driver.run(product.job, product.weights, product.a, nullptr, [&](const FoundFault& fault) {
        reported.push_back(fault);
        // Whatever became of the operands in the meantime
        std::vector<std::uint8_t> noise(product.job.layout.end, 0x5a);
        device.write_memory(0, noise.data(), noise.size());
      });
  EXPECT_EQ(result.sums, reference_gemm(product.a, product.w));
  EXPECT_EQ(device.programs, 2);
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0].error, static_cast<std::uint32_t>(ErrorCode::kChecksum));
  EXPECT_EQ(reported[0].command, 2u);
  EXPECT_EQ(reported[0].tile, 5u);
  EXPECT_EQ(reported[0].row, 7u);
}

/// Runs a program on a device that stops with an error at a word of its scratchpad.
void run_into_word(ErrorCode code, Engine engine, std::uint32_t word) {
  NiceMock<MockDevice> device;
  Driver driver(device);
  device.answer(reg::kError, field::kErrorCode.put(static_cast<std::uint32_t>(code)) |
                                 field::kErrorEngine.put(static_cast<std::uint32_t>(engine)));
  EXPECT_CALL(device, read_register(reg::kFaultMemory))
      .WillRepeatedly(Return(field::kFaultMemoryNumber.put(GEMM64_MEMORY_SCRATCHPAD) |
                             field::kFaultMemoryWord.put(word)));
  EXPECT_CALL(device, read_register(reg::kInterrupt))
      .WillRepeatedly(Return(field::kInterruptError.mask()));
  driver.run_program(0, {finish()}, 1000);
}

TEST(DriverDevices, NameWordWithParityError) {
  try {
    run_into_word(ErrorCode::kParity, Engine::kActivations, 77);
    FAIL() << "no exception";
  } catch (const OwnFault& fault) {
    EXPECT_THAT(fault.what(),
                Says("PARITY at command 0 (FINISH)", "in word 77 of the memory 'scratchpad'",
                     "engine 'activations'"));
    EXPECT_EQ(fault.fault().memory, GEMM64_MEMORY_SCRATCHPAD);
    EXPECT_EQ(fault.fault().word, 77u);
  }
}

TEST(DriverDevices, NameUnwrittenWord) {
  try {
    run_into_word(ErrorCode::kUnwritten, Engine::kCompute, 78);
    FAIL() << "no exception";
  } catch (const OwnFault&) {
    FAIL() << "an error of the program, which would only come again";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), Says("UNWRITTEN at command 0 (FINISH)",
                                   "in word 78 of the memory 'scratchpad'", "engine 'compute'"));
  }
}

TEST_F(DriverRun, FailsWhenFaultHasNoCommand) {
  device.answer(reg::kError, field::kErrorCode.put(static_cast<std::uint32_t>(ErrorCode::kParity)) |
                                 field::kErrorCommand.put(1));
  EXPECT_CALL(device, read_register(reg::kInterrupt))
      .WillRepeatedly(Return(field::kInterruptError.mask()));
  try {
    driver.run_program(0, {finish()}, 1000);
    FAIL() << "no exception";
  } catch (const OwnFault&) {
    FAIL() << "a fault of a command that was not run";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), Says("PARITY at command 1 (not in the ring)"));
  }
}

TEST(DriverDevices, FailAtSecondFault) {
  FaultyDevice device(2);
  Driver driver(device);
  const Product product;
  const std::string text =
      message_of<DeviceError>([&] { driver.run(product.job, product.weights, product.a); });
  EXPECT_THAT(text, Says("CHECKSUM at command 2 (MATMUL", "in row 7 of its tile 5",
                         "engine 'compute'", "ran the first time"));
  EXPECT_EQ(device.programs, 2);
}

/// A device that checks itself, of which a register is found wrong `times` times once a program has
/// begun. Settings are so from the second look on: the first one shows the driver what they are.
class AlteredDevice : public WrappedDevice<ReferenceDevice> {
 public:
  AlteredDevice(std::uint32_t offset, std::uint32_t flipped, int times)
      : WrappedDevice(MockDevice::geometry(), kMockBytes),
        times(times),
        offset_(offset),
        flipped_(flipped) {}

  std::uint32_t read_register(std::uint32_t offset) override {
    if (offset == reg::kSelfCheck) return 1;
    const std::uint32_t value = WrappedDevice::read_register(offset);
    if (offset != offset_ || !begun_ || times == 0) return value;
    if (!std::exchange(known_, true)) return value;
    --times;
    return value ^ flipped_;
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    WrappedDevice::write_register(offset, value);
    if (offset == reg::kRingTail) {
      begun_ = true;
      known_ = offset_ != reg::kWatchdog && offset_ != reg::kInterruptEnable;
    }
    if (offset == reg::kControl) begun_ = false;
  }

  int times;

 private:
  const std::uint32_t offset_, flipped_;
  bool begun_ = false, known_ = false;
};

// The counter shows CONTROL, which is never read back: what was counted was cleared.
TEST(DriverDevices, RunAgainAfterAlteredRegister) {
  const std::uint32_t fetched = GEMM64_COUNTERS_BASE + 8 * counter::kBytesCommands;
  const std::pair<std::uint32_t, std::uint32_t> registers[] = {
      {reg::kRingTail, reg::kRingTail},       {reg::kRingMask, reg::kRingMask},
      {reg::kRingBaseLow, reg::kRingBaseLow}, {reg::kRingBaseHigh, reg::kRingBaseHigh},
      {reg::kWatchdog, reg::kWatchdog},       {reg::kInterruptEnable, reg::kInterruptEnable},
      {reg::kRingHead, reg::kInterrupt},      {fetched, reg::kControl}};
  for (const auto& [read, reported] : registers) {
    AlteredDevice device(read, 1, 1);
    Driver driver(device);
    const Product product;
    std::vector<FoundFault> faults;
    const GemmResult result = driver.run(product.job, product.weights, product.a, nullptr,
                                         [&](const FoundFault& fault) { faults.push_back(fault); });
    EXPECT_EQ(result.sums, reference_gemm(product.a, product.w));
    EXPECT_EQ(device.times, 0) << register_name(reported);
    ASSERT_EQ(faults.size(), 1u) << register_name(reported);
    EXPECT_EQ(faults[0].error, 0u);
    EXPECT_EQ(faults[0].offset, reported);

    device.times = 2;
    EXPECT_THAT(
        message_of<DeviceError>([&] { driver.run(product.job, product.weights, product.a); }),
        Says("register " + register_name(reported) + " is 0x", "it should be 0x",
             "ran the first time"));
  }
}

TEST(DriverDevices, RunAgainAfterLostInterrupt) {
  class Silent : public AlteredDevice {
   public:
    Silent() : AlteredDevice(reg::kInterrupt, field::kInterruptDone.mask(), 1) {}
    bool wait_interrupt(std::uint64_t cycles) override {
      const bool reported = AlteredDevice::wait_interrupt(cycles);
      return reported && times == 0;
    }
  } device;
  Driver driver(device);
  const Product product;
  std::vector<std::uint32_t> offsets;
  driver.run(product.job, product.weights, product.a, nullptr,
             [&](const FoundFault& fault) { offsets.push_back(fault.offset); });
  EXPECT_THAT(offsets, testing::ElementsAre(reg::kInterrupt));
}

TEST_F(DriverRun, ReportsErrorOutsideRing) {
  device.answer(reg::kError, field::kErrorCode.put(15) | field::kErrorEngine.put(15) |
                                 field::kErrorCommand.put(999));
  EXPECT_CALL(device, read_register(reg::kInterrupt))
      .WillRepeatedly(Return(field::kInterruptError.mask() | field::kInterruptDone.mask()));
  const std::string text =
      message_of<DeviceError>([&] { driver.run_program(0, {finish()}, 1000); });
  EXPECT_THAT(text, Says("unknown at command 999 (not in the ring)"));
}

TEST_F(DriverRun, ReportsErrorAndEndlessReset) {
  Command bad;
  bad.opcode = static_cast<Opcode>(200);
  int resets = 0;
  EXPECT_CALL(device, write_register(_, _)).Times(AnyNumber());
  EXPECT_CALL(device, write_register(reg::kControl, field::kControlReset.mask()))
      .WillRepeatedly([&resets](std::uint32_t, std::uint32_t) { ++resets; });
  EXPECT_CALL(device, read_register(_)).Times(AnyNumber());
  EXPECT_CALL(device, read_register(reg::kStatus)).WillRepeatedly([&resets](std::uint32_t) {
    return resets < 2 ? 0 : field::kStatusResetting.mask();
  });
  const std::string text = message_of<DeviceError>([&] { driver.run_program(0, {bad}, 1000); });
  EXPECT_THAT(text, Says("BAD_OPCODE at command 0", "hard reset"));
}

TEST_F(DriverRun, FailsAtCycleLimit) {
  std::uint64_t now = 5000;
  EXPECT_CALL(device, cycles).WillRepeatedly([&now] { return now; });
  EXPECT_CALL(device, wait_interrupt).WillRepeatedly([&now](std::uint64_t cycles) {
    now += cycles;
    return false;
  });
  device.answer(reg::kRingHead, 2);
  const std::string text = message_of<DeviceError>(
      [&] { driver.run_program(0, std::vector<Command>(3, finish()), 300'000); });
  EXPECT_GE(now, 305'000u);
  EXPECT_LT(now, 5000u + 2 * 300'000);
  EXPECT_THAT(text, Says("no interrupt", "limit 300000", "command 2"));
}

TEST_F(DriverRun, WaitsWithoutLimit) {
  std::uint64_t now = 0;
  EXPECT_CALL(device, cycles).WillRepeatedly([&now] { return now; });
  EXPECT_CALL(device, wait_interrupt).WillRepeatedly([&](std::uint64_t cycles) {
    now += std::uint64_t{1} << 40;
    return now >> 40 == 5 && device.reference.wait_interrupt(cycles);
  });
  int reported = 0;
  EXPECT_NO_THROW(driver.run_program(0, {finish()}, 0, [&reported](double) { ++reported; }));
  EXPECT_EQ(now >> 40, 5u);
  EXPECT_EQ(reported, 0) << "no bytes of weights are known that it could be a part of";
}

/// What WATCHDOG holds after a run, `before` at its start, with so much timeouts.
std::uint32_t watchdog_after(std::uint32_t before, std::uint64_t memory_latency) {
  NiceMock<MockDevice> device;
  Driver driver(device, Timeouts{memory_latency});
  device.reference.write_register(reg::kWatchdog, before);
  const Product product;
  driver.run(product.job, product.weights, product.a);
  return device.reference.read_register(reg::kWatchdog);
}

TEST(DriverDevices, HaveWatchdogAboveMemoryLatency) {
  EXPECT_EQ(watchdog_after(1 << 20, 65536), 1U << 20);  // 16 latencies
  EXPECT_EQ(watchdog_after(1 << 20, 65537), (1U << 20) + 16);
  EXPECT_EQ(watchdog_after(1000, 100), 1600U);
  EXPECT_EQ(watchdog_after(1000, 1U << 30), 0xffffffffU);
  EXPECT_EQ(watchdog_after(0, 65537), 0U) << "it stays off";
}

TEST(DriverDevices, HaveGivenWatchdog) {
  NiceMock<MockDevice> device;
  Driver driver(device, Timeouts{1 << 20, 5000});
  const Product product;
  driver.run(product.job, product.weights, product.a);
  EXPECT_EQ(device.reference.read_register(reg::kWatchdog), 5000U);
}

TEST(DriverDevices, FailResetAtWatchdog) {
  NiceMock<MockDevice> device;
  Driver driver(device, Timeouts{1000, 700});
  EXPECT_CALL(device, read_register(reg::kStatus))
      .Times(700)
      .WillRepeatedly(Return(field::kStatusResetting.put(1)));
  message_of<DeviceError>([&] { driver.reset(); });
}

/// The cycles after which a driver gives up what `run` asks of it, on a device that never ends.
template <class Run>
std::uint64_t limit_of(std::uint64_t memory_latency, Run run) {
  NiceMock<MockDevice> device;
  Driver driver(device, Timeouts{memory_latency});
  std::uint64_t now = 0;
  EXPECT_CALL(device, cycles).WillRepeatedly([&now] { return now; });
  EXPECT_CALL(device, wait_interrupt).WillRepeatedly([&now](std::uint64_t) {
    now += 1'000'000'000;
    return false;
  });
  const std::string text = message_of<DeviceError>([&] { run(driver); });
  return std::stoull(text.substr(text.find("limit ") + 6));
}

TEST(DriverDevices, HaveLimitByMemoryLatency) {
  const auto limit = [](std::uint64_t memory_latency) {
    const Product product;
    return limit_of(memory_latency,
                    [&](Driver& driver) { driver.run(product.job, product.weights, product.a); });
  };
  const Traffic traffic = predict_traffic(Product().job.plan);
  const std::uint64_t bytes =
      traffic.weights + traffic.parameters + traffic.activations + traffic.results;
  EXPECT_EQ(limit(0), 65536 + 1000 * (bytes / MockDevice::geometry().n + 1000));
  // Of latency cycles for each beat, and for a thousand beats more.
  EXPECT_GE(limit(100'000) - limit(0), 100'000U * 1000);
}

TEST_F(DriverRun, ReportsGrowingProgress) {
  const auto all = static_cast<std::uint32_t>(predict_traffic(product.job.plan).weights);
  std::uint32_t read = 0;
  int waits = 0;
  EXPECT_CALL(device, wait_interrupt).WillRepeatedly([&](std::uint64_t cycles) {
    if (++waits <= 4) {
      read = all * static_cast<std::uint32_t>(waits) / 4;
      return false;
    }
    return device.reference.wait_interrupt(cycles);
  });
  EXPECT_CALL(device, read_register(_)).Times(AnyNumber());
  EXPECT_CALL(device, read_register(kCounters[counter::kBytesWeights].offset))
      .WillRepeatedly([&read](std::uint32_t) { return read; });
  std::vector<double> reported;
  driver.run(product.job, product.weights, product.a,
             [&reported](double part) { reported.push_back(part); });
  EXPECT_EQ(reported, (std::vector<double>{0.25, 0.5, 0.75, 1.0}));
}

TEST_F(DriverRun, RejectsSmallMemory) {
  const Job job = make_job("large", {1000, 1100, 8}, Accumulate::kDevice, driver.geometry());
  const std::uint64_t needs = job.layout.end;
  ASSERT_GT(needs, kMockBytes);
  EXPECT_CALL(device, write_memory).Times(0);
  const std::string text = message_of<UsageError>([&] {
    driver.run(job, std::vector<std::uint8_t>(job.plan.weight_bytes()), MatrixI8::Zero(1000, 1100));
  });
  EXPECT_THAT(text, Says("1000x1100x8", std::to_string(needs), std::to_string(kMockBytes)));
}

TEST(DriverDevices, FillMemoryToLastByte) {
  const Product product;
  const std::uint64_t end = product.job.layout.end;
  ReferenceDevice just_right(MockDevice::geometry(), end);
  EXPECT_EQ(Driver(just_right).run(product.job, product.weights, product.a).sums,
            reference_gemm(product.a, product.w));
  ReferenceDevice too_small(MockDevice::geometry(), end - 1);
  EXPECT_THROW(Driver(too_small).run(product.job, product.weights, product.a), UsageError);
}

TEST_F(DriverRun, RejectsOperandsOfAnotherJob) {
  EXPECT_THROW(driver.run(product.job, product.weights, MatrixI8::Zero(11, 21)),
               std::invalid_argument);
  std::vector<std::uint8_t> less = product.weights;
  less.pop_back();
  EXPECT_THROW(driver.run(product.job, less, product.a), std::invalid_argument);
}

TEST_F(DriverRun, RejectsJobOfAnotherArray) {
  const Job job = make_job("product", {11, 20, 13}, Accumulate::kDevice, Geometry{});
  const std::string text = message_of<std::invalid_argument>([&] {
    driver.run(job, std::vector<std::uint8_t>(job.plan.weight_bytes()), MatrixI8::Zero(11, 20));
  });
  EXPECT_THAT(text, Says("64x64", "8x8"));
}

TEST_F(DriverRun, RejectsProgramLongerThanRing) {
  EXPECT_THROW(driver.run_program(0, std::vector<Command>(65536, finish()), 1000), UsageError);
  EXPECT_NO_THROW(driver.run_program(0, std::vector<Command>(1023, finish()), 1000));
}

TEST(DriverDevices, RunAfterError) {
  ReferenceDevice device(MockDevice::geometry(), kMockBytes);
  Driver driver(device);
  const Product product;
  Command bad;
  bad.opcode = static_cast<Opcode>(200);
  EXPECT_THROW(driver.run_program(0, {bad}, 1000), DeviceError);
  EXPECT_EQ(driver.run(product.job, product.weights, product.a).sums,
            reference_gemm(product.a, product.w));
}

TEST(DriverDevices, HaveLimitByBytesOfAllJobs) {
  Output output{ResultFormat(ResultCode::kInt8), 0, -128, 127};
  output.vector = StoreCommand{};
  output.vector->add = 1;
  const Job job =
      make_job("sum", {11, 20, 13}, Accumulate::kDevice, MockDevice::geometry(), output);
  const Traffic traffic = predict_traffic(job.plan);
  const std::uint64_t bytes = traffic.weights + traffic.parameters + traffic.activations +
                              traffic.operands + traffic.results;
  ASSERT_NE(traffic.parameters, 0U);
  ASSERT_NE(traffic.operands, 0U);
  const JobProgram list = make_job_program({job, job}, MockDevice::geometry());
  const Product product;
  const std::vector<std::uint8_t> parameters(traffic.parameters);
  const MatrixI8 added = MatrixI8::Zero(11, 13);
  const JobOperands operands{product.weights, product.a, &parameters, &added};
  const std::uint64_t limit = limit_of(0, [&](Driver& driver) {
    driver.run(list, {operands, operands});
  });
  EXPECT_EQ(limit, 65536 + 1000 * (2 * bytes / MockDevice::geometry().n + 1000));
}

TEST(DriverDevices, RunJobsAsOneProgram) {
  ReferenceDevice device(MockDevice::geometry(), kMockBytes);
  Driver driver(device);
  const Product product;
  const JobProgram list =
      make_job_program({product.job, product.job, product.job}, MockDevice::geometry());
  const JobOperands operands{product.weights, product.a};
  const std::vector<GemmResult> results = driver.run(list, {operands, operands, operands});
  ASSERT_EQ(results.size(), 3u);
  const Traffic traffic = predict_traffic(product.job.plan);
  std::uint64_t bytes = 0;
  for (const GemmResult& result : results) {
    EXPECT_EQ(result.sums, reference_gemm(product.a, product.w));
    bytes += result.counters[counter::kBytesWeights];
  }
  EXPECT_EQ(bytes, 3 * traffic.weights);
  EXPECT_THROW(driver.run(list, {operands, operands}), std::invalid_argument);
  // Each job's operands are looked at.
  const MatrixI8 other = MatrixI8::Zero(11, 21);
  const JobOperands wrong{product.weights, other};
  EXPECT_THROW(driver.run(list, {wrong, operands, operands}), std::invalid_argument);
  EXPECT_THROW(driver.run(list, {operands, operands, wrong}), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64
