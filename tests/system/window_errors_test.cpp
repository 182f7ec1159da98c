// SPDX-License-Identifier: Apache-2.0
// Commands of windows that cannot be are refused, by the RTL and the reference alike, with the same
// code at the same command.

#include "host/device/reference_device.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"
#include "tests/unit/tiling/convolutions.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{8} << 20, kClockLimit = 4'000'000;
constexpr std::uint64_t kOperands = 0x100000;

using Change = std::function<void(Command&, const Geometry&)>;

/// A way to spoil a command, and what then happens.
struct Fault {
  const char* what;
  Opcode opcode;
  Change change;
  ErrorCode code = ErrorCode::kBadOperand;
};

const std::vector<Fault>& faults() {
  constexpr Opcode kSet = Opcode::kSetWindow, kLoad = Opcode::kLoadActivations,
                   kMatmul = Opcode::kMatmul;
  constexpr ErrorCode kAddress = ErrorCode::kBadAddress;
  using G = const Geometry&;
  static const std::vector<Fault> all{
      {"CAPACITY 0", kSet, [](Command& c, G) { c.capacity = 0; }},
      {"CAPACITY above the scratchpad", kSet,
       [](Command& c, G g) { c.capacity = g.scratchpad_words + 1; }},
      {"KERNEL_HEIGHT 0", kSet, [](Command& c, G) { c.kernel_height = 0; }},
      {"KERNEL_WIDTH 0", kSet, [](Command& c, G) { c.kernel_width = 0; }},
      {"GROUP_PASSES 0", kSet, [](Command& c, G) { c.group_passes = 0; }},
      {"STRIDE_WIDTH above CAPACITY", kSet, [](Command& c, G) { c.stride_width = c.capacity + 1; }},
      {"DILATION_WIDTH above CAPACITY", kSet,
       [](Command& c, G) { c.dilation_width = c.capacity + 1; }},
      {"ROW_STEP", kSet, [](Command& c, G) { c.row_step = c.capacity; }},
      {"IMAGE_STEP", kSet, [](Command& c, G) { c.image_step = c.capacity; }},
      {"TAP_ROW_STEP", kSet, [](Command& c, G) { c.tap_row_step = c.capacity; }},
      {"ROWS above CAPACITY", kLoad, [](Command& c, G) { c.rows = c.capacity + 1; }},
      {"ROWS 0", kLoad, [](Command& c, G) { c.rows = 0; }},
      {"no planes", kLoad, [](Command& c, G) { c.count = 0; }},
      {"SLOT", kLoad, [](Command& c, G) { c.slot = c.capacity; }},
      {"BLOCKS", kLoad, [](Command& c, G) { c.blocks = 2; }},
      {"PASSES", kLoad, [](Command& c, G) { c.passes = 2; }},
      {"a PLACE too high", kLoad,
       [](Command& c, G g) { c.place = g.scratchpad_words - c.count * c.capacity + 1; }},
      {"a PLACE far too high", kLoad, [](Command& c, G) { c.place = 0xffffffff; }},
      {"too many planes", kLoad,
       [](Command& c, G g) { c.count = g.scratchpad_words / c.capacity + 1; }},
      {"far too many planes", kLoad, [](Command& c, G) { c.count = 0xffffffff; }},
      {"an address that is no multiple of N", kLoad, [](Command& c, G) { c.address_low += 1; },
       kAddress},
      {"that and a bad SLOT", kLoad,
       [](Command& c, G) {
         c.address_low += 1;
         c.slot = c.capacity;
       },
       kAddress},
      {"that and no planes", kLoad,
       [](Command& c, G) {
         c.address_low += 1;
         c.count = 0;
       }},
      {"words beyond the end", kLoad,
       [](Command& c, G g) {
         c.set_address((std::uint64_t{1} << g.address_width) - g.n);
         c.rows = 2;
         c.capacity = 2;
         c.slot = c.place = 0;
         c.count = 1;
       },
       kAddress},
      {"that and a bad SLOT", kLoad,
       [](Command& c, G g) {
         c.set_address((std::uint64_t{1} << g.address_width) - g.n);
         c.rows = 2;
         c.slot = c.capacity;
       }},
      {"no ACCUMULATE", kMatmul, [](Command& c, G) { c.flags = flag::kWindow; }},
      {"BLOCKS", kMatmul, [](Command& c, G) { c.blocks = 2; }},
      {"too many planes", kMatmul, [](Command& c, G) { c.count = 0x10000; }},
      {"SLOT", kMatmul, [](Command& c, G g) { c.slot = g.scratchpad_words; }},
      {"planes beyond the scratchpad", kMatmul, [](Command& c, G) { c.count = 0xffff; }},
      {"IN_ROW beyond the walk", kMatmul, [](Command& c, G) { c.in_row += 1u << 18; }},
      {"IN_ROW far above", kMatmul, [](Command& c, G) { c.in_row = 1u << 17; }},
      {"IN_COLUMN far below", kMatmul, [](Command& c, G) { c.in_column = -(1u << 17) - 1; }},
      {"ROWS above both banks", kMatmul,
       [](Command& c, G g) { c.rows = 2 * g.accumulator_rows + 1; }},
  };
  return all;
}

class WindowErrors : public testing::TestWithParam<int> {
 protected:
  static RtlOptions options() {
    RtlOptions options = Rig::options(GetParam());
    options.memory_bytes = kMemoryBytes;
    return options;
  }
  Rig rig{options()};
  const Geometry geometry = rig.driver.geometry();
  ReferenceDevice reference{geometry, kMemoryBytes};
  Driver reference_driver{reference};

  /// What each device says, after its name.
  std::vector<std::string> errors(const std::vector<Command>& program) {
    std::vector<std::string> found;
    for (Driver* driver : {&rig.driver, &reference_driver}) {
      const std::string text =
          message_of<DeviceError>([&] { driver->run_program(0, program, kClockLimit); });
      found.push_back(text.substr(text.find("': ")));
    }
    return found;
  }
};

TEST_P(WindowErrors, AreReportedByCodeAndCommand) {
  std::mt19937 random(3);
  PlainConvolution c;
  do {
    c = random_convolution(random, geometry.n);
  } while (c.window.pixels() < 20 || c.window.stride_width > 2);
  const PlacedConvolution placed(c, geometry.n, kOperands);
  std::vector<Command> good =
      window_program(random_plan(random, c.window, geometry), placed.operands());
  good.push_back(finish());
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(std::string(name(fault.opcode)) + ", " + fault.what);
    std::vector<Command> program = good;
    const auto bad = std::find_if(program.begin(), program.end(), [&](const Command& command) {
      return command.opcode == fault.opcode;
    });
    fault.change(*bad, geometry);
    placed.write(*rig.device);
    placed.write(reference);
    const std::vector<std::string> found = errors(program);
    EXPECT_EQ(found[0], found[1]);
    EXPECT_THAT(found[1],
                Says(fmt::format("{} at command {} ", name(fault.code), bad - program.begin())));
    if (testing::Test::HasFailure()) return;
  }
  for (Driver* driver : {&rig.driver, &reference_driver}) driver->run_program(0, good, kClockLimit);
  placed.check(*rig.device);
  placed.check(reference);
}

// A convolution of several blocks, each with pixels of its own, that goes around.
class WindowOrderErrors : public WindowErrors {
 protected:
  WindowOrderErrors() {
    std::mt19937 random(5);
    do {
      convolution_ = random_convolution(random, geometry.n);
      good_ = program(1);
    } while (loads() < 3);
  }
  std::vector<Command> program(std::uint32_t rows) const {
    const PlacedConvolution placed(convolution_, geometry.n, kOperands);
    return window_program(plan_window(convolution_.window, rows, geometry), placed.operands());
  }
  std::size_t loads() const {
    return static_cast<std::size_t>(std::count_if(
        good_.begin(), good_.end(),
        [](const Command& command) { return command.opcode == Opcode::kLoadActivations; }));
  }
  std::size_t find(Opcode opcode, std::size_t from = 0) const {
    while (good_[from].opcode != opcode) ++from;
    return from;
  }
  /// Both devices answer the program with the same error, at this command.
  void expect_error(std::vector<Command> program, ErrorCode code, std::size_t command) {
    program.push_back(finish());
    rig.device->write_register(reg::kWatchdog, 2000);
    const std::vector<std::string> found = errors(program);
    EXPECT_EQ(found[0], found[1]);
    EXPECT_THAT(found[0], Says(fmt::format("{} at command {} ", name(code), command)));
  }

  PlainConvolution convolution_;
  std::vector<Command> good_;
};

TEST_P(WindowOrderErrors, AreReportedByCodeAndCommand) {
  const std::size_t set = find(Opcode::kSetWindow), load = find(Opcode::kLoadActivations),
                    next = find(Opcode::kLoadActivations, load + 1), matmul = find(Opcode::kMatmul);
  const auto changed = [&](std::size_t place, const auto& change) {
    std::vector<Command> program = good_;
    change(program[place]);
    return program;
  };
  const ErrorCode bad = ErrorCode::kBadOperand;
  {
    SCOPED_TRACE("another CAPACITY in SET_WINDOW");
    expect_error(changed(set, [](Command& c) { ++c.capacity; }), bad, matmul);
  }
  {
    SCOPED_TRACE("another CAPACITY in a later chunk");
    expect_error(changed(next, [](Command& c) { ++c.capacity; }), bad, next);
  }
  {
    SCOPED_TRACE("a gap between chunks");
    expect_error(
        changed(next, [](Command& c) { c.slot = c.slot + 1 == c.capacity ? 0 : c.slot + 1; }), bad,
        next);
  }
  {
    SCOPED_TRACE("planes of no pixels");
    expect_error(changed(load, [](Command& c) { c.place = c.capacity; }), bad, load);
  }
  {
    SCOPED_TRACE("no SET_WINDOW");
    expect_error(changed(set,
                         [](Command& c) {
                           c.opcode = Opcode::kFence;
                           c.flags = 0;
                         }),
                 bad, matmul);
  }
}

// Words that no block claims are reported where they would be taken for another's, and at the end.
TEST_P(WindowOrderErrors, ReportsPixelsThatAreLeft) {
  const std::size_t load = find(Opcode::kLoadActivations);
  for (const bool again : {false, true}) {
    std::vector<Command> program = good_;
    const auto first = program.begin() + static_cast<std::ptrdiff_t>(load);
    Command twice = *first;  // planes that come twice
    twice.flags &= ~flag::kStart;
    twice.place = twice.capacity;
    twice.count = 1;
    if (twice.place + twice.capacity > geometry.scratchpad_words) continue;
    program.insert(first + 1, twice);
    const std::size_t end = program.size();
    if (again) program.insert(program.end(), good_.begin(), good_.end());
    expect_error(program, ErrorCode::kUnbalanced, again ? end + load : end);
  }
  std::vector<Command> program = good_;
  const auto last = std::find_if(program.rbegin(), program.rend(), [](const Command& command) {
    return command.opcode == Opcode::kMatmul && command.freed_pixels != 0;
  });
  for (const int more : {1, -1}) {
    const Command before = *last;
    last->freed_pixels += static_cast<std::uint32_t>(more);
    expect_error(program, ErrorCode::kUnbalanced, program.size());
    *last = before;
  }
  {
    std::vector<Command> waits = good_;
    waits[find(Opcode::kMatmul)].new_pixels += 1000;
    waits.push_back(finish());
    for (const std::string& found : errors(waits)) {
      EXPECT_THAT(found, Says("WATCHDOG"));
    }
  }
  good_.push_back(finish());
  const PlacedConvolution placed(convolution_, geometry.n, kOperands);
  placed.write(*rig.device);
  placed.write(reference);
  for (Driver* driver : {&rig.driver, &reference_driver}) {
    driver->run_program(0, good_, kClockLimit);
  }
  placed.check(*rig.device);
  placed.check(reference);
}

INSTANTIATE_TEST_SUITE_P(Arrays, WindowOrderErrors, testing::Values(2, 8),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(Arrays, WindowErrors, testing::Values(2, 8),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace gemm64::system_test
