// SPDX-License-Identifier: Apache-2.0
#include <Vcommand_processor_n128.h>
#include <Vcommand_processor_n64.h>
#include <Vcommand_processor_n64_checked.h>
#include <Vcommand_processor_n8.h>

#include "host/device/registers.hpp"
#include "host/device/window_order.hpp"
#include "tests/rtl/harness.hpp"

namespace gemm64::rtl_test {
namespace {

constexpr std::uint64_t kBase = 0x12345000c0;

Command command(Opcode opcode, std::uint32_t rows, std::uint32_t count, std::uint32_t passes,
                std::uint32_t blocks, std::uint64_t address) {
  Command c{opcode, 3, rows, count, passes, blocks};
  c.set_address(address);
  c.format = static_cast<std::uint32_t>(ResultCode::kInt32);
  return c;
}

Command strided(std::uint32_t stride, Command command) {
  command.stride = stride;
  return command;
}

Command bounded(ResultCode format, std::uint32_t low, std::uint32_t high, Command command) {
  command.format = static_cast<std::uint32_t>(format);
  command.low = low;
  command.high = high;
  return command;
}

Command of_format(std::uint32_t format, Command command) {
  command.format = format;
  return command;
}

struct Gates {
  Gate tail, request, beat, engine;
  Gate answer = {};  // to the writes of a STORE
};

/// The fetcher between a host that moves the tail, a memory, and engines that take commands.
template <class Model, unsigned kN, unsigned kDepth>
class Trial {
 public:
  Trial(std::vector<Command> program, unsigned mask, Gates gates)
      : program_(std::move(program)), mask_(mask), gates_(std::move(gates)) {
    bench->stop_i = bench->beat_i = bench->tensor_i = 0;
    bench->ring_base_i = kBase;
    bench->ring_mask_i = static_cast<std::uint16_t>(mask);
  }

  void operator()() {
    while (dispatched < program_.size()) {
      clock();
      if (testing::Test::HasFailure()) return;
    }
    clock();
    EXPECT_EQ(bench->idle_o, 1);
    EXPECT_EQ(bench->quiet_o, 1);
  }

  void clock() {
    if (moved_ < program_.size() && moved_ - dispatched < mask_ && gates_.tail()) ++moved_;
    bench->ring_tail_i = static_cast<std::uint16_t>(moved_ & mask_);
    bench->request_ready_i = gates_.request();
    bench->beat_i = received_ < asked_ && gates_.beat();
    std::array<std::uint8_t, kCommandBytes> bytes{};
    if (bench->beat_i) program_[received_].encode(bytes.data());
    for (unsigned i = 0; i < kN; ++i) {
      // In a wider beat, the bytes next to the command differ from it in every bit.
      const bool outside = i / kCommandBytes != place(received_) % kN / kCommandBytes;
      const std::uint8_t byte = bytes[(beat_ * kN + i) % kCommandBytes];
      set_lane(bench->beat_data_i, i, kN > kCommandBytes && outside ? std::uint8_t(~byte) : byte);
    }
    bench->beat_last_i = beat_ + 1 == kBeats;
    bench->beat_error_i = bench->beat_i && received_ == error_command;
    const unsigned weights = gates_.engine(), activations = gates_.engine(),
                   compute = gates_.engine(), results = gates_.engine();
    bench->ready_i = static_cast<std::uint8_t>(
        bit(Engine::kWeights, weights) | bit(Engine::kActivations, activations) |
        bit(Engine::kCompute, compute) | bit(Engine::kResults, results) |
        bit(Engine::kParameters, activations) |
        bit(Engine::kOperands, weights));  // all of four in turn
    bench->engines_idle_i = gates_.engine();
    bench->left_i = 0;
    bench->store_done_i = open_ != 0 && gates_.answer();
    bench.settle();
    check();
    if (bench->request_valid_o && bench->request_ready_i) ++asked_;
    if (bench->beat_i && ++beat_ == kBeats) beat_ = 0, ++received_;
    bench.edge();
  }

  Bench<Model> bench;
  std::size_t dispatched = 0;
  std::size_t error_command = ~std::size_t{0};
  std::uint64_t base = kBase;  // of the ring
  bool late_error = false;     // this cycle's error is of a walk that was dispatched

 private:
  static constexpr unsigned kBeats = kN < kCommandBytes ? kCommandBytes / kN : 1;

  std::uint64_t place(std::size_t index) const { return base + (index & mask_) * kCommandBytes; }

  static unsigned bit(Engine engine, unsigned value) {
    return value << static_cast<unsigned>(engine);
  }

  void check() {
    EXPECT_EQ(bench->request_valid_o,
              asked_ < moved_ && asked_ - dispatched < kDepth && !bench->stop_i)
        << "as soon as the tail has moved and there is room";
    if (bench->request_valid_o) {
      EXPECT_EQ(bench->request_address_o, place(asked_) / kN * kN);
      EXPECT_EQ(bench->request_beats_o, kBeats);
    }
    const bool here = dispatched < received_;  // from the cycle after its last beat
    const unsigned opcode = here ? static_cast<unsigned>(program_[dispatched].opcode) : 0;
    const bool send = here && !bench->stop_i && (bench->error_code_o == 0 || late_error);
    const Command next = here ? program_[dispatched] : Command{};
    const bool passes = opcode == 6 && open_ <= next.count;
    const bool snapshot = opcode == 6 && (next.flags & flag::kSnapshot) != 0;
    const unsigned valid =
        bit(Engine::kWeights, opcode == 1) | bit(Engine::kActivations, opcode == 2) |
        bit(Engine::kCompute, opcode == 3 || opcode == 8) | bit(Engine::kParameters, opcode == 7) |
        bit(Engine::kResults, opcode == 4 || (passes && snapshot)) |
        bit(Engine::kOperands, opcode == 9);
    EXPECT_EQ(bench->valid_o, send ? valid : 0);
    EXPECT_EQ(bench->finish_o, send && opcode == 5 && bench->engines_idle_i);
    if (send) {
      std::array<std::uint8_t, kCommandBytes> bytes{};
      for (unsigned i = 0; i < kCommandBytes; ++i)
        bytes[i] = lane<std::uint8_t>(bench->command_o, i);
      const Command shown = Command::decode(bytes.data());
      EXPECT_TRUE(shown == program_[dispatched]) << to_string(shown);
    }
    EXPECT_EQ(bench->tag_o, dispatched & 0xffff);
    EXPECT_EQ(bench->ring_head_o, dispatched & mask_);
    EXPECT_EQ(bench->idle_o, dispatched == moved_);
    EXPECT_EQ(bench->quiet_o, asked_ == received_);
    EXPECT_EQ(bench->bus_error_o, bench->beat_error_i);
    if (bench->bus_error_o) {
      EXPECT_EQ(bench->bus_error_tag_o, error_command);
    }
    const bool taken =
        (bench->valid_o & bench->ready_i) != 0 || bench->finish_o || (send && passes && !snapshot);
    const bool rejected = bench->error_o && !late_error;
    EXPECT_EQ(bench->dispatch_o, taken || rejected);
    EXPECT_EQ(bench->wait_memory_o, !here && dispatched < moved_);
    EXPECT_EQ(bench->wait_engine_o, here && !taken && !rejected);
    open_ -= bench->store_done_i;
    open_ += taken && opcode == 4;
    dispatched += taken;
  }

  std::vector<Command> program_;
  unsigned mask_;
  Gates gates_;
  std::size_t moved_ = 0, asked_ = 0, received_ = 0;  // commands
  unsigned beat_ = 0;                                 // of the command that comes in
  unsigned open_ = 0;                                 // STOREs
};

using TrialN8 = Trial<Vcommand_processor_n8, 8, 2>;        // 8 beats a command
using TrialN64 = Trial<Vcommand_processor_n64, 64, 4>;     // one
using TrialN128 = Trial<Vcommand_processor_n128, 128, 4>;  // half a one

/// One of a window, or one that describes a layer.
Command any_window(std::mt19937& random, Command c) {
  c.flags |= flag::kWindow | flag::kAccumulate;
  c.blocks = 1;
  c.capacity = draw(random, 0, 3) == 0 ? 9000 : 300;
  c.slot = draw(random, 0, 299);
  if (c.opcode == Opcode::kLoadActivations) {
    c.rows = draw(random, 1, c.capacity);  // more than a bank of sums has
    c.passes = c.count = 1;
    c.place = draw(random, 0, 200);
  } else if (c.opcode == Opcode::kMatmul) {
    c.capacity = 0;
    c.out_row = c.out_column = 0;                             // any layer's output has that pixel
    c.in_row = draw(random, 0, (1u << 18) - 1) - (1u << 17);  // 18 bits with the sign
    c.in_column = draw(random, 0, (1u << 18) - 1) - (1u << 17);
    c.new_pixels = random() & 0xffff;
    c.freed_pixels = random() & 0xffff;
  } else {
    c.count = c.rows = c.slot = 0;  // means nothing
    for (std::uint32_t* field :
         {&c.kernel_height, &c.kernel_width, &c.stride_height, &c.stride_width, &c.dilation_height,
          &c.dilation_width, &c.pad_top, &c.pad_left, &c.height, &c.width, &c.out_height,
          &c.out_width, &c.row_step, &c.image_step, &c.tap_row_step, &c.group_passes}) {
      *field = draw(random, 1, 255);
    }
  }
  return c;
}

/// One that passes every check.
Command any_command(std::mt19937& random) {
  const auto number = [&random](unsigned most) { return draw(random, 1, most); };
  Command c =
      command(static_cast<Opcode>(draw(random, 1, 9)), draw(random, 1, 16), number(1 << 10),
              number(~0u - 1), number(1 << 10), (std::uint64_t{random()} << 7) & 0x3fffffffff);
  c.flags = draw(random, 0, 255) & ~(flag::kWindow | flag::kVector);
  c.format = draw(random, 0, 2);
  c.zero = draw(random, 0, 255);
  c.low = draw(random, 0, 127);
  c.high = draw(random, c.low, 127);
  c.stride = number(1 << 16);
  if (c.opcode == Opcode::kFence) c.count = draw(random, 0, 3);
  const bool may = c.opcode == Opcode::kLoadActivations || c.opcode == Opcode::kMatmul;
  if (c.opcode == Opcode::kSetWindow || (may && draw(random, 0, 1) != 0))
    return any_window(random, c);
  return c;
}

/// That many of them, windows in a legal order.
std::vector<Command> any_program(std::mt19937& random, std::size_t count) {
  const Geometry geometry;
  WindowOrder order;
  std::vector<Command> program;
  while (program.size() < count) {
    const Command c = any_command(random);
    if (c.opcode == Opcode::kSetWindow || (c.flags & flag::kWindow) != 0) {
      if (order.refusal(c, geometry) != nullptr) continue;
      order.add(c);
    }
    program.push_back(c);
  }
  return program;
}

TEST(Commands, GoToEnginesInOrderWithAnyPattern) {
  std::mt19937 random(1);
  const std::vector<Command> program = any_program(random, 10);
  for_all_patterns(4, [&](Gate beat, Gate engine) {
    TrialN8(program, 3, {Gate(), Gate(), beat, engine})();
    TrialN64(program, 7, {Gate(), Gate(), beat, engine})();
    TrialN128(program, 7, {Gate(), Gate(), beat, engine})();
  });
  for_all_patterns(4, [&](Gate tail, Gate request) {
    TrialN8(program, 1, {tail, request, Gate(), Gate()})();
    TrialN64(program, 3, {tail, request, Gate(), Gate()})();
  });
}

TEST(Commands, GoToTheirEnginesAtRandom) {
  for_seeds(1, 40, [](std::mt19937& random) {
    const std::vector<Command> program = any_program(random, 100);
    const auto gates = [&random] {
      return Gates{Gate::random(random), Gate::random(random), Gate::random(random),
                   Gate::random(random), Gate::random(random)};
    };
    TrialN8(program, (2u << draw(random, 0, 5)) - 1, gates())();
    TrialN64(program, (2u << draw(random, 0, 15)) - 1, gates())();
    TrialN128(program, (2u << draw(random, 0, 15)) - 1, gates())();
  });
}

// Of three STOREs, which are answered one in eight cycles: the FENCE passes a cycle after the
// answer that leaves `count` of them.
TEST(Commands, AFencePassesACycleAfterItsAnswer) {
  for (const bool snapshot : {false, true}) {
    for (unsigned count = 0; count < 5; ++count) {
      Command fence = command(Opcode::kFence, 0, count, 0, 0, 64);
      fence.flags = snapshot ? flag::kSnapshot : 0;
      std::vector<Command> program(3, command(Opcode::kStore, 1, 1, 0, 1, 64));
      program.push_back(fence);
      TrialN64 trial(program, 7, {{}, {}, {}, {}, Gate(1u << 31, 32)});
      unsigned answers = 0;
      std::uint64_t last = 0;  // clock of the last answer
      while (trial.dispatched < 4) {
        trial.clock();
        if (!trial.bench->store_done_i) continue;
        ++answers;
        last = trial.bench.clock() - 1;
      }
      EXPECT_EQ(answers, count < 3 ? 3 - count : 0) << count;
      if (count < 3) {
        EXPECT_EQ(trial.bench.clock() - 1, last + 1) << count;
      }
    }
  }
}

TEST(Commands, BusErrorNamesFetchedCommand) {
  for (unsigned bad = 0; bad < 5; ++bad) {
    std::vector<Command> program(5, command(Opcode::kStore, 1, 1, 0, 1, 64));
    TrialN8 trial(program, 7, {});
    trial.error_command = bad;
    trial();
  }
}

TEST(Commands, AreNumberedTo65535) {
  std::vector<Command> program(32770, command(Opcode::kStore, 1, 1, 0, 1, 64));
  TrialN64 trial(program, 0xffff, {});
  trial.error_command = 32768;
  trial();
}

TEST(Commands, StopFetchesAndDispatchesNothing) {
  TrialN8 trial(std::vector<Command>(9, command(Opcode::kStore, 1, 1, 0, 1, 64)), 15, {});
  while (trial.dispatched < 3) trial.clock();
  trial.bench->stop_i = 1;
  for (unsigned t = 0; t < 100; ++t) trial.clock();
  EXPECT_EQ(trial.dispatched, 3u);
  EXPECT_EQ(trial.bench->quiet_o, 1);
}

/// The second command is refused two cycles after its dispatch.
void expect_late_error(TrialN8& trial, ErrorCode code) {
  while (trial.dispatched < 2) {
    trial.clock();
    EXPECT_EQ(trial.bench->error_o, 0);
  }
  trial.bench.settle();
  EXPECT_EQ(trial.bench->error_o, 0);
  trial.clock();
  trial.late_error = true;
  trial.bench.settle();
  EXPECT_EQ(trial.bench->error_o, 1);
  EXPECT_EQ(trial.bench->error_code_o, static_cast<unsigned>(code));
  EXPECT_EQ(trial.bench->error_tag_o, 1);
}

TEST(Commands, WalksThatPassTheEndAreReportedLate) {
  const std::uint64_t top = 1ull << 40;
  const Command good = command(Opcode::kStore, 1, 1, 0, 1, top - 32);
  const auto snapshot = [](std::uint64_t address) {
    Command c = command(Opcode::kFence, 0, 9, 0, 0, address);
    c.flags = flag::kSnapshot;
    return c;
  };
  for (const Command& bad :
       {command(Opcode::kLoadWeights, 0, 2, 1, 0, top - 8),
        command(Opcode::kLoadParameters, 0, 2, 9, 0, top - 8),
        strided(1, command(Opcode::kLoadActivations, 1, 6, 5, 1, top - 40)),
        strided(3, command(Opcode::kLoadActivations, 2, 2, 5, 1, top - 32)),
        strided(0, command(Opcode::kLoadActivations, 2, 1, 5, 3, top - 40)),
        command(Opcode::kStore, 2, 1, 0, 1, top - 56),
        bounded(ResultCode::kInt8, 0, 0, command(Opcode::kStore, 2, 1, 0, 1, top - 8)),
        bounded(ResultCode::kUint8, 0, 0,
                strided(7, command(Opcode::kStore, 2, 2, 0, 1, top - 64))),
        strided(1, command(Opcode::kStore, 1, 3, 0, 1, top - 64)),
        command(Opcode::kStore, 1, 1, 0, 3, top - 64), snapshot(top - kCounters.size() * 8 + 8)}) {
    SCOPED_TRACE(to_string(bad));
    TrialN8 trial({good, bad, good, good, good, good}, 7, {});
    expect_late_error(trial, ErrorCode::kBadAddress);
    trial.clock();
    trial.late_error = false;
    trial();
  }
}

// The third command would lie at address 0 again.
TEST(Commands, ARingThatPassesTheEndIsReported) {
  TrialN64 trial(std::vector<Command>(2, command(Opcode::kStore, 1, 1, 0, 1, 64)), 7, {});
  trial.bench->ring_base_i = (1ull << 40) - 128;
  trial.base = (1ull << 40) - 128;
  trial();
  trial.bench->ring_tail_i = 3;
  trial.bench.settle();
  EXPECT_EQ(trial.bench->request_valid_o, 0);
  EXPECT_EQ(trial.bench->error_o, 1);
  EXPECT_EQ(trial.bench->error_code_o, static_cast<unsigned>(ErrorCode::kBadAddress));
  EXPECT_EQ(trial.bench->error_tag_o, 2);
  EXPECT_EQ(trial.bench->dispatch_o, 1);
  EXPECT_EQ(trial.bench->wait_memory_o, 0);
}

// Whatever a window lacks is reported as late; tests of gemm64_im2col_check check its parts.
TEST(Commands, WindowsThatDoNotFitAreReportedLate) {
  Command load = command(Opcode::kLoadActivations, 17, 1, 1, 1, 0);
  load.flags = flag::kWindow;
  load.capacity = 17;
  Command matmul = command(Opcode::kMatmul, 1, 1, 1, 1, 0);
  matmul.flags = flag::kWindow | flag::kAccumulate;
  Command set = command(Opcode::kSetWindow, 0, 0, 0, 0, 0);
  set.kernel_height = set.kernel_width = set.group_passes = set.capacity = 1;
  set.stride_width = set.dilation_width = 1;
  const Command good[] = {load, matmul, set};
  Command bad[] = {load, matmul, set};
  bad[0].place = 9216 - 16;
  bad[1].blocks = 2;
  bad[2].capacity = 9217;
  for (unsigned i = 0; i < 3; ++i) {
    SCOPED_TRACE(to_string(bad[i]));
    TrialN8 trial({load, bad[i], matmul, set, load, load}, 7, {});
    expect_late_error(trial, ErrorCode::kBadOperand);
    TrialN8({good[i]}, 1, {})();
  }
}

// What the element-wise unit cannot take, tests of gemm64_elementwise_check tell.
TEST(Commands, SettingsThatDoNotFitAreReportedLate) {
  Command good = command(Opcode::kStore, 1, 1, 0, 1, 64);
  good.flags = flag::kVector;
  good.format = 1;
  good.lanes = 8;
  Command bad = good;
  bad.lanes = 9;
  Command plain = bad;
  plain.flags = 0;
  TrialN8({good, plain}, 3, {})();
  TrialN8 trial({good, bad, good, good}, 7, {});
  expect_late_error(trial, ErrorCode::kBadOperand);
}

/// What is found in a command before its dispatch.
ErrorCode error_of_fetched(const Command& command) {
  TrialN8 trial({command}, 1, {});
  for (unsigned t = 0; t < 9; ++t) trial.clock();  // asked for, eight beats
  trial.bench.settle();
  const auto code = static_cast<ErrorCode>(trial.bench->error_code_o);
  EXPECT_EQ(trial.bench->error_o, code != ErrorCode::kNone);
  trial.clock();
  EXPECT_EQ(trial.dispatched, code == ErrorCode::kNone ? 1u : 0u);
  return code;
}

TEST(Commands, RowsOfAWindowAreNoRowsOfSums) {
  Command load = command(Opcode::kLoadActivations, 17, 1, 1, 1, 0);  // banks have 16
  load.capacity = 17;
  for (const bool window : {false, true}) {
    load.flags = window ? flag::kWindow : 0;
    EXPECT_EQ(error_of_fetched(load) != ErrorCode::kNone, !window);
  }
}

// Those of a window's are of both banks, which gemm64_im2col_check finds later.
TEST(Commands, RowsOfAMatmulAreOfABank) {
  for (const unsigned rows : {16u, 17u}) {
    Command matmul = command(Opcode::kMatmul, rows, 1, 1, 1, 0);
    for (const bool window : {false, true}) {
      matmul.flags = (window ? flag::kWindow : 0) | flag::kAccumulate;
      EXPECT_EQ(error_of_fetched(matmul) != ErrorCode::kNone, rows == 17 && !window);
    }
  }
}

/// The beat that holds a command, with some bits flipped.
template <class Model>
void set_beat(Model& model, const Command& command, const std::vector<unsigned>& flipped = {}) {
  std::array<std::uint8_t, kCommandBytes> bytes{};
  command.encode(bytes.data());
  for (const unsigned bit : flipped) {
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1u << bit % 8);
  }
  for (unsigned i = 0; i < kCommandBytes; ++i) set_lane(model.beat_data_i, i, bytes[i]);
}

TEST(Commands, TheEndOfARingIsReportedInItsTurn) {
  TrialN64 trial(std::vector<Command>(3, command(Opcode::kStore, 1, 1, 0, 1, 64)), 7, {});
  trial.bench->ring_base_i = (1ull << 40) - 128;
  trial.base = (1ull << 40) - 128;
  trial.bench->ring_tail_i = 3;
  trial.bench->request_ready_i = 1;
  trial.bench->ready_i = 0;
  for (unsigned i = 0; i < 2; ++i) trial.bench.step();  // both that can be are asked for
  set_beat(*trial.bench, command(Opcode::kStore, 1, 1, 0, 1, 64));
  trial.bench->beat_i = trial.bench->beat_last_i = 1;
  for (unsigned i = 0; i < 2; ++i) trial.bench.step();
  trial.bench->beat_i = 0;
  for (unsigned i = 0; i < 5; ++i) {
    trial.bench.settle();
    EXPECT_EQ(trial.bench->quiet_o, 1);
    EXPECT_EQ(trial.bench->error_o, 0) << "two commands wait for their engine";
    EXPECT_EQ(trial.bench->wait_engine_o, 1);
    trial.bench.edge();
  }
  trial.bench->ready_i = 0x3f;
  for (unsigned i = 0; i < 2; ++i) trial.bench.step();
  trial.bench.settle();
  EXPECT_EQ(trial.bench->error_o, 0) << "the walk of the last one is looked at first";
  trial.bench.step();
  trial.bench.settle();
  EXPECT_EQ(trial.bench->error_o, 1);
  EXPECT_EQ(trial.bench->error_tag_o, 2);
}

// What is looked at after its dispatch, and a command right after it that is bad by itself.
TEST(Commands, OfTwoBadOnesTheOlderIsNamed) {
  const Command walk = command(Opcode::kStore, 1, 1, 0, 1, (1ull << 40) - 64);
  const Command window = command(Opcode::kSetWindow, 0, 0, 0, 0, 0);  // CAPACITY is 0
  for (const Command& first : {walk, window}) {
    SCOPED_TRACE(to_string(first));
    TrialN64 trial({first, first}, 7, {});
    trial.bench->ring_base_i = kBase & ~63ull;
    trial.bench->ring_tail_i = 2;
    trial.bench->request_ready_i = 1;
    trial.bench->ready_i = 0x3f;
    for (unsigned i = 0; i < 2; ++i) trial.bench.step();  // both are asked for
    trial.bench->beat_i = trial.bench->beat_last_i = 1;
    for (const Command& c : {first, command(Opcode::kStore, 0, 1, 0, 1, 64)}) {
      set_beat(*trial.bench, c);
      trial.bench.step();
    }
    trial.bench->beat_i = 0;
    unsigned cycles = 0;
    for (; cycles < 9 && !trial.bench->error_o; ++cycles) {
      trial.bench.edge();
      trial.bench.settle();
    }
    EXPECT_LT(cycles, 9u);
    EXPECT_EQ(trial.bench->error_tag_o, 0);
  }
}

/// What comes of a command, all bits of which are in `flipped` changed on their way.
template <class Model>
ErrorCode error_of(const Command& command, const std::vector<unsigned>& flipped) {
  Bench<Model> bench;
  bench->stop_i = bench->beat_i = bench->beat_error_i = 0;
  bench->ring_base_i = kBase & ~63ull;
  bench->ring_mask_i = 7;
  bench->ring_tail_i = 1;
  bench->request_ready_i = 1;
  bench->ready_i = 0;
  bench->engines_idle_i = bench->left_i = bench->store_done_i = 0;
  for (unsigned i = 0; i < 2; ++i) bench.step();
  set_beat(*bench, command, flipped);
  bench->beat_i = bench->beat_last_i = 1;
  bench.step();
  bench->beat_i = 0;
  bench.settle();
  EXPECT_EQ(bench->valid_o != 0, !bench->error_o);
  return bench->error_o ? static_cast<ErrorCode>(bench->error_code_o) : ErrorCode::kNone;
}

TEST(Commands, AFlippedBitIsFoundBeforeDispatch) {
  const Command store = command(Opcode::kStore, 1, 1, 0, 1, 64);
  const Command weights = command(Opcode::kLoadWeights, 0, 64, 3, 0, 0x7ff000);
  for (const Command& sent : {store, weights}) {
    EXPECT_EQ(error_of<Vcommand_processor_n64_checked>(sent, {}), ErrorCode::kNone);
    EXPECT_EQ(error_of<Vcommand_processor_n64>(sent, {}), ErrorCode::kNone);
    for (unsigned bit = 0; bit < 8 * kCommandBytes; ++bit) {
      ASSERT_EQ(error_of<Vcommand_processor_n64_checked>(sent, {bit}), ErrorCode::kParity)
          << "bit " << bit;
      const bool last = bit + 3 >= 8 * kCommandBytes;
      ASSERT_EQ(error_of<Vcommand_processor_n64_checked>(
                    sent, last ? std::vector<unsigned>{bit}
                               : std::vector<unsigned>{bit, bit + 1, bit + 3}),
                ErrorCode::kParity)
          << "bits from " << bit << " on";
    }
    // Bits that mean nothing, and the check itself, are unused elsewhere.
    for (const unsigned bit : {32 * 6 + 4, 32 * 6 + 7, 32 * 15 + 31}) {
      EXPECT_EQ(error_of<Vcommand_processor_n64>(sent, {static_cast<unsigned>(bit)}),
                ErrorCode::kNone);
    }
  }
}

struct Case {
  const char* what;
  Command command;
  ErrorCode code;
};

TEST(Commands, AreCheckedBeforeTheyGoToAnEngine) {
  constexpr auto kWeights = Opcode::kLoadWeights, kLoad = Opcode::kLoadActivations,
                 kMatmul = Opcode::kMatmul, kStore = Opcode::kStore,
                 kParameters = Opcode::kLoadParameters;
  constexpr auto kInt8 = ResultCode::kInt8, kUint8 = ResultCode::kUint8;
  const Command kOne = command(kStore, 1, 1, 0, 1, 0);
  const auto fence = [](std::uint32_t flags, std::uint32_t count, std::uint64_t address) {
    Command c = command(Opcode::kFence, 0, count, 0, 0, address);
    c.flags = flags;
    return c;
  };
  const Case cases[] = {
      {"opcode 0", command(static_cast<Opcode>(0), 1, 1, 1, 1, 0), ErrorCode::kBadOpcode},
      {"opcode 11", command(static_cast<Opcode>(11), 1, 1, 1, 1, 0), ErrorCode::kBadOpcode},
      {"opcode 129", command(static_cast<Opcode>(129), 1, 1, 1, 1, 0), ErrorCode::kBadOpcode},
      {"weights, count 0", command(kWeights, 0, 0, 1, 0, 0), ErrorCode::kBadOperand},
      {"weights, passes 0", command(kWeights, 0, 1, 0, 0, 0), ErrorCode::kBadOperand},
      {"weights, no rows, no blocks", command(kWeights, 0, 1, 1, 0, 0), ErrorCode::kNone},
      {"weights, unaligned", command(kWeights, 0, 1, 1, 0, 4), ErrorCode::kBadAddress},
      {"weights, beyond 40 bits", command(kWeights, 0, 1, 1, 0, 1ull << 40),
       ErrorCode::kBadAddress},
      {"weights, beyond 40 bits by far", command(kWeights, 0, 1, 1, 0, 1ull << 63),
       ErrorCode::kBadAddress},
      {"weights, last address", command(kWeights, 0, 1, 1, 0, (1ull << 40) - 8), ErrorCode::kNone},
      {"operands, rows 17", command(Opcode::kLoadOperands, 17, 1, 1, 1, 0), ErrorCode::kNone},
      {"operands, passes 0", command(Opcode::kLoadOperands, 1, 1, 0, 1, 0), ErrorCode::kBadOperand},
      {"load, count 0", command(kLoad, 1, 0, 1, 1, 0), ErrorCode::kBadOperand},
      {"load, passes 0", command(kLoad, 1, 1, 0, 1, 0), ErrorCode::kBadOperand},
      {"load, blocks 0", command(kLoad, 1, 1, 1, 0, 0), ErrorCode::kBadOperand},
      {"load, rows 0", command(kLoad, 0, 1, 1, 1, 0), ErrorCode::kBadOperand},
      {"load, rows 17 of 16", command(kLoad, 17, 1, 1, 1, 0), ErrorCode::kBadOperand},
      {"load, unaligned", command(kLoad, 1, 1, 1, 1, 9), ErrorCode::kBadAddress},
      {"load, last tile", strided(3, command(kLoad, 2, 2, 1, 1, (1ull << 40) - 40)),
       ErrorCode::kNone},
      {"parameters, count 0", command(kParameters, 0, 0, 1, 0, 0), ErrorCode::kBadOperand},
      {"parameters, passes 0", command(kParameters, 0, 1, 0, 0, 0), ErrorCode::kBadOperand},
      {"parameters, no rows, no blocks", command(kParameters, 0, 1, 1, 0, 0), ErrorCode::kNone},
      {"parameters, unaligned", command(kParameters, 0, 1, 1, 0, 4), ErrorCode::kBadAddress},
      {"matmul, rows 0", command(kMatmul, 0, 1, 1, 1, 0), ErrorCode::kBadOperand},
      {"matmul, rows 17 of 16", command(kMatmul, 17, 1, 1, 1, 0), ErrorCode::kBadOperand},
      {"matmul, rows 16", command(kMatmul, 16, 1, 1, 1, 0), ErrorCode::kNone},
      {"matmul, count 0", command(kMatmul, 1, 0, 1, 1, 0), ErrorCode::kBadOperand},
      {"matmul, passes 0", command(kMatmul, 1, 1, 0, 1, 0), ErrorCode::kBadOperand},
      {"matmul, blocks 0", command(kMatmul, 1, 1, 1, 0, 0), ErrorCode::kBadOperand},
      {"matmul has no address", command(kMatmul, 1, 1, 1, 1, 3), ErrorCode::kNone},
      {"store, rows 0", command(kStore, 0, 1, 0, 1, 0), ErrorCode::kBadOperand},
      {"store, rows 17 of 16", command(kStore, 17, 1, 0, 1, 0), ErrorCode::kBadOperand},
      {"store, count 0", command(kStore, 1, 0, 0, 1, 0), ErrorCode::kBadOperand},
      {"store, blocks 0", command(kStore, 1, 1, 0, 0, 0), ErrorCode::kBadOperand},
      {"store, no passes", command(kStore, 16, 1, 0, 1, 0), ErrorCode::kNone},
      {"store, unaligned", command(kStore, 1, 1, 0, 1, 2), ErrorCode::kBadAddress},
      {"store, no such format", of_format(15, command(kStore, 1, 1, 0, 1, 0)),
       ErrorCode::kBadOperand},
      {"store, int8 from 0 to 0", bounded(kInt8, 0, 0, kOne), ErrorCode::kNone},
      {"store, int8 from -128 to 127", bounded(kInt8, 0x80, 0x7f, kOne), ErrorCode::kNone},
      {"store, int8 from 127 to -128", bounded(kInt8, 0x7f, 0x80, kOne), ErrorCode::kBadOperand},
      {"store, int8 from -1 to -2", bounded(kInt8, 0xff, 0xfe, kOne), ErrorCode::kBadOperand},
      {"store, uint8 from 128 to 127", bounded(kUint8, 0x80, 0x7f, kOne), ErrorCode::kBadOperand},
      {"store, uint8 from 127 to 128", bounded(kUint8, 0x7f, 0x80, kOne), ErrorCode::kNone},
      {"store, int32 has no bounds", bounded(ResultCode::kInt32, 2, 1, kOne), ErrorCode::kNone},
      {"store, last row of bytes",
       bounded(kInt8, 0, 0, command(kStore, 16, 1, 0, 1, (1ull << 40) - 16 * 8)), ErrorCode::kNone},
      {"matmul has no format", of_format(15, command(kMatmul, 1, 1, 1, 1, 0)), ErrorCode::kNone},
      {"finish", command(Opcode::kFinish, 0, 0, 0, 0, 1), ErrorCode::kNone},
      {"fence", fence(0, 0, 0), ErrorCode::kNone},
      {"fence has no address", fence(0, 3, 5), ErrorCode::kNone},
      {"snapshot", fence(flag::kSnapshot, 0, 8), ErrorCode::kNone},
      {"snapshot, unaligned", fence(flag::kSnapshot, 0, 4), ErrorCode::kBadAddress},
      {"snapshot, beyond 40 bits", fence(flag::kSnapshot, 1, 1ull << 40), ErrorCode::kBadAddress},
      {"snapshot, last address", fence(flag::kSnapshot, 0, (1ull << 40) - kCounters.size() * 8),
       ErrorCode::kNone},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(error_of_fetched(c.command), c.code);
  }
}

}  // namespace
}  // namespace gemm64::rtl_test
