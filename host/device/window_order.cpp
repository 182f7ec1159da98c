// SPDX-License-Identifier: Apache-2.0
#include "host/device/window_order.hpp"

namespace gemm64 {

bool WindowOrder::begins(const Command& load) const {
  return load.place == 0 && (!begun_ || (load.flags & flag::kStart) != 0);
}

const char* WindowOrder::refusal(const Command& command, const Geometry& geometry) const {
  if (command.opcode == Opcode::kSetWindow) {
    return begun_ && command.capacity != planes_ && kept_ != 0
               ? "its CAPACITY is not that of the pixels that are kept"
               : nullptr;
  }
  if (command.opcode == Opcode::kMatmul) {
    if (!described_) return "no SET_WINDOW before it";
    if (stale_) return "no SET_WINDOW before it has the CAPACITY of the pixels";
    if (command.out_row >= out_height_ || command.out_column >= out_width_) {
      return "its first output pixel must lie in the output of its SET_WINDOW";
    }
    if (command.slot >= layer_) return "SLOT must be below the CAPACITY of its SET_WINDOW";
    if (std::uint64_t{command.count} * layer_ > geometry.scratchpad_words) {
      return "COUNT * CAPACITY is more than the scratchpad has words";
    }
    return nullptr;
  }
  if (begins(command)) {
    const bool other = !described_ || command.capacity != layer_;
    return other && (kept_ != 0 || ahead_)
               ? "its CAPACITY is not that of the SET_WINDOW before it, or of the pixels kept"
               : nullptr;
  }
  if (!begun_) return "no LOAD_ACTIVATIONS with PLACE = 0 before it";
  if (command.capacity != planes_ || parted()) {
    return "its CAPACITY must be that of the pixels and of the SET_WINDOW before it";
  }
  if (command.place == 0 && command.slot != end_) {
    return "SLOT must follow the pixels before without a gap, or it needs START";
  }
  return nullptr;
}

void WindowOrder::add(const Command& command) {
  if (command.opcode == Opcode::kSetWindow) {
    described_ = true;
    stale_ = false;
    layer_ = command.capacity;
    out_height_ = command.out_height;
    out_width_ = command.out_width;
    return;
  }
  if (command.opcode == Opcode::kMatmul) {
    kept_ -= command.freed_pixels;
    const bool takes = command.new_pixels != 0 || command.freed_pixels != 0;
    if ((!begun_ || parted()) && takes) ahead_ = true;
    return;
  }
  if (begins(command)) {
    begun_ = true;
    stale_ = !described_ || command.capacity != layer_;
    ahead_ = false;
    planes_ = command.capacity;
  }
  if (command.place == 0) {
    end_ = (command.slot + command.rows) % command.capacity;
    kept_ += command.rows;
  }
}

}  // namespace gemm64
