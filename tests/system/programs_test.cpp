// SPDX-License-Identifier: Apache-2.0
// Programs that no plan makes: the RTL and the reference device, an independent reading of the
// command table, leave the same memory and move the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "host/device/reference_device.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kOperands = 0x1000, kOperandBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kResults = std::uint64_t{2} << 20;
constexpr std::uint64_t kClockLimit = 2'000'000;

/// Makes random programs whose streams balance. Loads come in pieces, from any aligned address, in
/// any order that the engines' queues can hold.
class Generator {
 public:
  Generator(std::mt19937& random, const Geometry& geometry)
      : random_(random), geometry_(geometry) {}

  std::vector<Command> program() {
    std::vector<Command> program;
    const unsigned matmuls = draw(random_, 1, 4);
    for (unsigned i = 0; i < matmuls; ++i) {
      std::vector<Command> part = matmul();
      program.insert(program.end(), part.begin(), part.end());
    }
    Command finish;
    finish.opcode = Opcode::kFinish;
    program.push_back(finish);
    return program;
  }

 private:
  std::uint64_t operand_address(std::uint64_t words) {
    const std::uint64_t places = (kOperandBytes - words * geometry_.n) / geometry_.n;
    return kOperands + random_() % places * geometry_.n;
  }

  /// One LOAD, or two, that bring `words` words.
  void add_loads(std::vector<Command>& part, Opcode opcode, std::uint64_t words) {
    const std::uint64_t first = draw(random_, 0, 1) != 0 ? random_() % words : 0;
    for (const std::uint64_t piece : {first, words - first}) {
      if (piece == 0) continue;
      Command load;
      load.opcode = opcode;
      load.count = static_cast<std::uint32_t>(piece);
      load.passes = load.blocks = 1;
      // The same words several times, where the number allows it.
      const auto divide = [&](std::uint32_t& factor) {
        const std::uint32_t by = draw(random_, 2, 4);
        if (load.count % by != 0) return;
        load.count /= by;
        factor = by;
      };
      divide(load.passes);
      if (opcode == Opcode::kLoadActivations) divide(load.blocks);
      load.set_address(operand_address(std::uint64_t{load.count} * load.blocks));
      part.push_back(load);
    }
  }

  std::vector<Command> matmul() {
    std::vector<Command> part;
    Command matmul;
    matmul.opcode = Opcode::kMatmul;
    matmul.flags = draw(random_, 0, 3);
    matmul.rows = draw(random_, 0, 3) == 0 ? draw(random_, 1, geometry_.accumulator_rows)
                                           : draw(random_, 1, 2 * geometry_.n + 1);
    matmul.count = draw(random_, 1, 5);
    matmul.passes = draw(random_, 1, 4);
    matmul.blocks = draw(random_, 1, 3);
    part.push_back(matmul);

    const std::uint64_t tiles = std::uint64_t{matmul.count} * matmul.passes * matmul.blocks;
    const bool retain = (matmul.flags & flag::kRetain) != 0;
    const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
    add_loads(part, Opcode::kLoadWeights, tiles * geometry_.n);
    add_loads(part, Opcode::kLoadActivations,
              std::uint64_t{matmul.rows} * (retain ? tiles / matmul.passes : tiles));

    const std::uint64_t blocks = accumulate ? tiles / matmul.count : tiles;
    const std::uint64_t first = draw(random_, 0, 1) != 0 ? random_() % blocks : 0;
    std::vector<Command> stores;
    for (const std::uint64_t piece : {first, blocks - first}) {
      if (piece == 0) continue;
      Command store;
      store.opcode = Opcode::kStore;
      store.rows = matmul.rows;
      store.count = static_cast<std::uint32_t>(piece);
      store.set_address(results_);
      results_ += (piece * store.rows * 4 + draw(random_, 0, 9)) * geometry_.n;
      stores.push_back(store);
    }
    part.insert(part.end(), stores.begin(), stores.end());
    std::shuffle(part.begin(), part.end(), random_);
    return part;
  }

  std::mt19937& random_;
  const Geometry& geometry_;
  std::uint64_t results_ = kResults;
};

void expect_same_memory(Device& found, Device& expected) {
  std::vector<std::uint8_t> bytes(kMemoryBytes), wanted(kMemoryBytes);
  found.read_memory(0, bytes.data(), bytes.size());
  expected.read_memory(0, wanted.data(), wanted.size());
  const auto at = std::mismatch(bytes.begin(), bytes.end(), wanted.begin()).first;
  EXPECT_TRUE(at == bytes.end()) << "at address " << at - bytes.begin();
}

void expect_same_programs(int n, double stall_probability, unsigned first_seed, unsigned seeds) {
  RtlOptions options = Rig::options(n, stall_probability, first_seed);
  options.memory_bytes = kMemoryBytes;
  Rig rtl(options);
  ReferenceDevice reference(rtl.driver.geometry(), kMemoryBytes);
  Driver reference_driver(reference);
  for_seeds(first_seed, seeds, [&](std::mt19937& random) {
    std::vector<std::uint8_t> operands(kOperandBytes);
    for (std::uint8_t& byte : operands) byte = static_cast<std::uint8_t>(random());
    const std::vector<std::uint8_t> nothing(kMemoryBytes);
    for (Device* device :
         {static_cast<Device*>(rtl.device.get()), static_cast<Device*>(&reference)}) {
      device->write_memory(0, nothing.data(), nothing.size());
      device->write_memory(kOperands, operands.data(), operands.size());
    }
    rtl.device->set_latency(draw(random, 1, 200));
    const std::vector<Command> program = Generator(random, rtl.driver.geometry()).program();
    std::string listing;
    for (const Command& command : program) listing += to_string(command) + "\n";
    SCOPED_TRACE(listing);
    rtl.driver.run_program(0, program, kClockLimit);
    reference_driver.run_program(0, program, kClockLimit);
    expect_same_memory(*rtl.device, reference);
    const Counters found = rtl.driver.read_counters();
    const Counters expected = reference_driver.read_counters();
    for (const std::size_t i : {counter::kBytesWeights, counter::kBytesActivations,
                                counter::kBytesCommands, counter::kBytesResults}) {
      EXPECT_EQ(found[i], expected[i]) << "bytes of " << kCounters[i].cause;
    }
    expect_causes_add_up(found);
  });
}

TEST(Programs, RandomOnesDoOnTheRtlWhatTheyDoOnTheReference) {
  expect_same_programs(2, 0, 600, 25);
  expect_same_programs(4, 0, 630, 25);
  expect_same_programs(8, 0, 660, 25);
}

TEST(Programs, RandomOnesDoTheSameUnderStalls) {
  expect_same_programs(2, 0.4, 700, 15);
  expect_same_programs(8, 0.4, 720, 15);
}

}  // namespace
}  // namespace gemm64::system_test
