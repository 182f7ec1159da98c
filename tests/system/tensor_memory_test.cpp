// SPDX-License-Identifier: Apache-2.0
// The tensor memory: programs that write results there and read them again take the predicted
// cycles and bytes, and leave the reference's memory; commands that do not fit it are refused.

#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/device/commands.hpp"
#include "host/device/fault.hpp"
#include "host/device/reference_device.hpp"
#include "tests/system/predicted.hpp"
#include "tests/system/random_depthwise.hpp"
#include "tests/system/random_tensor.hpp"
#include "tests/system/random_windows.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

TEST(TensorMemory, CyclesAndBytesArePredicted) {
  for (const MemorySharing sharing :
       {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
    for (const int n : {2, 4, 8}) {
      for (const unsigned bytes : {0, n - 1}) {
        SCOPED_TRACE(std::string(name(sharing)) + ", N = " + std::to_string(n) + ", " +
                     std::to_string(bytes) + " bytes per cycle");
        Rig rig = small_rig(n, sharing, bytes);
        rig.driver.enable_tensor_memory();
        for (const auto make : kThroughTensorMemory) {
          for_seeds(1500 + static_cast<unsigned>(n), 5, [&](std::mt19937& random) {
            const auto program = make(random, rig.driver.geometry(), draw(random, 1, 4));
            EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
          });
        }
      }
    }
  }
}

TEST(TensorMemory, DramCyclesArePredicted) {
  RtlOptions options = Rig::options(4);
  options.memory_bytes = kMemoryBytes;
  options.memory.sharing = MemorySharing::kDram;
  Rig rig(options);
  rig.driver.enable_tensor_memory();
  for (const auto make : kThroughTensorMemory) {
    for_seeds(1540, 5, [&](std::mt19937& random) {
      const auto program = make(random, rig.driver.geometry(), draw(random, 1, 4));
      EXPECT_TRUE(expect_predicted(rig, program, random_latency(random)));
    });
  }
}

TEST(TensorMemory, TlmTakesThePredictedCycles) {
  MemoryTiming memory;
  memory.latency = 30;
  TlmDevice device(geometry_of_array(4), memory, kMemoryBytes);
  Driver driver(device, Timeouts{0});
  driver.enable_tensor_memory();
  for_seeds(1560, 3, [&](std::mt19937& random) {
    const auto operands = operand_memory(random, driver.geometry().n);
    device.write_memory(kOperands, operands.data(), operands.size());
    const auto program = kThroughTensorMemory[0](random, driver.geometry(), 2);
    driver.run_program(0, program, kClockLimit);
    EXPECT_EQ(driver.read_counters(), predict_counters(program, driver.geometry(), memory));
  });
}

/// The smallest product, of 8-bit results to which operands are added, and a snapshot.
struct SmallProduct {
  explicit SmallProduct(const Geometry& geometry) {
    weights.count = geometry.n;
    weights.passes = 1;
    weights.address = kOperands;
    load.rows = load.stride = 5;
    load.count = load.passes = load.blocks = 1;
    load.address = kOperands;
    matmul.rows = 5;
    matmul.count = matmul.passes = matmul.blocks = 1;
    parameters.count = kParameterSetWords;
    parameters.passes = 1;
    parameters.address = kParameters;
    operands.rows = operands.stride = 5;
    operands.count = operands.passes = operands.blocks = 1;
    operands.address = kOperands;
    store.flags = flag::kVector;
    store.rows = store.stride = 5;
    store.count = store.blocks = 1;
    store.format = static_cast<std::uint32_t>(ResultCode::kInt8);
    store.low = store.function_min = 0x80;
    store.high = store.function_max = 0x7f;
    store.add = 1;
    store.result_scale = store.operand_scale = 0x3f800000;
    store.address = kResults;
    snapshot.flags = flag::kSnapshot;
    snapshot.address = kSnapshots;
  }

  std::string run_on(Driver& driver) const {
    return message_of<DeviceError>([&] {
      driver.run_program(
          0, {weights, load, parameters, operands, matmul, store, snapshot, finish()}, kClockLimit);
    });
  }

  LoadWeightsCommand weights;
  LoadActivationsCommand load;
  LoadParametersCommand parameters;
  LoadOperandsCommand operands;
  MatmulCommand matmul;
  StoreCommand store;
  FenceCommand snapshot;
};

/// The RTL and the reference, each with its tensor memory enabled.
class TensorMemoryErrors : public testing::Test {
 protected:
  TensorMemoryErrors()
      : rig_(small_rig(4)),
        reference_(rig_.driver.geometry(), kMemoryBytes),
        reference_driver_(reference_) {
    for (Driver* driver : drivers()) driver->enable_tensor_memory();
  }

  std::vector<Driver*> drivers() { return {&rig_.driver, &reference_driver_}; }
  const Geometry& geometry() const { return rig_.driver.geometry(); }
  std::uint64_t word(std::uint64_t index) const {
    return geometry().tensor_base() + index * geometry().n;
  }

  /// `error`: its code; nullptr: none. `change`: what is changed in the product.
  void expect(const char* error, const std::function<void(SmallProduct&)>& change) {
    for (Driver* driver : drivers()) {
      SmallProduct product(geometry());
      change(product);
      const std::string found = product.run_on(*driver);
      EXPECT_EQ(found.empty(), error == nullptr) << found;
      if (error != nullptr) EXPECT_NE(found.find(error), std::string::npos) << found;
    }
  }

 private:
  Rig rig_;
  ReferenceDevice reference_;
  Driver reference_driver_;
};

TEST_F(TensorMemoryErrors, WalksPastItsEndAreRefused) {
  const char* const bad = text(ErrorCode::kBadAddress);
  const std::uint64_t words = geometry().tensor_words;
  const std::uint64_t last_word = 2 * geometry().tensor_base() - geometry().n;
  expect(nullptr, [&](SmallProduct& p) { p.store.address = word(words - 5); });
  expect(bad, [&](SmallProduct& p) { p.store.address = word(words - 4); });
  expect(bad, [&](SmallProduct& p) { p.store.address = word(words); });
  expect(bad, [&](SmallProduct& p) { p.store.address = word(0) - geometry().n; });
  expect(nullptr, [&](SmallProduct& p) { p.load.address = word(words - 5); });
  expect(bad, [&](SmallProduct& p) { p.load.address = word(words - 4); });
  expect(bad, [&](SmallProduct& p) { p.load.address = last_word; });
  expect(nullptr, [&](SmallProduct& p) { p.operands.address = word(words - 5); });
  expect(bad, [&](SmallProduct& p) { p.operands.address = word(words - 4); });
  expect(bad, [&](SmallProduct& p) { p.operands.address = last_word; });
}

TEST_F(TensorMemoryErrors, OnlyTensorsAreStoredThere) {
  const char* const bad = text(ErrorCode::kBadAddress);
  expect(bad, [&](SmallProduct& p) { p.weights.address = word(0); });
  expect(bad, [&](SmallProduct& p) { p.parameters.address = word(0); });
  expect(bad, [&](SmallProduct& p) { p.snapshot.address = word(0); });
}

TEST_F(TensorMemoryErrors, PartsOfWordsAreRefused) {
  const char* const bad = text(ErrorCode::kBadOperand);
  expect(nullptr, [&](SmallProduct& p) {
    p.store.address = word(0);
    p.store.lanes = geometry().n;
  });
  expect(bad, [&](SmallProduct& p) {
    p.store.address = word(0);
    p.store.lanes = geometry().n - 1;
  });
  expect(bad, [&](SmallProduct& p) {
    p.store.address = word(0);
    p.store.first_lane = 1;
  });
}

// Settings that are kept from a STORE before write some lanes, too.
TEST_F(TensorMemoryErrors, KeptPartsAreRefused) {
  for (const bool some : {false, true}) {
    SmallProduct first(geometry()), second(geometry());
    first.store.lanes = some ? 1 : 0;
    second.store.keep = 1;
    second.store.address = word(0);
    for (Driver* driver : drivers()) {
      const std::string found = message_of<DeviceError>([&] {
        driver->run_program(
            0,
            {first.weights, first.load, first.parameters, first.operands, first.matmul, first.store,
             second.weights, second.load, second.parameters, second.operands, second.matmul,
             second.store, finish()},
            kClockLimit);
      });
      EXPECT_EQ(found.find(text(ErrorCode::kBadOperand)) != std::string::npos, some) << found;
    }
  }
}

// A device that checks itself finds a read of what no STORE wrote.
TEST(TensorMemory, ReadsOfUnwrittenWordsAreFound) {
  RtlOptions options = Rig::options(4);
  options.memory_bytes = kMemoryBytes;
  options.self_check = true;
  Rig rig(options);
  rig.driver.enable_tensor_memory();
  const Geometry& geometry = rig.driver.geometry();
  for (const bool operands : {false, true}) {
    SmallProduct product(geometry);
    (operands ? product.operands.address : product.load.address) =
        geometry.tensor_base() + 7 * std::uint64_t{geometry.n};
    EXPECT_THAT(product.run_on(rig.driver),
                Says(text(ErrorCode::kUnwritten),
                     operands ? "command 3 (LOAD_OPERANDS" : "command 1 (LOAD_ACTIVATIONS",
                     "in word 3079 of the memory 'scratchpad'"));
  }
}

// A bit of a word that is read again is found, and others change nothing.
TEST(TensorMemory, FlippedBitsAreFound) {
  RtlOptions options = Rig::options(4);
  options.memory_bytes = kMemoryBytes;
  options.self_check = options.debug = true;
  unsigned found = 0;
  for_seeds(1570, 40, [&](std::mt19937& random) {
    Rig rig(options);
    rig.driver.enable_tensor_memory();
    const Geometry& geometry = rig.driver.geometry();
    const std::vector<std::uint8_t> operands = operand_memory(random, geometry.n);
    const auto program = through_tensor_memory<random_program>(random, geometry, 1);
    const auto run = [&] {
      rig.device->write_memory(0, std::vector<std::uint8_t>(kMemoryBytes).data(), kMemoryBytes);
      rig.device->write_memory(kOperands, operands.data(), operands.size());
      return message_of<DeviceError>([&] { rig.driver.run_program(0, program, 100'000); });
    };
    ASSERT_EQ(run(), "");
    const std::vector<std::uint8_t> right = image(*rig.device);
    const std::uint64_t cycles = rig.driver.read_counters()[counter::kTotalClocks];
    Fault fault;
    fault.kind = Fault::Kind::kScratchpad;
    // Results that are read again in the end
    const auto read = std::find_if(program.rbegin(), program.rend(), [&](const Command& command) {
      return reads(command) && geometry.in_tensor_memory(command.address());
    });
    if (read == program.rend()) {
      ASSERT_NE(fresh_seed(), 0u) << "all known seeds read from it";
      return;
    }
    const std::uint64_t word = (read->address() - geometry.tensor_base()) / geometry.n;
    fault.row = geometry.scratchpad_words + static_cast<unsigned>(word);
    fault.column = draw(random, 0, 3);
    fault.bit = draw(random, 0, 7);
    const auto last = static_cast<unsigned>(cycles);
    fault.clock = rig.device->cycles() + draw(random, last / 2, last);
    rig.device->inject(fault);
    const std::string text = run();
    if (text.empty()) {
      EXPECT_EQ(image(*rig.device), right) << to_string(fault);
      return;
    }
    ++found;
    EXPECT_THAT(text,
                Says("PARITY", fmt::format("in word {} of the memory 'scratchpad'", fault.row)));
  });
  EXPECT_GE(found, at_least(seeds_to_run(6)));
}

TEST(TensorMemory, IsNotEnabledWhileBusy) {
  Rig rig = small_rig(4);
  Device& device = *rig.device;
  EXPECT_EQ(device.read_register(reg::kScratchpadWords), 9216u);
  device.write_register(reg::kTensorMemory, 1);
  device.write_register(reg::kControl, field::kControlReset.put(1));
  EXPECT_EQ(device.read_register(reg::kScratchpadWords), 3072u);
  EXPECT_EQ(device.read_register(reg::kTensorWords), rig.driver.geometry().tensor_words);
  rig.set_latency(1000);
  rig.driver.start_program(0, {finish()});
  EXPECT_THROW(device.write_register(reg::kTensorMemory, 0), DeviceError);
  EXPECT_EQ(device.read_register(reg::kTensorMemory), 1u);
}

}  // namespace
}  // namespace gemm64::system_test
