// SPDX-License-Identifier: Apache-2.0
#include "host/device/window_order.hpp"

namespace gemm64 {

bool WindowOrder::begins(const LoadActivationsCommand& load) const {
  return load.place == 0 && (!begun_ || (load.flags & flag::kStart) != 0);
}

const char* WindowOrder::refusal(const Command& command, const Geometry& geometry) const {
  switch (command.opcode) {
    case Opcode::kSetWindow:
      return refusal(SetWindowCommand(command));
    case Opcode::kMatmul:
      return refusal(MatmulCommand(command), geometry);
    default:
      return refusal(LoadActivationsCommand(command));
  }
}

void WindowOrder::add(const Command& command) {
  switch (command.opcode) {
    case Opcode::kSetWindow:
      return add(SetWindowCommand(command));
    case Opcode::kMatmul:
      return add(MatmulCommand(command));
    default:
      return add(LoadActivationsCommand(command));
  }
}

const char* WindowOrder::refusal(const SetWindowCommand& set) const {
  return begun_ && set.capacity != planes_ && kept_ != 0
             ? "its CAPACITY is not that of the pixels that are kept"
             : nullptr;
}

void WindowOrder::add(const SetWindowCommand& set) {
  described_ = true;
  stale_ = false;
  layer_ = set.capacity;
  out_height_ = set.out_height;
  out_width_ = set.out_width;
}

const char* WindowOrder::refusal(const MatmulCommand& matmul, const Geometry& geometry) const {
  if (!described_) return "no SET_WINDOW before it";
  if (stale_) return "no SET_WINDOW before it has the CAPACITY of the pixels";
  if (matmul.out_row >= out_height_ || matmul.out_column >= out_width_) {
    return "its first output pixel must lie in the output of its SET_WINDOW";
  }
  if (matmul.slot >= layer_) return "SLOT must be below the CAPACITY of its SET_WINDOW";
  if (std::uint64_t{matmul.count} * layer_ > geometry.scratchpad_words) {
    return "COUNT * CAPACITY is more than the scratchpad has words";
  }
  return nullptr;
}

void WindowOrder::add(const MatmulCommand& matmul) {
  kept_ -= matmul.freed_pixels;
  const bool takes = matmul.new_pixels != 0 || matmul.freed_pixels != 0;
  if ((!begun_ || parted()) && takes) ahead_ = true;
}

const char* WindowOrder::refusal(const LoadActivationsCommand& load) const {
  if (begins(load)) {
    const bool other = !described_ || load.capacity != layer_;
    return other && (kept_ != 0 || ahead_)
               ? "its CAPACITY is not that of the SET_WINDOW before it, or of the pixels kept"
               : nullptr;
  }
  if (!begun_) return "no LOAD_ACTIVATIONS with PLACE = 0 before it";
  if (load.capacity != planes_ || parted()) {
    return "its CAPACITY must be that of the pixels and of the SET_WINDOW before it";
  }
  if (load.place == 0 && load.slot != end_) {
    return "SLOT must follow the pixels before without a gap, or it needs START";
  }
  return nullptr;
}

void WindowOrder::add(const LoadActivationsCommand& load) {
  if (begins(load)) {
    begun_ = true;
    stale_ = !described_ || load.capacity != layer_;
    ahead_ = false;
    planes_ = load.capacity;
  }
  if (load.place == 0) {
    end_ = (load.slot + load.rows) % load.capacity;
    kept_ += load.rows;
  }
}

}  // namespace gemm64
