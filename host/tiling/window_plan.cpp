// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/window_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kMostOf8Bits = 0xff, kMostOf16Bits = 0xffff;  // largest values of fields

void check(const char* what, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
  if (value >= least && value <= most) return;
  throw UsageError(
      fmt::format("a convolution's {} is {}; the device takes {} to {}", what, value, least, most));
}

void check_fields(const Window& w) {
  check("kernel height", w.kernel_height, 1, kMostOf8Bits);
  check("kernel width", w.kernel_width, 1, kMostOf8Bits);
  check("vertical stride", w.stride_height, 1, kMostOf8Bits);
  check("horizontal stride", w.stride_width, 1, kMostOf8Bits);
  check("vertical dilation", w.dilation_height, 1, kMostOf8Bits);
  check("horizontal dilation", w.dilation_width, 1, kMostOf8Bits);
  check("padding at the top", w.pad_top, 0, kMostOf8Bits);
  check("padding on the left", w.pad_left, 0, kMostOf8Bits);
  check("input height", w.height, 1, kMostOf16Bits);
  check("input width", w.width, 1, kMostOf16Bits);
  check("output height", w.out_height, 1, kMostOf16Bits);
  check("output width", w.out_width, 1, kMostOf16Bits);
  check("number of images", w.images, 1, std::numeric_limits<std::uint32_t>::max());
  check("number of planes in a group", w.group_planes, 1, kMostOf16Bits);
  check("number of passes in a group", w.group_passes, 1, kMostOf16Bits);
}

std::uint32_t modulo(std::int64_t value, std::uint32_t by) {
  const std::int64_t rest = value % by;
  return static_cast<std::uint32_t>(rest < 0 ? rest + by : rest);
}

/// The position of an output pixel, and which input pixel the first tap meets there.
struct Corner {
  std::uint64_t image;
  std::uint32_t out_row, out_column;
  std::int64_t row, column;
};

Corner corner(const Window& w, std::uint64_t out_pixel) {
  const std::uint64_t out_line = out_pixel / w.out_width;
  Corner c{};
  c.image = out_line / w.out_height;
  c.out_row = static_cast<std::uint32_t>(out_line % w.out_height);
  c.out_column = static_cast<std::uint32_t>(out_pixel % w.out_width);
  c.row = std::int64_t{c.out_row} * w.stride_height - w.pad_top;
  c.column = std::int64_t{c.out_column} * w.stride_width - w.pad_left + w.skip_left;
  return c;
}

/// The input pixel with which a row begins that is `rows` rows below what the first tap meets at
/// an output pixel; the next inside the image where it is beyond the border.
std::uint64_t row_begin(const Window& w, std::uint64_t out_pixel, std::int64_t rows) {
  const Corner c = corner(w, out_pixel);
  const std::int64_t row = std::clamp<std::int64_t>(c.row + rows, 0, w.height);
  return (c.image * w.height + static_cast<std::uint64_t>(row)) * w.width;
}

std::uint32_t capacity(const Window& w, const Geometry& geometry) {
  // Steps from column to column go around once at most.
  const std::uint64_t least = std::max(w.stride_width, w.dilation_width);
  const std::uint64_t most =
      std::min<std::uint64_t>(geometry.scratchpad_words / w.planes, kMostOf16Bits);
  const std::uint64_t pixels = std::min(std::max(w.pixels(), least), most);
  if (pixels < least || pixels == 0) {
    throw UsageError(
        fmt::format("a convolution over {} planes does not fit the scratchpad of {} words",
                    w.planes, geometry.scratchpad_words));
  }
  return static_cast<std::uint32_t>(pixels);
}

}  // namespace

std::pair<std::uint64_t, std::uint32_t> WindowPlan::place_in_bands(std::uint64_t matmul) const {
  const std::uint64_t in_band = std::uint64_t{band} * window.passes();
  const std::uint64_t first = matmul / in_band * band;
  const std::uint64_t size = std::min<std::uint64_t>(band, blocks.size() - first);
  const std::uint64_t within = matmul % in_band;
  return {first + within % size, static_cast<std::uint32_t>(within / size)};
}

bool WindowPlan::fills_both_banks() const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [this](const WindowBlock& block) { return block.rows > bank_rows; });
}

std::uint64_t WindowPlan::loaded_words() const {
  std::uint64_t pixels = 0;
  for (const WindowBlock& block : blocks) pixels += block.new_pixels;
  return pixels * window.planes * (reads_again ? window.passes() : 1);
}

std::uint32_t WindowPlan::slot_in(std::uint32_t pass, std::uint64_t slot) const {
  return static_cast<std::uint32_t>((slot + pass * blocks.back().loaded()) % capacity);
}

std::uint32_t balanced_rows(std::uint64_t out_pixels, std::uint32_t most) {
  const std::uint64_t blocks = (out_pixels + most - 1) / most;
  return static_cast<std::uint32_t>((out_pixels + blocks - 1) / blocks);
}

WindowPlan plan_window(const Window& window, std::uint32_t block_rows, const Geometry& geometry) {
  check_fields(window);
  check("block of output pixels", block_rows, 1, 2 * std::uint64_t{geometry.accumulator_rows});
  std::vector<std::uint32_t> rows(window.out_pixels() / block_rows, block_rows);
  const auto rest = static_cast<std::uint32_t>(window.out_pixels() % block_rows);
  if (rest != 0) rows.push_back(rest);
  return plan_window(window, rows, geometry);
}

WindowPlan plan_window(const Window& window, const std::vector<std::uint32_t>& block_rows,
                       const Geometry& geometry) {
  check_fields(window);
  if (window.planes == 0 || window.planes % window.group_planes != 0) {
    throw UsageError(fmt::format("a convolution's {} planes are no multiple of the {} of a group",
                                 window.planes, window.group_planes));
  }
  WindowPlan plan{window, geometry.n, capacity(window, geometry), {}, 0, true,
                  1,      false,      geometry.accumulator_rows};
  plan.blocks.reserve(block_rows.size());
  const std::int64_t span = std::int64_t{window.kernel_height - 1} * window.dilation_height + 1;
  std::uint64_t loaded = 0, freed = 0;  // pixels so far
  std::uint64_t first = 0;
  for (const std::uint32_t rows : block_rows) {
    WindowBlock block;
    block.first = first;
    block.rows = rows;
    const std::uint64_t next = first + rows;
    const std::uint64_t needed = std::max(loaded, row_begin(window, next - 1, span));
    if (needed - freed > plan.capacity) {
      throw UsageError(
          fmt::format("a convolution's input rows do not fit the scratchpad: {} output pixels from "
                      "{} on need {} "
                      "pixels of {} planes at once, and {} words hold {}; take fewer output pixels "
                      "at a time or cut its width",
                      block.rows, first, needed - freed, window.planes, geometry.scratchpad_words,
                      plan.capacity));
    }
    block.first_pixel = loaded;
    block.new_pixels = static_cast<std::uint32_t>(needed - loaded);
    loaded = needed;
    const std::uint64_t unneeded =
        next < window.out_pixels() ? std::min(loaded, row_begin(window, next, 0)) : loaded;
    block.freed_pixels = static_cast<std::uint32_t>(unneeded - freed);
    freed = unneeded;
    plan.blocks.push_back(block);
    first = next;
  }
  return plan;
}

SetWindowCommand set_window(const WindowPlan& plan, std::int8_t zero) {
  const Window& w = plan.window;
  SetWindowCommand command;
  command.zero = static_cast<std::uint8_t>(zero);
  command.kernel_height = w.kernel_height;
  command.kernel_width = w.kernel_width;
  command.stride_height = w.stride_height;
  command.stride_width = w.stride_width;
  command.dilation_height = w.dilation_height;
  command.dilation_width = w.dilation_width;
  command.pad_top = w.pad_top;
  command.pad_left = w.pad_left;
  command.height = w.height;
  command.width = w.width;
  command.out_height = w.out_height;
  command.out_width = w.out_width;
  const auto steps = [&](std::int64_t rows, std::int64_t columns) {
    return modulo(rows * w.width + columns, plan.capacity);
  };
  const std::int64_t line = std::int64_t{w.out_width - 1} * w.stride_width;
  const std::int64_t image = std::int64_t{w.out_height - 1} * w.stride_height;
  command.row_step = steps(w.stride_height, -line);
  command.image_step = steps(w.height - image, -line);
  command.tap_row_step =
      steps(w.dilation_height, -std::int64_t{w.kernel_width - 1} * w.dilation_width);
  command.group_passes = w.group_passes;
  command.capacity = plan.capacity;
  return command;
}

LoadActivationsCommand load_window(const WindowPlan& plan, const WindowBlock& block,
                                   std::uint32_t plane, std::uint32_t planes, std::uint64_t address,
                                   bool start, std::uint64_t plane_pixels, std::uint32_t pass) {
  const std::uint64_t pixels = plane_pixels != 0 ? plane_pixels : plan.window.pixels();
  LoadActivationsCommand command;
  command.flags = flag::kWindow | (start ? flag::kStart : 0);
  command.rows = block.new_pixels;
  command.count = planes;
  command.passes = command.blocks = 1;
  command.address = address + (plane * pixels + block.first_pixel) * plan.n;
  command.stride = static_cast<std::uint32_t>(pixels);
  command.capacity = plan.capacity;
  command.slot = plan.slot_in(pass, plan.first_slot + block.first_pixel);
  command.place = plane * plan.capacity;
  return command;
}

MatmulCommand matmul_window(const WindowPlan& plan, const WindowBlock& block) {
  const Window& w = plan.window;
  const Corner c = corner(w, block.first);
  const auto image = static_cast<std::int64_t>(c.image * w.height);
  MatmulCommand command;
  command.flags = flag::kWindow | flag::kAccumulate;
  command.rows = block.rows;
  command.count = w.group_planes;
  command.passes = w.passes();
  command.blocks = 1;
  command.slot = modulo((image + c.row) * w.width + c.column + plan.first_slot, plan.capacity);
  command.out_row = c.out_row;
  command.out_column = c.out_column;
  command.in_row = static_cast<std::int32_t>(c.row);
  command.in_column = static_cast<std::int32_t>(c.column);
  command.new_pixels = block.new_pixels;
  command.freed_pixels = block.freed_pixels;
  return command;
}

MatmulCommand matmul_window(const WindowPlan& plan, const WindowBlock& block, std::uint32_t pass) {
  MatmulCommand command = matmul_window(plan, block);
  command.passes = 1;
  if (plan.reads_again) {
    command.slot = plan.slot_in(pass, command.slot);
    return command;
  }
  if (pass != 0) command.new_pixels = 0;
  if (pass + 1 != plan.window.passes()) command.freed_pixels = 0;
  return command;
}

}  // namespace gemm64
