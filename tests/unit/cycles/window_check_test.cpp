// SPDX-License-Identifier: Apache-2.0

#include "tests/test.hpp"
#include "tests/unit/cycles/windows.hpp"

namespace gemm64 {
namespace {

/// 5x5 pixels of two planes in blocks of a row: LOAD_WEIGHTS, LOAD_PARAMETERS, SET_WINDOW, then a
/// LOAD_ACTIVATIONS, the first block's MATMUL and STORE, the second block's LOAD_ACTIVATIONS ...
class WindowCheck : public testing::Test {
 protected:
  static constexpr std::size_t kSet = 2, kLoad = 3, kMatmul = 4;

  WindowCheck() {
    geometry_.n = 4;
    program_ = program_of(plan_window(same(5, 2), 5, geometry_));
  }

  /// The message with which the program is refused where a command is changed.
  std::string refusal_of(std::size_t index, const std::function<void(Command&)>& change) const {
    std::vector<Command> program = program_;
    change(program[index]);
    const std::string message = refusal(program, geometry_);
    EXPECT_THAT(message, Says("command " + std::to_string(index) + " ("));
    return message;
  }

  Geometry geometry_;
  std::vector<Command> program_;
};

TEST_F(WindowCheck, TakesAProgramThatFits) { EXPECT_EQ(refusal(program_, geometry_), ""); }

TEST_F(WindowCheck, NamesWhatIsWrongWithALayer) {
  const auto refused = [&](const std::function<void(Command&)>& change) {
    return refusal_of(kSet, change);
  };
  EXPECT_THAT(refused([](Command& c) { c.capacity = 0; }), Says("CAPACITY is 0"));
  EXPECT_THAT(refused([](Command& c) { c.capacity = 9217; }),
              Says("CAPACITY is 9217; it must be at most SCRATCHPAD_WORDS, 9216"));
  EXPECT_THAT(refused([](Command& c) { c.kernel_height = 0; }), Says("KERNEL_HEIGHT is 0"));
  EXPECT_THAT(refused([](Command& c) { c.kernel_width = 0; }), Says("KERNEL_WIDTH is 0"));
  EXPECT_THAT(refused([](Command& c) { c.group_passes = 0; }), Says("GROUP_PASSES is 0"));
  EXPECT_THAT(refused([](Command& c) { c.stride_width = 26; }),
              Says("STRIDE_WIDTH is 26; it must be at most CAPACITY, 25"));
  EXPECT_THAT(refused([](Command& c) { c.dilation_width = 26; }), Says("DILATION_WIDTH is 26"));
  EXPECT_THAT(refused([](Command& c) { c.row_step = 25; }),
              Says("ROW_STEP is 25; it must be below CAPACITY, 25"));
  EXPECT_THAT(refused([](Command& c) { c.row_step = 99; }),
              Says("ROW_STEP is 99; it must be below CAPACITY, 25"));
  EXPECT_THAT(refused([](Command& c) { c.image_step = 25; }), Says("IMAGE_STEP is 25"));
  EXPECT_THAT(refused([](Command& c) { c.tap_row_step = 25; }), Says("TAP_ROW_STEP is 25"));
}

TEST_F(WindowCheck, NamesWhatIsWrongWithALoad) {
  const auto refused = [&](const std::function<void(Command&)>& change) {
    return refusal_of(kLoad, change);
  };
  EXPECT_THAT(refused([](Command& c) { c.passes = 2; }), Says("PASSES is 2"));
  EXPECT_THAT(refused([](Command& c) { c.blocks = 3; }), Says("BLOCKS is 3"));
  EXPECT_THAT(refused([](Command& c) { c.rows = 26; }),
              Says("ROWS is 26; with WINDOW it must be at most CAPACITY, 25"));
  EXPECT_THAT(refused([](Command& c) { c.slot = 25; }), Says("SLOT is 25"));
  EXPECT_THAT(refused([](Command& c) { c.place = 9216 - 2 * 25 + 1; }),
              Says("PLACE + COUNT * CAPACITY is 9217"));
  EXPECT_THAT(refused([](Command& c) { c.count = 0; }), Says("COUNT is 0"));
}

// More pixels than an accumulator bank has rows: of a product they would be refused.
TEST_F(WindowCheck, TakesMorePixelsThanABankHasRows) {
  geometry_.accumulator_rows = 8;
  EXPECT_GT(program_[kLoad].rows, 8u);
  EXPECT_EQ(refusal(program_, geometry_), "");
  EXPECT_THAT(refusal_of(kLoad, [](Command& c) { c.flags = 0; }),
              Says("ROWS is 10; without WINDOW it must be at most ACCUMULATOR_ROWS, 8"));
}

TEST_F(WindowCheck, NamesWhatIsWrongWithAMatmul) {
  const auto refused = [&](const std::function<void(Command&)>& change) {
    return refusal_of(kMatmul, change);
  };
  EXPECT_THAT(refused([](Command& c) { c.blocks = 2; }), Says("BLOCKS is 2"));
  EXPECT_THAT(refused([](Command& c) { c.flags = flag::kWindow; }), Says("ACCUMULATE"));
  EXPECT_THAT(refused([](Command& c) { c.count = 0x10000; }), Says("COUNT is 65536"));
  EXPECT_THAT(refused([](Command& c) { c.rows = 257; }),
              Says("ROWS is 257; with WINDOW it must be at most ACCUMULATOR_ROWS + "
                   "ACCUMULATOR_ROWS, 256"));
}

// Rows beyond a bank are a block of their own, which takes a STORE and parameters.
TEST_F(WindowCheck, TakesBlocksOfBothBanks) {
  geometry_.accumulator_rows = 4;
  for (const bool in_order : {true, false}) {
    std::vector<Command> program;
    for (Command command : program_) {
      if (command.opcode == Opcode::kLoadParameters) command.passes *= 2;
      if (command.opcode != Opcode::kStore) program.push_back(command);
      if (command.opcode != Opcode::kMatmul) continue;
      ASSERT_EQ(command.rows, 5u);
      ASSERT_EQ(command.passes, 2u);
      Command stored = *std::find_if(program_.begin(), program_.end(), [](const Command& one) {
        return one.opcode == Opcode::kStore;
      });
      stored.count = stored.blocks = 1;
      for (std::uint32_t i = 0; i < 4; ++i) {
        stored.rows = (i % 2 == 0) == in_order ? 4 : 1;
        program.push_back(stored);
      }
    }
    const std::string message = refusal(program, geometry_);
    if (in_order) EXPECT_EQ(message, "");
    if (!in_order) EXPECT_THAT(message, Says("the blocks of command 4 (MATMUL", "have 4 rows"));
  }
}

TEST_F(WindowCheck, NamesConflictsWithEarlierCommands) {
  const std::size_t next = 6;  // the second block's LOAD_ACTIVATIONS
  EXPECT_THAT(refusal_of(next, [](Command& c) { ++c.slot; }), Says("without a gap"));
  EXPECT_THAT(refusal_of(next, [](Command& c) { --c.capacity; }), Says("its CAPACITY"));
  EXPECT_THAT(refusal_of(kMatmul, [](Command& c) { c.slot = 25; }),
              Says("SLOT must be below the CAPACITY"));
  EXPECT_THAT(refusal_of(kMatmul, [](Command& c) { c.count = 9216 / 25 + 1; }),
              Says("COUNT * CAPACITY"));
  EXPECT_THAT(refusal_of(kMatmul, [](Command& c) { c.in_row = 1u << 17; }),
              Says("IN_ROW is 131072; with WINDOW it must be at most 131071"));
  program_[kSet].capacity = 24;
  EXPECT_THAT(refusal(program_, geometry_),
              Says("command 4 (MATMUL", "has the CAPACITY of the pixels"));
}

TEST_F(WindowCheck, WantsALayerBeforeItsMatmuls) {
  program_.erase(program_.begin() + kSet);
  EXPECT_THAT(refusal(program_, geometry_), Says("command 3 (MATMUL", "no SET_WINDOW before it"));
}

// After another program in a ring the layer may be that one's.
TEST_F(WindowCheck, TakesTheLayerOfAProgramBefore) {
  std::vector<Command> ring = program_;
  program_.erase(program_.begin() + kSet);
  ring.insert(ring.end(), program_.begin(), program_.end());
  const std::vector<std::uint64_t> given(ring.size(), 0);
  EXPECT_EQ(predict_ring(ring, given, geometry_, MemoryTiming{}).finishes.size(), 2u);
}

TEST_F(WindowCheck, NamesMatmulWithoutLoadedWords) {
  --std::find_if(program_.rbegin(), program_.rend(), [](const Command& c) {
      return c.opcode == Opcode::kLoadActivations;
    })->rows;
  EXPECT_THAT(refusal(program_, geometry_),
              Says("command 11 (MATMUL ", "take more words of pixels", "loads (48)"));
}

TEST_F(WindowCheck, NamesTheLoadThatBringsTooMuch) {
  --program_[kMatmul].new_pixels;
  EXPECT_THAT(refusal(program_, geometry_),
              Says("(LOAD_ACTIVATIONS ", "more words of pixels", "take (48)"));
}

TEST_F(WindowCheck, NamesFreeOfMissingPixels) {
  EXPECT_THAT(refusal_of(kMatmul, [](Command& c) { c.freed_pixels = 11; }),
              Says("free 11 pixels; of those that they claim, 10 were loaded"));
}

TEST_F(WindowCheck, NamesLoadNeverFreed) {
  std::vector<Command> program = program_;
  const auto last = std::find_if(program.rbegin(), program.rend(),
                                 [](const Command& c) { return c.opcode == Opcode::kMatmul; });
  --last->freed_pixels;
  EXPECT_THAT(refusal(program, geometry_),
              Says("(LOAD_ACTIVATIONS ", "no MATMUL frees all of its pixels: 24 of 25"));
}

TEST_F(WindowCheck, NamesMatmulWithoutLoadedPixels) {
  std::vector<Command> program;
  for (const Command& command : program_) {
    if (command.opcode != Opcode::kLoadActivations) program.push_back(command);
  }
  EXPECT_THAT(refusal(program, geometry_), Says("(MATMUL ", "words of pixels", "loads (0)"));
}

// Pixels of further planes are those of the loads before, not new ones.
TEST_F(WindowCheck, CountsPixelsOfTheFirstPlaneAlone) {
  program_[kLoad].count = 1;
  Command second = program_[kLoad];
  second.place = second.capacity;
  program_.insert(program_.begin() + kLoad + 1, second);
  EXPECT_EQ(refusal(program_, geometry_), "");
  program_[kLoad + 1].place = 0;
  EXPECT_THAT(refusal(program_, geometry_), Says("no MATMUL frees all of its pixels"));
}

TEST_F(WindowCheck, NamesMatmulOfMixedActivations) {
  const auto matmul = [](const Command& c) { return c.opcode == Opcode::kMatmul; };
  const std::vector<Command> before = program_;
  for (Command& command : program_) {
    if (matmul(command)) command.flags = flag::kAccumulate;
  }
  // As many words of weights as before.
  for (Command& command : program_) {
    if (matmul(command)) command.count *= 9;
  }
  EXPECT_THAT(refusal(program_, geometry_), Says("command 4 (MATMUL", "activations of a product",
                                                 "command 3 (LOAD_ACTIVATIONS", "of a window"));
}

// The second chunk has no room until the first block is done, which waits for both.
TEST_F(WindowCheck, NamesCommandsOfAHang) {
  for (Command& command : program_) {
    if (command.opcode == Opcode::kSetWindow || command.opcode == Opcode::kLoadActivations) {
      command.capacity = 14;
      if (command.place != 0) command.place = 14;
    }
    command.slot %= 14;
    command.row_step %= 14;
    command.image_step %= 14;
    command.tap_row_step %= 14;
  }
  Command& first = program_[kMatmul];
  ++first.new_pixels;
  Command& second = program_[kMatmul + 3];
  ASSERT_EQ(second.opcode, Opcode::kMatmul);
  --second.new_pixels;
  EXPECT_THAT(refusal(program_, geometry_),
              Says("the program never ends: command ", "command 6 (LOAD_ACTIVATIONS ",
                   "waits for room for its pixels in the scratchpad", "command 4 (MATMUL ",
                   "waits for activations"));
}

}  // namespace
}  // namespace gemm64
