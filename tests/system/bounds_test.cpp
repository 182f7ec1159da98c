// SPDX-License-Identifier: Apache-2.0
// The bounds in the table of commands are those that the RTL keeps: commands whose fields are drawn
// at and around the limits are refused by both or by none.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "host/device/command_check.hpp"
#include "host/device/commands.hpp"
#include "tests/commands.hpp"
#include "tests/random.hpp"
#include "tests/says.hpp"
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

/// Commands that are taken, each of them behind a SET_WINDOW and a load of pixels.
std::vector<Command> good_commands() {
  MatmulCommand of_window = matmul(1);
  of_window.flags |= flag::kWindow;
  return {load_weights(0x10000, 1),
          load_parameters(0x10000, 1),
          load_activations(0x10000, 1),
          matmul(1),
          store(0x10000, 1),
          set_window(),
          pixels(),
          of_window};
}

/// A value at a limit, beside it, or anywhere.
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

TEST(Bounds, OfDrawnCommandsAreThoseOfTheRtl) {
  constexpr int kN = 4;
  Rig rig{kN};
  const Geometry geometry = rig.driver.geometry();
  for_seeds(1, 800, [&](std::mt19937& random) {
    std::vector<Command> goods = good_commands();
    Command drawn = goods[random() % goods.size()];
    std::vector<const CommandField*> fields;
    for (const CommandField& field : kCommandFields) {
      const bool address = field.word == 4 || field.word == 5;  // what lies there is no bound
      if (field.member != nullptr && field.used_by(drawn.opcode) && !address &&
          std::string(field.name) != "FLAGS") {
        fields.push_back(&field);
      }
    }
    for (unsigned changes = draw(random, 0, 2); changes > 0; --changes) {
      const CommandField& field = *fields[random() % fields.size()];
      drawn.*field.member = draw_value(field, geometry, random);
    }
    const std::vector<Command> program{set_window(), pixels(), drawn};
    CommandOrder order;
    order.add(program[0]);
    order.add(program[1]);
    const ErrorCode code = check_command(drawn, order, geometry).code;
    rig.device->write_register(reg::kWatchdog, 100);
    const std::string text =
        message_of<DeviceError>([&] { rig.driver.run_program(0, program, 2000); });
    SCOPED_TRACE(to_string(drawn));
    const auto tells = [&](ErrorCode which) {
      return text.find(fmt::format("{} at command 2 ", name(which))) != std::string::npos;
    };
    if (code != ErrorCode::kNone) {
      EXPECT_TRUE(tells(code)) << name(code) << " expected, not " << text;
    } else {
      EXPECT_FALSE(tells(ErrorCode::kBadOperand) || tells(ErrorCode::kBadAddress)) << text;
    }
  });
}

}  // namespace
}  // namespace gemm64::system_test
