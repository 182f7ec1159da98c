// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/window_check.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "host/cycles/program_check.hpp"
#include "host/device/window_taps.hpp"

namespace gemm64::cycles {
namespace {

using Program = std::vector<Command>;

/// One command of a program, and what its fields must be.
class Fields {
 public:
  Fields(const Program& program, std::size_t index) : program_(program), index_(index) {}

  void at_least_1(const char* field, std::uint32_t value) const {
    if (value == 0) refuse(fmt::format("{} is 0; it must be at least 1", field));
  }
  void must_be_1(const char* field, std::uint32_t value) const {
    if (value != 1) refuse(fmt::format("{} is {}; with WINDOW it must be 1", field, value));
  }
  void at_most(const char* field, std::uint64_t value, const char* what, std::uint64_t most) const {
    if (value > most) refuse(fmt::format("{} is {}; {} is {}", field, value, what, most));
  }
  /// At most CAPACITY, or below it.
  void at_most_capacity(const char* field, std::uint32_t value) const {
    at_most(field, value, "CAPACITY", program_[index_].capacity);
  }
  void below_capacity(const char* field, std::uint32_t value) const {
    const std::uint32_t capacity = program_[index_].capacity;
    if (value < capacity) return;
    refuse(fmt::format("{} is {}; it must be below CAPACITY, {}", field, value, capacity));
  }
  void must_fit(const char* field, std::uint32_t value) const {
    if (walk_holds(value)) return;
    refuse(fmt::format("{} is {}; it must be from -131072 to 131071", field,
                       static_cast<std::int32_t>(value)));
  }
  [[noreturn]] void refuse(const std::string& why) const { cycles::refuse(program_, index_, why); }

 private:
  const Program& program_;
  std::size_t index_;
};

void check_layer(const Command& set, const Fields& fields, const Geometry& geometry) {
  fields.at_least_1("CAPACITY", set.capacity);
  fields.at_most("CAPACITY", set.capacity, "the number of words in the scratchpad",
                 geometry.scratchpad_words);
  fields.at_least_1("KERNEL_HEIGHT", set.kernel_height);
  fields.at_least_1("KERNEL_WIDTH", set.kernel_width);
  fields.at_least_1("GROUP_PASSES", set.group_passes);
  fields.at_most_capacity("STRIDE_WIDTH", set.stride_width);
  fields.at_most_capacity("DILATION_WIDTH", set.dilation_width);
  fields.below_capacity("ROW_STEP", set.row_step);
  fields.below_capacity("IMAGE_STEP", set.image_step);
  fields.below_capacity("TAP_ROW_STEP", set.tap_row_step);
}

void check_load(const Command& load, const Fields& fields, const Geometry& geometry) {
  fields.must_be_1("PASSES", load.passes);
  fields.must_be_1("BLOCKS", load.blocks);
  fields.at_most_capacity("ROWS", load.rows);
  fields.below_capacity("SLOT", load.slot);
  const std::uint64_t end = load.place + std::uint64_t{load.count} * load.capacity;
  fields.at_most("PLACE + COUNT * CAPACITY", end, "the number of words in the scratchpad",
                 geometry.scratchpad_words);
}

void check_matmul(const Command& matmul, const Fields& fields) {
  fields.must_be_1("BLOCKS", matmul.blocks);
  if ((matmul.flags & flag::kAccumulate) == 0) fields.refuse("WINDOW needs ACCUMULATE");
  fields.at_most("COUNT", matmul.count, "with WINDOW the most", 0xffff);
  fields.must_fit("IN_ROW", matmul.in_row);
  fields.must_fit("IN_COLUMN", matmul.in_column);
}

}  // namespace

void check_window(const Program& program, std::size_t index, const Geometry& geometry) {
  const Command& command = program[index];
  const Fields fields(program, index);
  switch (command.opcode) {
    case Opcode::kSetWindow:
      return check_layer(command, fields, geometry);
    case Opcode::kLoadActivations:
      return check_load(command, fields, geometry);
    default:
      return check_matmul(command, fields);
  }
}

}  // namespace gemm64::cycles
