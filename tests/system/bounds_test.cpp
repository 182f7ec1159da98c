// SPDX-License-Identifier: Apache-2.0
// The rules in the table of commands are those that the RTL keeps: commands whose fields are drawn
// at and next to the limits of each rule are refused by both or by none.

#include "host/device/command_check.hpp"
#include "host/device/command_rules.hpp"
#include "host/device/commands.hpp"
#include "host/device/depthwise.hpp"
#include "host/util/float_bits.hpp"
#include "tests/commands.hpp"
#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr std::uint32_t kCapacity = 9;

SetWindowCommand set_window() {
  SetWindowCommand set;
  set.kernel_height = set.kernel_width = set.stride_height = set.stride_width = 1;
  set.dilation_height = set.dilation_width = set.group_passes = 1;
  set.height = set.width = set.out_height = set.out_width = 3;
  set.capacity = kCapacity;
  return set;
}

LoadActivationsCommand pixels() {
  LoadActivationsCommand load = load_activations(0x10000, 1);
  load.flags = flag::kWindow | flag::kStart;
  load.capacity = kCapacity;
  return load;
}

StoreCommand store_8_bit(ResultCode code) {
  StoreCommand store = gemm64::store(0x10000, 1);
  store.format = ResultFormat(code).number();
  store.low = store.function_min = 5;
  store.high = store.function_max = 100;
  return store;
}

StoreCommand vector_store(ResultCode code, bool add) {
  StoreCommand store = store_8_bit(code);
  store.flags = flag::kVector;
  (add ? store.add : store.multiply) = 1;
  store.result_scale = bits_of(1);
  store.operand_scale = bits_of(add ? 1 : 0.25F);
  store.offset = bits_of(3);
  store.lanes = 1;
  return store;
}

DepthwiseCommand depthwise(std::uint32_t kernel) {
  DepthwiseCommand command;
  command.rows = command.count = command.passes = 1;
  command.kernel_height = kernel;
  command.stride_height = command.stride_width = 1;
  command.dilation_height = command.dilation_width = 1;
  command.pad_top = command.pad_left = 1;
  command.height = command.out_height = 5;
  command.width = command.out_width = 6;
  set_steps(command);
  return command;
}

/// Commands that are taken, each of them after a SET_WINDOW and a load of pixels.
std::vector<Command> good_commands() {
  MatmulCommand of_window = matmul(1);
  of_window.flags |= flag::kWindow;
  return {load_weights(0x10000, 1),
          load_parameters(0x10000, 1),
          load_activations(0x10000, 1),
          load_operands(0x10000, 1),
          matmul(1),
          store(0x10000, 1),
          store_8_bit(ResultCode::kInt8),
          store_8_bit(ResultCode::kUint8),
          vector_store(ResultCode::kInt8, true),
          vector_store(ResultCode::kUint8, true),
          vector_store(ResultCode::kInt8, false),
          vector_store(ResultCode::kUint8, false),
          depthwise(3),
          depthwise(5),
          depthwise(7),
          set_window(),
          pixels(),
          of_window};
}

/// The RTL refuses the command as the host does, or does not.
void expect_same(Rig& rig, const Command& drawn) {
  const Geometry geometry = rig.driver.geometry();
  const std::vector<Command> program{set_window(), pixels(), drawn};
  CommandOrder order;
  order.add(program[0]);
  order.add(program[1]);
  const ErrorCode code = check_command(drawn, order, geometry).code;
  if (code == ErrorCode::kNone) EXPECT_TRUE(is_legal(drawn, geometry));
  rig.device->write_register(reg::kWatchdog, 100);
  const std::string text =
      message_of<DeviceError>([&] { rig.driver.run_program(0, program, 2000); });
  SCOPED_TRACE(to_string(drawn));
  const auto reports = [&](ErrorCode which) {
    return text.find(fmt::format("{} at command 2 ", name(which))) != std::string::npos;
  };
  if (code != ErrorCode::kNone) {
    EXPECT_TRUE(reports(code)) << name(code) << " expected, not " << text;
  } else {
    EXPECT_FALSE(reports(ErrorCode::kBadOperand) || reports(ErrorCode::kBadAddress)) << text;
  }
}

/// A value at a limit, next to it, or anywhere.
std::uint32_t draw_value(const CommandField& field, const Geometry& geometry,
                         std::mt19937& random) {
  const std::uint32_t limits[] = {
      0,      1,        kCapacity,  geometry.accumulator_rows, geometry.scratchpad_words,
      0xffff, 1u << 17, -(1u << 17)};
  const std::uint32_t value = random() % 8 == 0
                                  ? static_cast<std::uint32_t>(random())
                                  : limits[random() % std::size(limits)] + draw(random, 0, 2) - 1;
  return field.width == 32 ? value : value & ((1u << field.width) - 1);
}

/// Moves the field that a rule names to the rule's limit, or next to it.
void move_to_limit(Command& command, const CommandRule& rule, const Geometry& geometry,
                   std::mt19937& random) {
  const RuleSides sides = rule.sides(command, geometry);
  if (rule.field == nullptr || !sides.applies) return;
  const std::int64_t missing = sides.right - sides.left;
  command.*rule.field += static_cast<std::uint32_t>(missing + draw(random, 0, 2) - 1);
  for (const CommandField& field : kCommandFields) {
    if (field.member == rule.field && field.width < 32) {
      command.*rule.field &= (1U << field.width) - 1;
    }
  }
}

TEST(Bounds, AtTheLimitsOfEachRuleAreThoseOfTheRtl) {
  constexpr int kN = 4;
  Rig rig{kN};
  const Geometry geometry = rig.driver.geometry();
  int legal = 0, illegal = 0;
  for_seeds(1, 10, [&](std::mt19937& random) {
    for (const CommandRule& rule : command_rules()) {
      for (const Command& good : good_commands()) {
        if (good.opcode != rule.opcode) continue;
        Command drawn = good;
        move_to_limit(drawn, rule, geometry, random);
        ++(is_legal(drawn, geometry) ? legal : illegal);
        expect_same(rig, drawn);
      }
    }
  });
  EXPECT_GT(legal, 100);
  EXPECT_GT(illegal, 100);
}

TEST(Bounds, OfDrawnCommandsAreThoseOfTheRtl) {
  constexpr int kN = 4;
  Rig rig{kN};
  const Geometry geometry = rig.driver.geometry();
  for_seeds(1, 800, [&](std::mt19937& random) {
    std::vector<Command> goods = good_commands();
    Command drawn = goods[random() % goods.size()];
    std::vector<const CommandField*> fields;
    for (const CommandField& field : kCommandFields) {
      const bool address = field.word == 4 || field.word == 5;  // what is there is no bound
      if (field.member != nullptr && field.used_by(drawn.opcode) && !address &&
          std::string(field.name) != "FLAGS") {
        fields.push_back(&field);
      }
    }
    for (unsigned changes = draw(random, 0, 2); changes > 0; --changes) {
      const CommandField& field = *fields[random() % fields.size()];
      drawn.*field.member = draw_value(field, geometry, random);
    }
    expect_same(rig, drawn);
  });
}

}  // namespace
}  // namespace gemm64::system_test
