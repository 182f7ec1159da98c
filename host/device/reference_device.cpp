// SPDX-License-Identifier: Apache-2.0
#include "host/device/reference_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/device/snapshot.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint32_t kRingIndexMask = 0xffff;  // an index into the ring has 16 bits

std::uint32_t reset_value(std::uint32_t offset) {
  for (const Register& entry : kRegisters) {
    if (entry.offset == offset) return entry.reset;
  }
  return 0;
}

[[noreturn]] void refuse(const char* access, std::uint32_t offset) {
  throw DeviceError(
      fmt::format("{} the register at {:#05x}: answered with SLVERR", access, offset));
}

void check_geometry(const Geometry& geometry) {
  const auto require = [](bool good, const char* name, std::uint32_t value, const char* rule) {
    if (!good) throw UsageError(fmt::format("reference device: {} is {}; {}", name, value, rule));
  };
  const std::uint32_t n = geometry.n;
  require(n >= 2 && n <= 64 && (n & (n - 1)) == 0, "N", n,
          "it must be a power of two from 2 to 64");
  require(geometry.stage_rows != 0 && n % geometry.stage_rows == 0, "STAGE_ROWS",
          geometry.stage_rows, "it must divide N");
  require(geometry.weight_tiles >= 2, "WEIGHT_TILES", geometry.weight_tiles,
          "it must be at least 2");
  require(geometry.accumulator_rows != 0, "ACCUMULATOR_ROWS", 0, "it must be at least 1");
  require(geometry.parameter_sets >= 2, "PARAMETER_SETS", geometry.parameter_sets,
          "it must be at least 2");
  require(geometry.address_width >= 1 && geometry.address_width <= 63, "ADDRESS_WIDTH",
          geometry.address_width, "it must be from 1 to 63");
  require(geometry.scratchpad_words >= geometry.burst_beats, "SCRATCHPAD_WORDS",
          geometry.scratchpad_words, "it must hold a burst");
}

}  // namespace

ReferenceDevice::ReferenceDevice(const Geometry& geometry, std::uint64_t memory_bytes)
    : ReferenceDevice(geometry, std::make_unique<OwnMemory>(memory_bytes), nullptr) {}

ReferenceDevice::ReferenceDevice(const Geometry& geometry, DeviceMemory& memory)
    : ReferenceDevice(geometry, nullptr, &memory) {}

ReferenceDevice::ReferenceDevice(const Geometry& geometry, std::unique_ptr<DeviceMemory> own,
                                 DeviceMemory* others)
    : geometry_(geometry),
      own_memory_(std::move(own)),
      memory_(own_memory_ ? *own_memory_ : *others),
      planes_((check_geometry(geometry), geometry.scratchpad_words), geometry.n),
      batch_(geometry.n, memory_) {
  for (auto& bank : banks_) bank.resize(std::size_t{geometry.accumulator_rows} * geometry.n);
  reset();
}

void ReferenceDevice::check_range(const char* what, std::uint64_t address, std::size_t bytes) {
  if (bytes == 0 ? address <= memory_bytes() : memory_.other().reach(address, bytes) == bytes) {
    return;
  }
  throw std::out_of_range(fmt::format("{} of {} bytes at address {:#x} is outside the memory of {}",
                                      what, bytes, address, memory_bytes()));
}

void ReferenceDevice::write_memory(std::uint64_t address, const void* data, std::size_t bytes) {
  check_range("write", address, bytes);
  memory_.write(address, data, bytes);
}

void ReferenceDevice::place_memory(std::uint64_t address, const SharedBytes& bytes) {
  check_range("write", address, bytes.size());
  memory_.place(address, bytes);
}

void ReferenceDevice::read_memory(std::uint64_t address, void* data, std::size_t bytes) {
  check_range("read", address, bytes);
  if (bytes != 0) std::memcpy(data, memory_.read(address, bytes, scratch_), bytes);
}

void ReferenceDevice::reset() {
  watchdog_ = reset_value(reg::kWatchdog);
  ring_base_low_ = reset_value(reg::kRingBaseLow);
  ring_base_high_ = reset_value(reg::kRingBaseHigh);
  ring_mask_ = reset_value(reg::kRingMask);
  interrupt_enable_ = reset_value(reg::kInterruptEnable);
  counters_.fill(0);
  enable_tensor_memory(false);
}

void ReferenceDevice::clear_engines() {
  head_ = tail_ = dispatched_ = 0;
  next_.reset();
  interrupt_ = error_ = 0;
  halted_ = false;
  weights_ = WordStream();
  activations_ = WordStream();
  parameters_ = WordStream();
  operands_ = WordStream();
  loads_.clear();
  windows_ = false;
  planes_.clear();
  order_ = {};
  window_.reset();
  block_taps_.reset();
  matmuls_.clear();
  depthwise_ = {};
  stores_.clear();
  open_stores_ = 0;
  tile_ = pass_ = block_ = stored_ = 0;
  vector_ = {};
  store_begun_ = false;
  compute_bank_ = store_bank_ = banks_used_ = banks_done_ = 0;
}

void ReferenceDevice::enable_tensor_memory(bool enable) {
  if (geometry_.tensor_memory && !enable) geometry_.scratchpad_words += geometry_.tensor_words;
  if (enable) geometry_ = geometry_.with_tensor_memory();
  geometry_.tensor_memory = enable;
  memory_.enable(geometry_);
  clear_engines();
}

std::uint32_t ReferenceDevice::read_register(std::uint32_t offset) {
  switch (offset) {
    case reg::kId:
      return reset_value(reg::kId);
    case reg::kVersion:
      return field::kVersionMajor.put(kVersionMajor) | field::kVersionMinor.put(kVersionMinor);
    case reg::kArray:
      return field::kArrayN.put(geometry_.n) | field::kArrayStageRows.put(geometry_.stage_rows) |
             field::kArrayWeightTiles.put(geometry_.weight_tiles);
    case reg::kScratchpadWords:
      return geometry_.scratchpad_words;
    case reg::kAccumulatorRows:
      return geometry_.accumulator_rows;
    case reg::kBus:
      return field::kBusReads.put(geometry_.reads) | field::kBusWrites.put(geometry_.writes) |
             field::kBusCommands.put(geometry_.commands) |
             field::kBusBurstBeats.put(geometry_.burst_beats);
    case reg::kAddressWidth:
      return geometry_.address_width;
    case reg::kSelfCheck:  // it makes no faults
    case reg::kFaultTile:
    case reg::kFaultRow:
    case reg::kFaultMemory:
      return 0;
    case reg::kTensorWords:
      return geometry_.tensor_words;
    case reg::kTensorMemory:
      return field::kTensorMemoryEnable.put(geometry_.tensor_memory);
    case reg::kParameterSets:
      return geometry_.parameter_sets;
    case reg::kControl:
      return 0;
    case reg::kStatus:
      return field::kStatusBusy.put(busy()) | field::kStatusHalted.put(halted_);
    case reg::kInterrupt:
      return interrupt_;
    case reg::kError:
      return error_;
    case reg::kWatchdog:
      return watchdog_;
    case reg::kRingBaseLow:
      return ring_base_low_;
    case reg::kRingBaseHigh:
      return ring_base_high_;
    case reg::kRingMask:
      return ring_mask_;
    case reg::kRingTail:
      return tail_;
    case reg::kRingHead:
      return head_;
    case reg::kInterruptEnable:
      return interrupt_enable_;
    default:
      break;
  }
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    if (offset == kCounters[i].offset) return static_cast<std::uint32_t>(counters_[i]);
    if (offset == kCounters[i].offset + 4) return static_cast<std::uint32_t>(counters_[i] >> 32);
  }
  refuse("read of", offset);
}

void ReferenceDevice::write_register(std::uint32_t offset, std::uint32_t value) {
  switch (offset) {
    case reg::kControl:
      if (field::kControlClearCounters.get(value) != 0) counters_.fill(0);
      if (field::kControlReset.get(value) != 0) clear_engines();
      return;
    case reg::kInterrupt:
      interrupt_ &= ~value;
      return;
    case reg::kInterruptEnable:
      interrupt_enable_ = value & (field::kInterruptDone.mask() | field::kInterruptError.mask());
      return;
    case reg::kWatchdog:
      watchdog_ = value;
      return;
    case reg::kRingBaseLow:
    case reg::kRingBaseHigh: {
      const std::uint64_t base = offset == reg::kRingBaseLow
                                     ? std::uint64_t{ring_base_high_} << 32 | value
                                     : std::uint64_t{value} << 32 | ring_base_low_;
      if (base >> geometry_.address_width != 0) refuse("write of", offset);
      (offset == reg::kRingBaseLow ? ring_base_low_ : ring_base_high_) = value;
      return;
    }
    case reg::kRingMask:
      ring_mask_ = value & kRingIndexMask;
      return;
    case reg::kTensorMemory:
      if (busy() || !geometry_.has_tensor_memory()) refuse("write of", offset);
      enable_tensor_memory(field::kTensorMemoryEnable.get(value) != 0);
      return;
    case reg::kRingTail:
      tail_ = value & ring_mask_;
      run();
      return;
    default:
      refuse("write of", offset);
  }
}

bool ReferenceDevice::wait_interrupt(std::uint64_t /*max_cycles*/) {
  if (interrupt_ == 0 && busy() && !halted_ && watchdog_ != 0) {
    fail(ErrorCode::kWatchdog, Engine::kCommands, dispatched_);
  }
  return interrupt();
}

void ReferenceDevice::fail(ErrorCode code, Engine engine, std::uint32_t tag) {
  halted_ = true;
  error_ = field::kErrorCode.put(static_cast<std::uint32_t>(code)) |
           field::kErrorEngine.put(static_cast<std::uint32_t>(engine)) |
           field::kErrorCommand.put(tag);
  interrupt_ |= field::kInterruptError.mask();
}

bool ReferenceDevice::engines_idle() const {
  return others_idle() && activations_.released == activations_.end() && !pixels_left();
}

// All but what the scratchpad keeps.
bool ReferenceDevice::others_idle() const {
  return weights_.released == weights_.end() && activations_.arrived == activations_.end() &&
         loads_.empty() && parameters_.released == parameters_.end() &&
         operands_.released == operands_.end() && matmuls_.empty() && banks_used_ == 0 &&
         stores_.empty();
}

bool ReferenceDevice::pixels_left() const { return !planes_.empty() || planes_.unclaimed(); }

void ReferenceDevice::run() {
  const std::uint64_t weight_words = std::uint64_t{geometry_.weight_tiles} * geometry_.n;
  bool moved = true;
  while (moved && !halted_) {
    moved = dispatch();
    moved = (!halted_ && fetch(weights_, weight_words, Engine::kWeights, counter::kBytesWeights)) ||
            moved;
    moved = (!halted_ && begin_load()) || moved;
    moved = (!halted_ && fetch(activations_, geometry_.scratchpad_words, Engine::kActivations,
                               counter::kBytesActivations)) ||
            moved;
    moved = (!halted_ && fetch(parameters_, geometry_.parameter_words(), Engine::kParameters,
                               counter::kBytesParameters)) ||
            moved;
    moved = (!halted_ && fetch(operands_, geometry_.operand_words(), Engine::kOperands,
                               counter::kBytesOperands)) ||
            moved;
    moved = (!halted_ && compute_tile()) || moved;
    moved = (!halted_ && (store_block() || store_snapshot())) || moved;
  }
  flush();
}

bool ReferenceDevice::dispatch() {
  if (head_ == tail_) return false;
  const std::uint64_t base = std::uint64_t{ring_base_high_} << 32 | ring_base_low_;
  const std::uint64_t first = base / kCommandBytes * kCommandBytes;
  const std::uint64_t address = first + std::uint64_t{head_} * kCommandBytes;
  if (address >= address_end()) {
    fail(ErrorCode::kBadAddress, Engine::kCommands, dispatched_);
    return false;
  }
  if (!inside(address, kCommandBytes)) {
    fail(ErrorCode::kBusDecode, Engine::kCommands, dispatched_);
    return false;
  }
  // A command that waits is not read again, as on the RTL.
  if (!next_) {
    before_read(address, kCommandBytes);
    next_ = Command::decode(memory_.read(address, kCommandBytes, scratch_));
  }
  const Command command = *next_;
  const ErrorCode code = check_command(command, order_, geometry_).code;
  if (code != ErrorCode::kNone) {
    fail(code, Engine::kCommands, dispatched_);
    return false;
  }
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      weights_.add(LoadWeightsCommand(command), dispatched_);
      break;
    case Opcode::kLoadActivations:
      loads_.push_back({LoadActivationsCommand(command), dispatched_});
      break;
    case Opcode::kLoadParameters:
      parameters_.add(LoadParametersCommand(command), dispatched_);
      break;
    case Opcode::kLoadOperands:
      operands_.add(LoadOperandsCommand(command), dispatched_);
      break;
    case Opcode::kMatmul:
      matmuls_.push_back(MatmulCommand(command));
      break;
    case Opcode::kSetWindow:
      matmuls_.push_back(SetWindowCommand(command));
      break;
    case Opcode::kDepthwise:
      matmuls_.push_back(DepthwiseCommand(command));
      break;
    case Opcode::kStore:
      stores_.push_back({StoreCommand(command), dispatched_});
      ++open_stores_;
      break;
    case Opcode::kFence:
      if (!pass_fence(FenceCommand(command))) return false;
      break;
    case Opcode::kFinish:
      if (others_idle() && windows_ && pixels_left()) {
        fail(ErrorCode::kUnbalanced, Engine::kCommands, dispatched_);
      }
      if (halted_ || !engines_idle()) return false;
      interrupt_ |= field::kInterruptDone.mask();
      break;
  }
  order_.add(command);
  counters_[counter::kBytesCommands] += kCommandBytes;
  head_ = (head_ + 1) & ring_mask_;
  ++dispatched_;
  next_.reset();
  return true;
}

bool ReferenceDevice::pass_fence(const FenceCommand& fence) {
  if (open_stores_ > fence.count) return false;
  if (!is_snapshot(fence)) return true;
  std::vector<std::uint8_t> bytes(snapshot_beats(geometry_.n) * geometry_.n);
  encode_snapshot(counters_, bytes.data());
  stores_.push_back({Snapshot{fence.address, std::move(bytes)}, dispatched_});
  return true;
}

bool ReferenceDevice::fetch(WordStream& stream, std::uint64_t capacity, Engine engine,
                            std::size_t bytes_counter) {
  const std::uint64_t limit = std::min(stream.end(), stream.released + capacity);
  const bool any = stream.arrived < limit;
  while (stream.arrived < limit) {
    const WordStream::Run run = stream.run(stream.arrived, geometry_.n);
    const std::uint64_t words = std::min(run.words, limit - stream.arrived);
    const std::uint64_t good = memory_.reach(run.address, words * geometry_.n) / geometry_.n;
    stream.arrived += good;
    if (!geometry_.in_tensor_memory(run.address)) counters_[bytes_counter] += good * geometry_.n;
    if (good != words) {
      fail(ErrorCode::kBusDecode, engine, run.tag);
      return false;
    }
  }
  return any;
}

// LOAD_ACTIVATIONS begin in their order. The scratchpad changes from words to pixels, and back,
// when it keeps nothing.
bool ReferenceDevice::begin_load() {
  if (loads_.empty()) return false;
  const ActivationLoad load = loads_.front();
  const bool window = is_window(load.command);
  if (window != windows_) {
    const bool empty = windows_ ? planes_.empty() : activations_.released == activations_.end();
    if (!empty) return false;
  }
  if (window && !planes_.has_room(load.command)) return false;
  // Words that no block claimed would be taken for those of what begins now.
  const bool start = load.command.place == 0 && (load.command.flags & flag::kStart) != 0;
  if (windows_ && planes_.empty() && planes_.unclaimed() && (!window || start)) {
    fail(ErrorCode::kUnbalanced, Engine::kActivations, load.tag);
    return false;
  }
  loads_.pop_front();
  windows_ = window;
  if (window) {
    load_pixels(load);
  } else {
    activations_.add(load.command, load.tag);
  }
  return true;
}

void ReferenceDevice::load_pixels(const ActivationLoad& load) {
  const LoadActivationsCommand& command = load.command;
  planes_.begin(command);
  const std::uint64_t bytes = std::uint64_t{command.rows} * geometry_.n;
  for (std::uint32_t plane = 0; plane < command.count; ++plane) {
    const std::uint64_t address =
        command.address + std::uint64_t{plane} * command.stride * geometry_.n;
    const std::uint64_t good = memory_.reach(address, bytes) / geometry_.n * geometry_.n;
    if (!geometry_.in_tensor_memory(address)) counters_[counter::kBytesActivations] += good;
    if (good != bytes) {
      fail(ErrorCode::kBusDecode, Engine::kActivations, load.tag);
      return;
    }
    before_read(address, bytes);
    planes_.put(command, plane, memory_.read(address, bytes, scratch_));
  }
}

DeviceKind reference_kind() {
  DeviceKind kind;
  kind.name = "reference";
  kind.summary = "plain C++ with the same registers, no notion of time";
  kind.arrays = {2, 4, 8, 16, 32, 64};
  kind.any_design = true;
  kind.make = [](const DeviceOptions& options) {
    return std::make_unique<ReferenceDevice>(options.geometry());
  };
  return kind;
}

}  // namespace gemm64
