// SPDX-License-Identifier: Apache-2.0
// Broken programs on the RTL and on the reference device, and that the comparison finds what it is
// there to find.

#include "host/check/program_truth.hpp"
#include "host/device/reference_device.hpp"
#include "host/faults/broken_campaign.hpp"
#include "sim/models/rtl_device.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"

namespace gemm64::system_test {
namespace {

std::unique_ptr<Device> make(std::uint32_t array, const MemoryTiming& memory, std::uint32_t seed,
                             std::uint64_t bytes, bool self_check) {
  RtlOptions options;
  options.self_check = self_check;
  options.n = static_cast<int>(array);
  options.memory = memory;
  options.seed = seed;
  options.memory_bytes = bytes;
  return make_rtl_device(options);
}

std::unique_ptr<Device> make_rtl(std::uint32_t array, const MemoryTiming& memory,
                                 std::uint32_t seed, std::uint64_t bytes) {
  return make(array, memory, seed, bytes, false);
}

std::unique_ptr<Device> make_checked_rtl(std::uint32_t array, const MemoryTiming& memory,
                                         std::uint32_t seed, std::uint64_t bytes) {
  return make(array, memory, seed, bytes, true);
}

std::unique_ptr<Device> make_reference(std::uint32_t array, const MemoryTiming& /*memory*/,
                                       std::uint32_t /*seed*/, std::uint64_t bytes) {
  Geometry geometry;
  geometry.n = array;
  return std::make_unique<ReferenceDevice>(geometry, bytes);
}

BrokenReport campaign(std::uint32_t array, std::uint64_t count, std::uint32_t seed,
                      const MakeRtl& make) {
  BrokenOptions options;
  options.array = array;
  options.count = count;
  options.seed = seed;
  return run_broken_programs(options, make);
}

void expect_holds(const BrokenReport& report) {
  for (const TriedProgram& tried : report.tries) {
    EXPECT_TRUE(tried.outcome != BrokenOutcome::kDiffers &&
                tried.outcome != BrokenOutcome::kNextWrong)
        << "seed " << report.seed << ", program " << tried.index << " (" << name(tried.kind)
        << "): " << tried.changes[0] << ": " << tried.rtl << ", reference " << tried.reference
        << ": " << tried.why;
  }
  EXPECT_TRUE(report.holds());
}

TEST(BrokenPrograms, AreRefusedAlikeOrGiveTheSame) {
  for (const std::uint32_t array : {2U, 4U, 8U}) {
    const BrokenReport report = campaign(array, 60, array, make_rtl);
    expect_holds(report);
    for (const auto outcome :
         {BrokenOutcome::kSameResult, BrokenOutcome::kSameRefusal, BrokenOutcome::kWaited}) {
      EXPECT_GT(report.count(outcome), 0u) << name(outcome);
    }
  }
}

TEST(BrokenPrograms, AreNoFaultsOfADeviceWithChecks) {
  for (const std::uint32_t array : {4U, 8U}) {
    const BrokenReport report = campaign(array, 150, 20 + array, make_checked_rtl);
    expect_holds(report);
    unsigned unwritten = 0;
    for (const TriedProgram& tried : report.tries) {
      EXPECT_THAT(tried.rtl, testing::Not(testing::HasSubstr("PARITY"))) << tried.index;
      EXPECT_THAT(tried.rtl, testing::Not(testing::HasSubstr("CHECKSUM"))) << tried.index;
      unwritten += tried.rtl.find("UNWRITTEN") != std::string::npos;
    }
    EXPECT_GT(unwritten, 0u);
  }
}

// Programs that once ended differently: a MATMUL of a window that took words of products, and a
// FINISH ahead of a MATMUL that waits for ever.
TEST(BrokenPrograms, ThatOnceDifferedDoNoMore) {
  struct Drawn {
    std::uint32_t array, seed;
    std::uint64_t number;
  };
  for (const Drawn& drawn : {Drawn{4, 7, 4204}, {8, 1, 1699}, {8, 1, 5769}, {4, 1, 2283}}) {
    BrokenOptions options;
    options.array = drawn.array;
    options.seed = drawn.seed;
    options.first = drawn.number;
    options.count = 1;
    expect_holds(run_broken_programs(options, make_rtl));
  }
}

/// The device after it, but for the n-th write of the tail, before which a bit of memory changes.
class Forgetful : public WrappedDevice<Device&> {
 public:
  Forgetful(std::unique_ptr<Device> inner, unsigned spoilt)
      : WrappedDevice(*inner), inner_(std::move(inner)), spoilt_(spoilt) {}
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    WrappedDevice::write_register(offset, value);
    if (offset == reg::kRingTail && ++programs_ == spoilt_) spoil();
  }

 private:
  void spoil() {
    std::uint8_t byte = 0;
    inner_->read_memory(0, &byte, 1);
    byte ^= 1;
    inner_->write_memory(0, &byte, 1);
  }

  const std::unique_ptr<Device> inner_;
  const unsigned spoilt_;
  unsigned programs_ = 0;
};

TEST(BrokenPrograms, FindsWrongByte) {
  for (const unsigned spoilt : {1U, 2U}) {
    const BrokenReport report = campaign(64, 10, 3,
                                         [&](std::uint32_t array, const MemoryTiming& memory,
                                             std::uint32_t seed, std::uint64_t bytes) {
                                           return std::make_unique<Forgetful>(
                                               make_reference(array, memory, seed, bytes), spoilt);
                                         });
    EXPECT_FALSE(report.holds());
    EXPECT_EQ(report.count(spoilt == 1 ? BrokenOutcome::kDiffers : BrokenOutcome::kNextWrong), 10u);
  }
}

TEST(BrokenPrograms, FollowFromSeedAndNumber) {
  const BrokenReport all = campaign(64, 8, 5, make_reference);
  BrokenOptions options;
  options.array = 64;
  options.seed = 5;
  options.first = 6;
  options.count = 1;
  const BrokenReport one = run_broken_programs(options, make_reference);
  ASSERT_EQ(one.tries.size(), 1u);
  EXPECT_EQ(one.tries[0].changes, all.tries[6].changes);
  EXPECT_EQ(one.tries[0].rtl, all.tries[6].rtl);
}

Command command(Opcode opcode, std::uint64_t address) {
  Command c;
  c.opcode = opcode;
  c.rows = c.count = c.passes = c.blocks = c.stride = 1;
  c.set_address(address);
  return c;
}

TEST(ProgramTruth, LoadRacesWithStoreWithoutFence) {
  const Geometry geometry;
  std::vector<Command> program{command(Opcode::kStore, 0), command(Opcode::kFence, 0),
                               command(Opcode::kLoadWeights, 64)};
  const auto raced = [&] { return ProgramTruth(program, geometry, 0x10000, 0x20000).is_raced(); };
  program[1].count = 0;
  EXPECT_FALSE(raced());
  program[1].count = 1;  // the STORE may be open still
  EXPECT_TRUE(raced());
  program[2].set_address(256);  // after its row of 64 int32
  EXPECT_FALSE(raced());
  program[0].set_address(0x10000);  // onto the ring
  EXPECT_TRUE(raced());
}

TEST(ProgramTruth, SeparatesErrorsOfProgram) {
  const Geometry geometry;
  std::vector<Command> program{command(Opcode::kLoadWeights, 0x20000),
                               command(Opcode::kLoadWeights, 0), command(Opcode::kStore, 0)};
  program[2].count = 0;
  const ProgramTruth truth(program, geometry, 0x10000, 0x20000);
  EXPECT_TRUE(truth.has_error(ErrorCode::kBusDecode, Engine::kWeights, 0));
  EXPECT_FALSE(truth.has_error(ErrorCode::kBusDecode, Engine::kActivations, 0));
  EXPECT_FALSE(truth.has_error(ErrorCode::kBusDecode, Engine::kWeights, 1));
  EXPECT_TRUE(truth.has_error(ErrorCode::kBadOperand, Engine::kCommands, 2));
  EXPECT_FALSE(truth.has_error(ErrorCode::kBadOperand, Engine::kCommands, 1));
  EXPECT_FALSE(truth.has_error(ErrorCode::kBadAddress, Engine::kCommands, 2));
}

}  // namespace
}  // namespace gemm64::system_test
