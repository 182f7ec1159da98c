// SPDX-License-Identifier: Apache-2.0
#include <Vim2col_check_w100.h>
#include <fmt/format.h>

#include "host/device/registers.hpp"
#include "host/device/window_order.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr std::uint32_t kWords = 100;  // of the scratchpad

Command good_set() {
  Command c;
  c.opcode = Opcode::kSetWindow;
  c.kernel_height = c.kernel_width = c.group_passes = 1;
  c.capacity = 10;
  c.out_height = 7;
  c.out_width = 5;
  return c;
}

Command good_load() {
  Command c;
  c.opcode = Opcode::kLoadActivations;
  c.flags = flag::kWindow | flag::kStart;
  c.rows = c.capacity = 10;
  c.count = c.passes = c.blocks = 1;
  return c;
}

Command good_matmul() {
  Command c;
  c.opcode = Opcode::kMatmul;
  c.flags = flag::kWindow | flag::kAccumulate;
  c.rows = c.count = c.passes = c.blocks = 1;
  return c;
}

void give(Vim2col_check_w100& model, const Command& command) {
  std::uint8_t bytes[kCommandBytes];
  command.encode(bytes);
  model.valid_i = 1;
  model.is_set_i = command.opcode == Opcode::kSetWindow;
  model.is_load_i = command.opcode == Opcode::kLoadActivations;
  model.accumulate_i = (command.flags & flag::kAccumulate) != 0;
  model.start_i = (command.flags & flag::kStart) != 0;
  model.rows_i = static_cast<std::uint16_t>(command.rows);
  model.count_i = command.count;
  model.passes_i = command.passes;
  model.blocks_i = command.blocks;
  for (unsigned i = 0; i < 32; ++i) set_lane(model.window_i, i, bytes[32 + i]);
}

struct Case {
  const char* what;
  bool bad;
  Command command;
  std::function<void(Command&)> change;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"a layer", false, good_set(), [](Command&) {}},
      {"capacity 0", true, good_set(), [](Command& c) { c.capacity = 0; }},
      {"capacity of all", false, good_set(), [](Command& c) { c.capacity = kWords; }},
      {"capacity of more", true, good_set(), [](Command& c) { c.capacity = kWords + 1; }},
      {"no kernel rows", true, good_set(), [](Command& c) { c.kernel_height = 0; }},
      {"no kernel columns", true, good_set(), [](Command& c) { c.kernel_width = 0; }},
      {"no passes in a group", true, good_set(), [](Command& c) { c.group_passes = 0; }},
      {"stride once around", false, good_set(), [](Command& c) { c.stride_width = 10; }},
      {"stride beyond", true, good_set(), [](Command& c) { c.stride_width = 11; }},
      {"dilation once around", false, good_set(), [](Command& c) { c.dilation_width = 10; }},
      {"dilation beyond", true, good_set(), [](Command& c) { c.dilation_width = 11; }},
      {"row step", false, good_set(), [](Command& c) { c.row_step = 9; }},
      {"row step once around", true, good_set(), [](Command& c) { c.row_step = 10; }},
      {"image step once around", true, good_set(), [](Command& c) { c.image_step = 10; }},
      {"tap row step once around", true, good_set(), [](Command& c) { c.tap_row_step = 10; }},
      {"a load", false, good_load(), [](Command&) {}},
      {"more pixels than there is room", true, good_load(), [](Command& c) { c.rows = 11; }},
      {"last slot", false, good_load(), [](Command& c) { c.slot = 9; }},
      {"slot beyond", true, good_load(), [](Command& c) { c.slot = 10; }},
      {"two passes", true, good_load(), [](Command& c) { c.passes = 2; }},
      {"two blocks", true, good_load(), [](Command& c) { c.blocks = 2; }},
      {"all planes", false, good_load(), [](Command& c) { c.count = 10; }},
      {"one more", true, good_load(), [](Command& c) { c.count = 11; }},
      {"planes by far", true, good_load(), [](Command& c) { c.count = 0xffffffff; }},
      {"last place", false, good_load(), [](Command& c) { c.place = 90; }},
      {"place beyond", true, good_load(), [](Command& c) { c.place = 91; }},
      {"place beyond by far", true, good_load(), [](Command& c) { c.place = 0xffffffff; }},
      {"a product", false, good_matmul(), [](Command&) {}},
      {"two blocks of it", true, good_matmul(), [](Command& c) { c.blocks = 2; }},
      {"sums not added", true, good_matmul(), [](Command& c) { c.flags = flag::kWindow; }},
      {"most planes", false, good_matmul(), [](Command& c) { c.count = 10; }},
      {"a plane more", true, good_matmul(), [](Command& c) { c.count = 11; }},
      {"its last slot", false, good_matmul(), [](Command& c) { c.slot = 9; }},
      {"its slot beyond", true, good_matmul(), [](Command& c) { c.slot = 10; }},
      {"the output's last pixel", false, good_matmul(),
       [](Command& c) { c.out_row = 6, c.out_column = 4; }},
      {"a row below the output", true, good_matmul(), [](Command& c) { c.out_row = 7; }},
      {"a column next to it", true, good_matmul(), [](Command& c) { c.out_column = 5; }},
      {"planes beyond the field", true, good_matmul(), [](Command& c) { c.count = 0x10000; }},
      {"a row's lowest", false, good_matmul(), [](Command& c) { c.in_row = -(1u << 17); }},
      {"a row below", true, good_matmul(), [](Command& c) { c.in_row = -(1u << 17) - 1; }},
      {"a column's highest", false, good_matmul(),
       [](Command& c) { c.in_column = (1u << 17) - 1; }},
      {"a column above", true, good_matmul(), [](Command& c) { c.in_column = 1u << 17; }},
      {"a column by 2^18", true, good_matmul(), [](Command& c) { c.in_column = 1u << 18; }},
  };
  return all;
}

/// The module after a reset.
class Check : public Bench<Vim2col_check_w100> {
 public:
  Check() {
    (*this)->valid_i = (*this)->tensor_i = 0;
    for (unsigned t = 0; t < 3; ++t) step();
  }
  void take(const std::vector<Command>& commands) {
    for (const Command& command : commands) {
      give(**this, command);
      step();
    }
  }
  /// Returns if the last of these commands is refused.
  bool refuses(const std::vector<Command>& commands) {
    take(commands);
    (*this)->valid_i = 0;
    step();
    settle();
    return (*this)->error_o != 0;
  }
};

TEST(WindowCheck, FindsWhatDoesNotFitTwoCyclesLater) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.what);
    Check bench;
    if (c.command.opcode != Opcode::kSetWindow) bench.take({good_set(), good_load()});
    Command command = c.command;
    c.change(command);
    give(*bench, command);
    bench->tag_i = 0x8077;
    bench.step();
    bench->valid_i = 0;
    bench->tag_i = 78;
    bench.settle();
    EXPECT_EQ(bench->error_o, 0);
    bench.edge();
    bench.settle();
    EXPECT_EQ(bench->error_o, c.bad);
    if (c.bad) EXPECT_EQ(bench->error_tag_o, 0x8077);
    bench.edge();
    bench.settle();
    EXPECT_EQ(bench->error_o, 0);
  }
}

TEST(WindowCheck, ComparesEachBitOfTheOutput) {
  for (const bool of_rows : {false, true}) {
    for (unsigned bit = 0; bit < 16; ++bit) {
      for (const bool bad : {false, true}) {
        SCOPED_TRACE(fmt::format("{} of 2^{}", of_rows ? "rows" : "columns", bit));
        const std::uint32_t size = 1U << bit, place = bad ? size : size - 1;
        Command set = good_set(), matmul = good_matmul();
        (of_rows ? set.out_height : set.out_width) = size;
        (of_rows ? matmul.out_row : matmul.out_column) = place;
        EXPECT_EQ(Check().refuses({set, good_load(), matmul}), bad);
      }
    }
  }
}

/// A command of some that differ in what they must have in common.
Command random_command(std::mt19937& random) {
  Command c;
  switch (random() % 4) {
    case 0:
      c = good_set();
      c.out_height = draw(random, 5, 7);
      break;
    case 1:
      c = good_matmul();
      c.out_row = draw(random, 0, 6);
      c.new_pixels = random() % 2;
      c.freed_pixels = draw(random, 0, 2);
      break;
    default:
      c = good_load();
      c.rows = draw(random, 1, 4);
      if (random() % 3 != 0) c.flags = flag::kWindow;
  }
  c.capacity = random() % 8 == 0 ? 5 : 4;
  c.slot = draw(random, 0, 3);
  if (c.opcode == Opcode::kLoadActivations && random() % 4 == 0) c.place = c.capacity;
  return c;
}

// As the reference device finds it, up to the first that is refused.
TEST(WindowCheck, AcceptsCommandPerCycle) {
  Geometry geometry;
  geometry.scratchpad_words = kWords;
  unsigned taken = 0;
  for_seeds(1, 2000, [&](std::mt19937& random) {
    Check bench;
    WindowOrder order;
    for (unsigned t = 0;; ++t) {
      Command command = random_command(random);
      for (unsigned tries = 0; tries < 6 && order.refusal(command, geometry) != nullptr; ++tries) {
        command = random_command(random);
      }
      const bool bad = order.refusal(command, geometry) != nullptr;
      give(*bench, command);
      bench->tag_i = static_cast<std::uint16_t>(t);
      bench.settle();
      ASSERT_EQ(bench->error_o, 0) << t;
      bench.edge();
      if (bad) {
        bench->valid_i = 0;
        bench.step();
        bench.settle();
        ASSERT_EQ(bench->error_o, 1) << t;
        ASSERT_EQ(bench->error_tag_o, t);
        return;
      }
      order.add(command);
      ++taken;
      bench->valid_i = 0;
      if (random() % 3 == 0) bench.step();
      if (t == 100) return;
    }
  });
  EXPECT_GE(taken, 2000u);
}

// MATMULs may come ahead of their pixels, which then must have their SET_WINDOW's CAPACITY: of the
// first convolution, and of one after another.
TEST(WindowCheck, PixelsHaveCapacityOfTheirLayer) {
  for (const bool is_first : {true, false}) {
    for (const std::uint32_t capacity : {9u, 10u}) {
      Check bench;
      Command set = good_set(), matmul = good_matmul(), load = good_load();
      load.rows = matmul.new_pixels = 1;
      if (!is_first) {
        Command last = matmul;
        last.freed_pixels = 1;
        bench.take({set, load, last});
      }
      set.capacity = 9;
      load.capacity = capacity;
      EXPECT_EQ(bench.refuses({set, matmul, load}), capacity != 9) << capacity << ", " << is_first;
    }
  }
}

// Without a SET_WINDOW since the reset no CAPACITY is the same as its layer's, the one before the
// reset neither; and a MATMUL has no window.
TEST(WindowCheck, AResetForgetsTheLayer) {
  Command load = good_load();
  load.rows = 1;
  for (const std::vector<Command>& after : {std::vector{load, load}, {good_matmul()}}) {
    Check bench;
    EXPECT_FALSE(bench.refuses({good_set(), load, load, good_matmul()}));
    bench->rst_ni = 0;
    bench.step();
    bench->rst_ni = 1;
    EXPECT_TRUE(bench.refuses(after));
  }
}

TEST(WindowCheck, AnOutputMayHave65535Rows) {
  for (const std::uint32_t row : {39999u, 40000u}) {
    Command set = good_set(), matmul = good_matmul();
    set.out_height = 40000;
    matmul.out_row = row;
    EXPECT_EQ(Check().refuses({set, good_load(), matmul}), row == 40000) << row;
  }
}

TEST(WindowCheck, AResetOfOneCycleIsEnough) {
  for (unsigned cycles = 0; cycles < 2; ++cycles) {
    Bench<Vim2col_check_w100> bench;
    Command command = good_set();
    command.capacity = 0;
    give(*bench, command);
    bench.step();
    bench->valid_i = 0;
    for (unsigned t = 0; t < cycles; ++t) bench.step();
    bench->rst_ni = 0;
    bench.step();
    bench->rst_ni = 1;
    for (unsigned t = 0; t < 3; ++t) {
      bench.settle();
      EXPECT_EQ(bench->error_o, 0) << cycles << ", " << t;
      bench.edge();
    }
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
