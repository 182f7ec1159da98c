// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/program_check.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "tests/commands.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

/// N = 4: two MATMULs of two tiles each, one of a block of three rows and one of a block of two.
class ProgramCheck : public testing::Test {
 protected:
  ProgramCheck() {
    geometry_.n = 4;
    program_ = {command(Opcode::kLoadWeights, 0, 16), command(Opcode::kLoadActivations, 1, 10),
                command(Opcode::kMatmul, 3, 2),       command(Opcode::kStore, 3, 1),
                command(Opcode::kMatmul, 2, 2),       command(Opcode::kStore, 2, 1),
                command(Opcode::kFinish, 0, 0)};
  }

  static Command command(Opcode opcode, std::uint32_t rows, std::uint32_t count) {
    Command command;
    command.opcode = opcode;
    command.flags = opcode == Opcode::kMatmul ? flag::kAccumulate : 0;
    command.rows = rows;
    command.count = count;
    command.passes = command.blocks = command.stride = 1;
    return command;
  }

  /// The message with which the prediction refuses the program; empty where it does not.
  std::string refusal() const {
    return message_of([&] { predict_counters(program_, geometry_, MemoryTiming{}); });
  }

  Geometry geometry_;
  std::vector<Command> program_;
};

TEST_F(ProgramCheck, TakesAProgramThatFits) { EXPECT_EQ(refusal(), ""); }

TEST_F(ProgramCheck, NamesARejectedCommand) {
  const auto before = program_;
  const auto refusal_of = [&](std::size_t index, auto change) {
    program_ = before;
    change(program_[index]);
    const std::string message = refusal();
    EXPECT_THAT(message, Says("command " + std::to_string(index) + " ("));
    return message;
  };
  EXPECT_THAT(refusal_of(0, [](Command& c) { c.opcode = static_cast<Opcode>(77); }),
              Says("no such command"));
  EXPECT_THAT(refusal_of(0, [](Command& c) { c.passes = 0; }), Says("PASSES is 0"));
  EXPECT_THAT(refusal_of(1, [](Command& c) { c.blocks = 0; }), Says("BLOCKS is 0"));
  EXPECT_THAT(refusal_of(2, [](Command& c) { c.count = 0; }), Says("COUNT is 0"));
  EXPECT_THAT(refusal_of(3, [](Command& c) { c.rows = 0; }), Says("ROWS is 0"));
  EXPECT_THAT(refusal_of(2, [](Command& c) { c.rows = 129; }),
              Says("ROWS is 129; without WINDOW it must be at most ACCUMULATOR_ROWS, 128"));
  EXPECT_THAT(refusal_of(3, [](Command& c) { c.set_address(6); }), Says("a multiple of 4"));
  EXPECT_THAT(refusal_of(0, [](Command& c) { c.set_address(std::uint64_t{1} << 40); }),
              Says("wider than 40 bits"));
  EXPECT_THAT(refusal_of(3, [](Command& c) { c.format = 15; }),
              Says("FORMAT is 15; it must be at most 2"));
  for (const std::size_t load_or_store : {0, 1, 3}) {
    SCOPED_TRACE(load_or_store);
    const auto at_end = [](Command& c) {
      const std::uint64_t words = c.opcode == Opcode::kStore ? std::uint64_t{c.rows} * 4
                                  : c.opcode == Opcode::kLoadActivations
                                      ? (c.count - 1) * c.stride + std::uint64_t{c.rows} * c.blocks
                                      : c.count;
      c.set_address((std::uint64_t{1} << 40) - words * 4);
    };
    program_ = before;
    at_end(program_[load_or_store]);
    EXPECT_EQ(refusal(), "");
    EXPECT_THAT(refusal_of(load_or_store,
                           [&](Command& c) {
                             at_end(c);
                             c.set_address(c.address() + 4);
                           }),
                Says("its words pass the end of an address space of 40 bits"));
  }
}

TEST_F(ProgramCheck, EndsRingBeforeRejectedProgram) {
  std::vector<Command> bad = program_;
  bad[3].set_address(6);
  std::vector<Command> ring = program_;
  const auto finishes = [&] {
    const std::vector<std::uint64_t> given(ring.size(), 0);
    return predict_ring(ring, given, geometry_, MemoryTiming{}).finishes.size();
  };
  ring.insert(ring.end(), program_.begin(), program_.end());
  EXPECT_EQ(finishes(), 2U);
  ring.insert(ring.end(), bad.begin(), bad.end());
  EXPECT_EQ(finishes(), 2U);
  ring.insert(ring.end(), program_.begin(), program_.end());
  EXPECT_EQ(finishes(), 2U);
  ring.erase(ring.begin(), ring.begin() + 2 * static_cast<std::ptrdiff_t>(program_.size()));
  EXPECT_EQ(finishes(), 0U);
}

TEST_F(ProgramCheck, EndsRingWithoutFinishIfIdle) {
  std::vector<Command> open = program_;
  open.pop_back();
  const RingPrediction found =
      predict_ring(open, std::vector<std::uint64_t>(open.size(), 0), geometry_, MemoryTiming{});
  ASSERT_EQ(found.finishes.size(), 1U);
  EXPECT_EQ(found.finishes[0].command, open.size() - 1);
  const Counters whole = predict_counters(program_, geometry_, MemoryTiming{});
  EXPECT_EQ(found.finishes[0].counters[counter::kBytesResults], whole[counter::kBytesResults]);
}

TEST_F(ProgramCheck, FindsTheLastWordOfStridedTiles) {
  const std::uint64_t end = std::uint64_t{1} << 40;
  // Two tiles of five rows, the second 100 rows after the first.
  program_[1].count = 2;
  program_[1].rows = 5;
  program_[1].stride = 100;
  program_[1].set_address(end - (100 + 5) * 4);
  EXPECT_EQ(refusal(), "");
  program_[1].stride = 101;
  EXPECT_THAT(refusal(), Says("command 1 (", "pass the end"));
  program_[1].stride = 0xffffffff;
  program_[1].count = 0xffffffff;
  program_[1].set_address(0);
  EXPECT_THAT(refusal(), Says("command 1 (", "pass the end"));
  program_[1] = command(Opcode::kLoadActivations, 5, 2);
  program_[2].passes = 2;  // the first has two tiles of results
  program_[0].count = 24;
  program_[1].rows = 8;
  program_[3].count = 2;
  program_[3].stride = 50;
  program_[3].set_address(end - (50 + 3) * 4 * 4);
  EXPECT_EQ(refusal(), "");
  program_[3].stride = 51;
  EXPECT_THAT(refusal(), Says("command 3 (", "pass the end"));
}

TEST_F(ProgramCheck, RequiresParametersOfByteTiles) {
  program_[3].format = ResultFormat(ResultCode::kInt8).number();
  EXPECT_THAT(refusal(), Says("command 3 (STORE ", "words of parameters", "loads (0)"));
  program_.insert(program_.begin(), command(Opcode::kLoadParameters, 0, 8));
  EXPECT_EQ(refusal(), "");
  program_[0].passes = 2;
  EXPECT_THAT(refusal(), Says("command 0 (LOAD_PARAMETERS ", "take (8)"));
  program_[6].format = ResultFormat(ResultCode::kUint8).number();
  EXPECT_EQ(refusal(), "");
}

TEST_F(ProgramCheck, ComparesBoundsAsTheFormatHasThem) {
  program_[3].low = 0x80;  // -128, or 128
  program_[3].high = 0x7f;
  EXPECT_EQ(refusal(), "");  // sums have no bounds
  program_.insert(program_.begin(), command(Opcode::kLoadParameters, 0, 8));
  program_[4].format = ResultFormat(ResultCode::kInt8).number();
  EXPECT_EQ(refusal(), "");
  program_[4].format = ResultFormat(ResultCode::kUint8).number();
  EXPECT_THAT(refusal(), Says("command 4 (STORE ",
                              "LOW is 128; with FORMAT = UINT8 it must be at most HIGH, 127"));
  std::swap(program_[4].low, program_[4].high);
  EXPECT_EQ(refusal(), "");
}

TEST_F(ProgramCheck, RequiresFinishAtTheEndOnly) {
  const auto before = program_;
  program_.pop_back();
  EXPECT_THAT(refusal(),
              Says("command 5 (STORE rows=2 count=1 blocks=1 address=0 format=0 zero=0 low=0 "
                   "high=0 stride=1): it is the last"));
  program_ = before;
  program_.push_back(before.back());
  EXPECT_THAT(refusal(), Says("command 6 (FINISH): commands follow"));
  program_.clear();
  EXPECT_THAT(refusal(), Says("no command"));
}

TEST_F(ProgramCheck, NamesMatmulWithoutLoadedWords) {
  program_[0].count = 15;
  EXPECT_THAT(refusal(), Says("command 4 (MATMUL ", "words of weights", "loads (15)"));
  program_[0].count = 7;
  EXPECT_THAT(refusal(), Says("command 2 (MATMUL "));
  program_[0].count = 16;
  program_[1].count = 9;
  EXPECT_THAT(refusal(), Says("command 4 (MATMUL ", "activations"));
}

TEST_F(ProgramCheck, NamesTheLoadThatBringsTooMuch) {
  program_[0].count = 17;
  EXPECT_THAT(refusal(), Says("command 0 (LOAD_WEIGHTS ", "take (16)"));
  program_[0].count = 16;
  program_[1].passes = 2;
  EXPECT_THAT(refusal(), Says("command 1 (LOAD_ACTIVATIONS ", "take (10)"));
}

TEST_F(ProgramCheck, CountsWhatIsKeptOnce) {
  program_[2].passes = 3;
  program_[2].flags |= flag::kRetain;
  program_[0].count = 4 * (2 * 3 + 2);
  program_[3].count = 3;
  EXPECT_EQ(refusal(), "");
  program_[2].flags = flag::kRetain;  // each tile is a block
  EXPECT_THAT(refusal(), Says("the blocks of command 2"));
  program_[3].count = 6;
  program_[4].flags = flag::kAccumulate;
  EXPECT_EQ(refusal(), "");
}

// Two blocks of two tiles, which are loaded once.
TEST_F(ProgramCheck, CountsWeightsThatAreRetainedOnce) {
  program_[2].flags |= flag::kRetainWeights;
  program_[2].blocks = program_[3].blocks = 2;
  program_[1].count = 10 + 6;
  EXPECT_EQ(refusal(), "");
  program_[0].count += 8;
  EXPECT_THAT(refusal(), Says("command 0 (LOAD_WEIGHTS ", "take (16)"));
}

// The first tile of a block comes again only if its last one had space next to it.
TEST_F(ProgramCheck, NamesRetainedWeightsThatDoNotFit) {
  for (const std::uint32_t tiles : {16u, 17u}) {  // of a buffer of 16
    SCOPED_TRACE(tiles);
    program_[0].count = 4 * (tiles + 2);
    program_[1].count = 3 * 2 * tiles + 4;
    program_[2].count = tiles;
    program_[2].flags = flag::kAccumulate | flag::kRetainWeights;
    program_[2].blocks = program_[3].blocks = 2;
    if (tiles == 16) {
      program_[0].count = 4 * 16;  // a burst may not bring those of the next MATMUL
      program_.insert(program_.begin() + 1, command(Opcode::kLoadWeights, 0, 8));
      EXPECT_EQ(refusal(), "");
      program_.erase(program_.begin() + 1);
    } else {
      EXPECT_THAT(refusal(), Says("never ends", "command 2 (MATMUL ", "waits for weights"));
    }
  }
}

TEST_F(ProgramCheck, NamesTheStoreThatDoesNotMatch) {
  program_[3].count = 2;
  EXPECT_THAT(refusal(), Says("command 3 (STORE ", "command 4 (MATMUL ", "have 2 rows"));
  program_[3].count = 1;
  program_[5].rows = 3;
  EXPECT_THAT(refusal(), Says("command 5 (STORE rows=3"));
  program_[5] = command(Opcode::kStore, 2, 3);
  EXPECT_THAT(refusal(), Says("command 5 (STORE ", "no MATMUL gives 2"));
  program_.erase(program_.begin() + 5);
  EXPECT_THAT(refusal(), Says("command 4 (MATMUL ", "no STORE for 1"));
}

TEST_F(ProgramCheck, AcceptsFencesThatCanPass) {
  program_.insert(program_.begin(), fence());
  program_.insert(program_.end() - 1, fence());
  program_.insert(program_.end() - 1, snapshot((std::uint64_t{1} << 40) - kSnapshotBytes));
  EXPECT_EQ(refusal(), "");
}

TEST_F(ProgramCheck, NamesAFenceThatNeverPasses) {
  const auto before = program_;
  const auto refusal_of = [&](const Command& fence) {
    program_ = before;
    program_.insert(program_.begin() + 4, fence);
    return refusal();
  };
  Command plain = fence();
  plain.set_address(2);
  EXPECT_EQ(refusal_of(plain), "");  // not used
  EXPECT_THAT(refusal_of(snapshot(2)), Says("command 4 (FENCE", "a multiple of 4"));
  EXPECT_THAT(refusal_of(snapshot(std::uint64_t{1} << 40)),
              Says("command 4 (FENCE", "wider than 40 bits"));
  EXPECT_THAT(refusal_of(snapshot((std::uint64_t{1} << 40) - kSnapshotBytes + 4)),
              Says("command 4 (FENCE", "pass the end"));
  // The MATMUL of the second STORE comes after the FENCE.
  program_ = before;
  std::swap(program_[4], program_[5]);
  program_.insert(program_.begin() + 5, fence());
  EXPECT_THAT(refusal(),
              testing::AllOf(Says("never ends", "command 5 (FENCE", "waits for STOREs before it"),
                             Lacks("MATMUL", "waits for weights", "waits for activations",
                                   "accumulator bank")));
  program_[5].count = 1;
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace gemm64
