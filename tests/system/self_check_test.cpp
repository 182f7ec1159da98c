// SPDX-License-Identifier: Apache-2.0
// Accelerators that find faults of their own array: what they find, what that costs, and what
// becomes of it.

#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

RtlOptions self_checking(int n, double stalls = 0) {
  RtlOptions options = Rig::options(n, stalls);
  options.self_check = true;
  return options;
}

class SelfCheck : public testing::TestWithParam<int> {};

TEST_P(SelfCheck, ReportsThatItIsBuilt) {
  Rig rig(self_checking(GetParam()));
  EXPECT_EQ(rig.device->read_register(reg::kSelfCheck),
            field::kSelfCheckChecksum.mask() | field::kSelfCheckParity.mask() |
                field::kSelfCheckCommands.mask() | field::kSelfCheckRows.mask());
}

TEST_P(SelfCheck, FaultRegistersAreZeroBeforeAFault) {
  Rig rig(self_checking(GetParam()));
  std::mt19937 random(1);
  for (const unsigned products : {0, 1}) {
    for (unsigned i = 0; i < products; ++i) expect_exact(rig, {{9, 17, 9}}, random);
    for (const auto offset : {reg::kFaultTile, reg::kFaultRow, reg::kFaultMemory}) {
      EXPECT_EQ(rig.device->read_register(offset), 0u)
          << "register " << offset << " after " << products << " products";
    }
  }
}

TEST_P(SelfCheck, CostsNoCycle) {
  Rig rig(self_checking(GetParam()));
  for_seeds(1, 25, [&](std::mt19937& random) {
    expect_exact(rig, random_workload(random, static_cast<unsigned>(GetParam()), 70), random);
  });
}

TEST_P(SelfCheck, FindsNothingUnderStalls) {
  Rig rig(self_checking(GetParam(), 0.3));
  for_seeds(1, 10, [&](std::mt19937& random) {
    const Workload work = random_workload(random, static_cast<unsigned>(GetParam()), 50);
    expect_values(rig, work, random_operands(random, work.shape));
  });
}

TEST_P(SelfCheck, FindsNothingAfterResetInATile) {
  Rig rig(self_checking(GetParam()));
  std::mt19937 random(7);
  const Workload work{{40, 33, 29}};
  const Job job = make_job(rig, work);
  for (unsigned cycles = 100; cycles < 400; cycles += 7) {
    rig.driver.start_program(job.layout.ring, job.program);
    rig.device->run(cycles);
    expect_exact(rig, work, random);  // which begins with a soft reset
  }
}

constexpr std::uint64_t kOperands = 0x10000, kResults = 0x20000, kCycles = 20'000;

/// A product of `rows` rows, of which a STORE takes `stored`.
std::vector<Command> product(std::uint32_t n, std::uint32_t rows, std::uint32_t stored) {
  StoreCommand results = store(kResults, 1);
  results.rows = results.stride = stored;
  return {load_weights(kOperands, n), load_activations(kOperands, rows), matmul(rows), results,
          finish()};
}

TEST_P(SelfCheck, ReportsAStoreOfUncomputedRows) {
  const auto n = static_cast<std::uint32_t>(GetParam());
  for (const std::uint32_t before : {0U, 1U, 40U}) {  // rows of the blocks before in both banks
    Rig rig(self_checking(GetParam()));
    if (before != 0) {
      rig.driver.run_program(0, product(n, before, before), kCycles);
      rig.driver.run_program(0, product(n, before, before), kCycles);
    }
    rig.driver.run_program(0, product(n, 5, 5), kCycles);
    const std::string text =
        message_of<DeviceError>([&] { rig.driver.run_program(0, product(n, 5, 8), kCycles); });
    EXPECT_THAT(text, Says("UNWRITTEN", "word 5 of the memory 'accumulator bank")) << before;
    rig.driver.run_program(0, product(n, 5, 5), kCycles);  // after a soft reset
    EXPECT_FALSE(message_of<DeviceError>([&] {
                   rig.driver.run_program(0, product(n, 3, 4), kCycles);
                 }).empty())
        << "rows computed before the reset do not count";
  }
}

/// One tap of a window over `loaded` pixels of an image of four, all of which a block reads.
std::vector<Command> pixels(std::uint32_t n, std::uint32_t loaded) {
  SetWindowCommand set;
  set.kernel_height = set.kernel_width = set.stride_height = set.stride_width = 1;
  set.dilation_height = set.dilation_width = set.group_passes = 1;
  set.height = set.width = set.out_height = set.out_width = 2;
  set.capacity = 6;
  set.row_step = set.image_step = 1;
  LoadActivationsCommand load = load_activations(kOperands, 1);
  load.flags = flag::kWindow | flag::kStart;
  load.rows = load.stride = loaded;
  load.capacity = set.capacity;
  MatmulCommand block = matmul(4);
  block.flags |= flag::kWindow;
  block.new_pixels = block.freed_pixels = loaded;
  StoreCommand results = store(kResults, 1);
  results.rows = results.stride = 4;
  return {set, load, load_weights(kOperands, n), block, results, finish()};
}

TEST_P(SelfCheck, ReportsAWindowOverUnloadedPixels) {
  const auto n = static_cast<std::uint32_t>(GetParam());
  Rig rig(self_checking(GetParam()));
  rig.driver.run_program(0, pixels(n, 4), kCycles);
  rig.driver.reset();  // what was loaded before it does not count
  for (const std::uint32_t loaded : {1U, 3U}) {
    const std::string text =
        message_of<DeviceError>([&] { rig.driver.run_program(0, pixels(n, loaded), kCycles); });
    EXPECT_THAT(text, Says("UNWRITTEN", fmt::format("word {} of the memory 'scratchpad'", loaded)));
    rig.driver.run_program(0, pixels(n, 4), kCycles);
    rig.driver.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Arrays, SelfCheck, testing::Values(4, 8),
                         [](const auto& test) { return "N" + std::to_string(test.param); });

}  // namespace
}  // namespace gemm64::system_test
