// SPDX-License-Identifier: Apache-2.0
#include "host/device/reference_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "host/device/array_geometry.hpp"
#include "host/device/requantize.hpp"
#include "host/device/result_format.hpp"
#include "host/device/snapshot.hpp"
#include "host/error.hpp"

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
      batch_(geometry.n, memory_) {
  check_geometry(geometry);
  for (auto& bank : banks_) bank.resize(std::size_t{geometry.accumulator_rows} * geometry.n);
  reset();
}

void ReferenceDevice::check_range(const char* what, std::uint64_t address, std::size_t bytes) {
  if (bytes == 0 ? address <= memory_bytes() : inside(address, bytes)) return;
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
  clear_engines();
}

void ReferenceDevice::clear_engines() {
  head_ = tail_ = dispatched_ = 0;
  next_.reset();
  interrupt_ = error_ = 0;
  halted_ = false;
  weights_ = Stream();
  activations_ = Stream();
  parameters_ = Stream();
  matmuls_.clear();
  stores_.clear();
  open_stores_ = 0;
  tile_ = pass_ = block_ = stored_ = 0;
  compute_bank_ = store_bank_ = banks_used_ = banks_done_ = 0;
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
    case reg::kRingTail:
      tail_ = value & ring_mask_;
      run();
      return;
    default:
      refuse("write of", offset);
  }
}

bool ReferenceDevice::wait_interrupt(std::uint64_t /*max_clocks*/) {
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
  return weights_.released == weights_.end() && activations_.arrived == activations_.end() &&
         activations_.released == activations_.end() && parameters_.released == parameters_.end() &&
         matmuls_.empty() && banks_used_ == 0 && stores_.empty();
}

void ReferenceDevice::run() {
  const std::uint64_t weight_words = std::uint64_t{geometry_.weight_tiles} * geometry_.n;
  bool moved = true;
  while (moved && !halted_) {
    moved = dispatch();
    moved = (!halted_ && fetch(weights_, weight_words, Engine::kWeights, counter::kBytesWeights)) ||
            moved;
    moved = (!halted_ && fetch(activations_, geometry_.scratchpad_words, Engine::kActivations,
                               counter::kBytesActivations)) ||
            moved;
    moved = (!halted_ && fetch(parameters_, geometry_.parameter_words(), Engine::kParameters,
                               counter::kBytesParameters)) ||
            moved;
    moved = (!halted_ && compute_tile()) || moved;
    moved = (!halted_ && (store_block() || store_snapshot())) || moved;
  }
  settle();
}

void ReferenceDevice::settle() {
  if (batch_.empty()) return;
  batch_.compute();
  for (std::size_t i = 0; i < put_off_.size(); ++i) {
    const PutOff& block = put_off_[i];
    const std::uint32_t* const sums = batch_.sums(i);
    std::vector<std::uint32_t>& bank = banks_[block.bank];
    std::copy(sums, sums + batch_.rows(i) * std::size_t{geometry_.n}, bank.begin());
    if (block.stored) {
      memory_.write(block.address, results_of(bank, block.store, block.parameters), block.bytes);
    }
  }
  batch_.clear();
  put_off_.clear();
  last_block_ = {};
  unwritten_ = ~std::uint64_t{0};
  unwritten_end_ = 0;
}

void ReferenceDevice::before_read(std::uint64_t address, std::uint64_t bytes) {
  if (address < unwritten_end_ && unwritten_ < address + bytes) settle();
}

ReferenceDevice::PutOff* ReferenceDevice::put_off(unsigned bank) {
  return last_block_[bank] == 0 ? nullptr : &put_off_[last_block_[bank] - 1];
}

ErrorCode ReferenceDevice::check(const Command& command) const {
  bool count = true, rows = false, passes = false, blocks = false, address = true;
  std::uint64_t tile = command.count;  // words that follow each other
  bool strided = false;
  std::uint64_t bytes = 1;  // of memory for each of N values
  // Windows are the RTL's alone so far.
  const bool windows =
      command.opcode == Opcode::kLoadActivations || command.opcode == Opcode::kMatmul;
  if (windows && (command.flags & flag::kWindow) != 0) return ErrorCode::kBadOpcode;
  switch (command.opcode) {
    case Opcode::kLoadWeights:
    case Opcode::kLoadParameters:
      passes = true;
      break;
    case Opcode::kLoadActivations:
      rows = passes = blocks = strided = true;
      break;
    case Opcode::kMatmul:
      rows = passes = blocks = true;
      address = false;
      break;
    case Opcode::kStore: {
      rows = blocks = strided = true;
      const auto format = ResultFormat::of(command);
      if (!format) return ErrorCode::kBadOperand;
      if (format->takes_parameters() && format->value(command.low) > format->value(command.high)) {
        return ErrorCode::kBadOperand;
      }
      bytes = format->bytes();
      break;
    }
    case Opcode::kFence:
      if ((command.flags & flag::kSnapshot) == 0) return ErrorCode::kNone;
      count = false;
      tile = snapshot_beats(geometry_.n);
      break;
    case Opcode::kFinish:
      return ErrorCode::kNone;
    default:
      return ErrorCode::kBadOpcode;
  }
  if ((count && command.count == 0) || (passes && command.passes == 0) ||
      (blocks && command.blocks == 0) ||
      (rows && (command.rows == 0 || command.rows > geometry_.accumulator_rows))) {
    return ErrorCode::kBadOperand;
  }
  if (!address) return ErrorCode::kNone;
  if (command.address() >> geometry_.address_width != 0 || command.address() % geometry_.n != 0) {
    return ErrorCode::kBadAddress;
  }
  const std::uint64_t room = (address_end() - command.address()) / geometry_.n / bytes;
  if (strided) tile = std::uint64_t{command.rows} * command.blocks;  // of one, in all blocks
  if (tile > room) return ErrorCode::kBadAddress;
  const std::uint64_t others = command.count - 1;
  if (strided && command.stride != 0 && others > (room - tile) / command.stride) {
    return ErrorCode::kBadAddress;
  }
  return ErrorCode::kNone;
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
  const ErrorCode code = check(command);
  if (code != ErrorCode::kNone) {
    fail(code, Engine::kCommands, dispatched_);
    return false;
  }
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      weights_.add(command, dispatched_);
      break;
    case Opcode::kLoadActivations:
      activations_.add(command, dispatched_);
      break;
    case Opcode::kLoadParameters:
      parameters_.add(command, dispatched_);
      break;
    case Opcode::kMatmul:
      matmuls_.push_back(command);
      break;
    case Opcode::kStore:
      stores_.push_back({command, dispatched_, {}});
      ++open_stores_;
      break;
    case Opcode::kFence:
      if (open_stores_ > command.count) return false;
      if ((command.flags & flag::kSnapshot) != 0) {
        std::vector<std::uint8_t> bytes(snapshot_beats(geometry_.n) * geometry_.n);
        encode_snapshot(counters_, bytes.data());
        stores_.push_back({command, dispatched_, std::move(bytes)});
      }
      break;
    case Opcode::kSetWindow:  // refused by check()
      break;
    case Opcode::kFinish:
      if (!engines_idle()) return false;
      interrupt_ |= field::kInterruptDone.mask();
      break;
  }
  counters_[counter::kBytesCommands] += kCommandBytes;
  head_ = (head_ + 1) & ring_mask_;
  ++dispatched_;
  next_.reset();
  return true;
}

void ReferenceDevice::Stream::add(const Command& command, std::uint32_t tag) {
  // Of more words than this a program would never see the end.
  constexpr double kMaxWords = static_cast<double>(std::uint64_t{1} << 62);
  Load load{end_, 0, command.address(), command.count, 1, 0, command.passes, tag};
  std::uint64_t blocks = 1;
  if (command.opcode == Opcode::kLoadActivations) {
    load.tile_words = command.rows;
    load.tiles = command.count;
    load.stride = command.stride;
    blocks = command.blocks;
  }
  const double words =
      static_cast<double>(load.tile_words * load.tiles) * static_cast<double>(load.passes * blocks);
  load.words = words > kMaxWords ? std::uint64_t{1} << 62
                                 : load.tile_words * load.tiles * load.passes * blocks;
  end_ += load.words;
  loads_.push_back(load);
}

ReferenceDevice::Stream::Run ReferenceDevice::Stream::run(std::uint64_t word,
                                                          std::uint32_t word_bytes) const {
  auto load = loads_.begin();
  while (word >= load->first + load->words) ++load;
  const std::uint64_t index = word - load->first;
  const std::uint64_t pass_words = load->tile_words * load->tiles;
  const std::uint64_t block = index / pass_words / load->passes;
  const std::uint64_t in_pass = index % pass_words;
  const std::uint64_t tile = in_pass / load->tile_words, in_tile = in_pass % load->tile_words;
  const std::uint64_t place = block * load->tile_words + tile * load->stride + in_tile;
  const bool dense = load->stride == load->tile_words;  // tiles lie one behind the other
  return {load->address + place * word_bytes,
          dense ? pass_words - in_pass : load->tile_words - in_tile, load->tag};
}

void ReferenceDevice::Stream::forget(std::uint64_t word) {
  while (!loads_.empty() && word >= loads_.front().first + loads_.front().words) {
    loads_.pop_front();
  }
}

bool ReferenceDevice::fetch(Stream& stream, std::uint64_t capacity, Engine engine,
                            std::size_t bytes_counter) {
  const std::uint64_t limit = std::min(stream.end(), stream.released + capacity);
  const bool any = stream.arrived < limit;
  while (stream.arrived < limit) {
    const Stream::Run run = stream.run(stream.arrived, geometry_.n);
    const std::uint64_t words = std::min(run.words, limit - stream.arrived);
    const std::uint64_t good = memory_.reach(run.address, words * geometry_.n) / geometry_.n;
    stream.arrived += good;
    counters_[bytes_counter] += good * geometry_.n;
    if (good != words) {
      fail(ErrorCode::kBusDecode, engine, run.tag);
      return false;
    }
  }
  return any;
}

bool ReferenceDevice::compute_tile() {
  if (matmuls_.empty()) return false;
  const Command& matmul = matmuls_.front();
  const bool accumulate = (matmul.flags & flag::kAccumulate) != 0;
  const bool retain = (matmul.flags & flag::kRetain) != 0;
  const bool first = !accumulate || tile_ == 0;
  if (weights_.arrived - weights_.read < geometry_.n) return false;
  if (activations_.arrived - activations_.read < matmul.rows) return false;
  if (first && banks_used_ == banks_.size()) return false;

  if (first) ++banks_used_;
  multiply(matmul, first);
  weights_.read += geometry_.n;
  weights_.released = weights_.read;
  weights_.forget(weights_.released);
  activations_.read += matmul.rows;
  const bool last_tile = tile_ + 1 == matmul.count;
  const bool last_pass = pass_ + 1 == matmul.passes;
  if (!retain || last_pass) {
    activations_.released = activations_.read;
    activations_.forget(activations_.released);
  } else if (last_tile) {
    activations_.read = activations_.released;  // the next pass starts again at the block's start
  }
  if (!accumulate || last_tile) {
    ++banks_done_;
    compute_bank_ ^= 1;
  }
  if (!last_tile) {
    ++tile_;
    return true;
  }
  tile_ = 0;
  if (!last_pass) {
    ++pass_;
    return true;
  }
  pass_ = 0;
  if (++block_ == matmul.blocks) {
    block_ = 0;
    matmuls_.pop_front();
  }
  return true;
}

// The next words of a stream as they follow each other.
BlockBatch::Words ReferenceDevice::words(const Stream& stream, std::uint64_t count) {
  const std::size_t n = geometry_.n;
  const Stream::Run first = stream.run(stream.read, geometry_.n);
  if (first.words >= count) {
    before_read(first.address, count * n);
    return {first.address, false};
  }
  // They are read now, so what a STORE gives them must be there.
  for (std::uint64_t done = 0; done < count;) {
    const Stream::Run run = stream.run(stream.read + done, geometry_.n);
    before_read(run.address, run.words * n);
    done += run.words;
  }
  std::uint8_t* room = nullptr;
  const BlockBatch::Words gathered = batch_.gather(count, room);
  for (std::uint64_t done = 0; done < count;) {
    const Stream::Run run = stream.run(stream.read + done, geometry_.n);
    const std::uint64_t some = std::min(run.words, count - done);
    std::memcpy(room + done * n, memory_.read(run.address, some * n, scratch_), some * n);
    done += some;
  }
  return gathered;
}

void ReferenceDevice::multiply(const Command& matmul, bool first) {
  if (batch_.full()) settle();
  BlockBatch::Words weights = words(weights_, geometry_.n);
  const std::size_t blocks = put_off_.size();
  const BlockBatch::Words activations = words(activations_, matmul.rows);
  if (put_off_.size() != blocks) weights = words(weights_, geometry_.n);  // it was settled
  if (first || put_off(compute_bank_) == nullptr) {
    batch_.begin(matmul.rows, first ? nullptr : banks_[compute_bank_].data());
    put_off_.push_back({compute_bank_});
    last_block_[compute_bank_] = put_off_.size();
  }
  batch_.add(weights, activations);
}

// The next set of parameters, for one tile of results.
std::vector<std::uint8_t> ReferenceDevice::take_parameters() {
  const std::size_t n = geometry_.n;
  std::vector<std::uint8_t> set(kParameterSetWords * n);
  for (std::uint64_t done = 0; done < kParameterSetWords;) {
    const Stream::Run run = parameters_.run(parameters_.read + done, geometry_.n);
    const std::uint64_t some = std::min<std::uint64_t>(run.words, kParameterSetWords - done);
    before_read(run.address, some * n);
    std::memcpy(set.data() + done * n, memory_.read(run.address, some * n, scratch_), some * n);
    done += some;
  }
  parameters_.read += kParameterSetWords;
  parameters_.released = parameters_.read;
  parameters_.forget(parameters_.released);
  return set;
}

// What a STORE writes of the rows of a bank.
const std::uint8_t* ReferenceDevice::results_of(const std::vector<std::uint32_t>& sums,
                                                const Command& store,
                                                const std::vector<std::uint8_t>& parameters) {
  if (parameters.empty()) return reinterpret_cast<const std::uint8_t*>(sums.data());
  const std::size_t n = geometry_.n;
  requantized_.resize(store.rows * n);
  for (std::size_t column = 0; column < n; ++column) {
    std::uint32_t bias;
    float scale;
    std::memcpy(&bias, parameters.data() + column * sizeof bias, sizeof bias);
    std::memcpy(&scale, parameters.data() + (n + column) * sizeof scale, sizeof scale);
    for (std::size_t at = column; at < requantized_.size(); at += n) {
      requantized_[at] = requantize(store, sums[at], bias, scale);
    }
  }
  return requantized_.data();
}

bool ReferenceDevice::store_block() {
  if (stores_.empty() || !stores_.front().snapshot.empty() || banks_done_ == 0) return false;
  const Store& store = stores_.front();
  const Command& command = store.command;
  const ResultFormat format = *ResultFormat::of(command);
  const bool requantizes = format.takes_parameters();
  if (requantizes && parameters_.arrived - parameters_.read < kParameterSetWords) return false;

  const std::uint64_t block = stored_ / command.count, tile = stored_ % command.count;
  const std::uint64_t row = block * command.rows + tile * command.stride;
  const std::uint64_t to = command.address() + format.block_bytes(row, geometry_.n);
  const std::uint64_t beats = std::uint64_t{command.rows} * format.beats_per_row();
  const std::uint64_t bytes = beats * geometry_.n;
  if (!inside(to, bytes)) settle();
  if (PutOff* const later = put_off(store_bank_)) {
    later->store = command;
    if (requantizes) later->parameters = take_parameters();
    later->stored = true;
    later->address = to;
    later->bytes = bytes;
    unwritten_ = std::min(unwritten_, to);
    unwritten_end_ = std::max(unwritten_end_, to + bytes);
    counters_[counter::kBytesResults] += bytes;
  } else {
    const std::vector<std::uint8_t> parameters =
        requantizes ? take_parameters() : std::vector<std::uint8_t>();
    if (!write_results(to, results_of(banks_[store_bank_], command, parameters), beats,
                       store.tag)) {
      return false;
    }
  }
  --banks_done_;
  --banks_used_;
  store_bank_ ^= 1;
  if (++stored_ == std::uint64_t{command.count} * command.blocks) {
    stored_ = 0;
    stores_.pop_front();
    --open_stores_;
  }
  return true;
}

bool ReferenceDevice::store_snapshot() {
  if (stores_.empty() || stores_.front().snapshot.empty()) return false;
  settle();
  const Store& store = stores_.front();
  if (!write_results(store.command.address(), store.snapshot.data(), snapshot_beats(geometry_.n),
                     store.tag)) {
    return false;
  }
  stores_.pop_front();
  return true;
}

// Beats that all cross the port; an error where some lie outside the memory.
bool ReferenceDevice::write_results(std::uint64_t address, const std::uint8_t* bytes,
                                    std::uint64_t beats, std::uint32_t tag) {
  counters_[counter::kBytesResults] += beats * geometry_.n;
  if (inside(address, beats * geometry_.n)) {
    memory_.write(address, bytes, beats * geometry_.n);
    return true;
  }
  for (std::uint64_t beat = 0; beat < beats; ++beat) {
    const std::uint64_t offset = beat * geometry_.n;
    if (inside(address + offset, geometry_.n)) {
      memory_.write(address + offset, bytes + offset, geometry_.n);
    }
  }
  fail(ErrorCode::kBusDecode, Engine::kResults, tag);
  return false;
}

DeviceKind reference_kind() {
  DeviceKind kind;
  kind.name = "reference";
  kind.summary = "plain C++ behind the same registers, no notion of time";
  kind.arrays = {2, 4, 8, 16, 32, 64};
  kind.make = [](const DeviceOptions& options) {
    return std::make_unique<ReferenceDevice>(geometry_of_array(options.array));
  };
  return kind;
}

}  // namespace gemm64
