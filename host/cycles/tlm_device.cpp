// SPDX-License-Identifier: Apache-2.0
#include "host/cycles/tlm_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "host/device/commands.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/window_taps.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

/// Of the cycles of a write of RING_TAIL, those in which the commands are there.
constexpr std::uint64_t kDoorbellCycles = 1;
/// Cycles after the write of a soft reset in which an idle device is busy with it.
constexpr std::uint64_t kSoftResetCycles = 3;

/// The counter of an engine's last cause, "idle".
std::size_t idle_of(std::string_view engine) {
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    if (kCounters[i].engine == engine && std::string_view(kCounters[i].cause) == "idle") return i;
  }
  throw std::logic_error("an engine without a counter of idle cycles");
}

/// Cycles of all causes of an engine.
std::uint64_t spent_by(const EngineEntry& engine, const Counters& counters) {
  std::uint64_t spent = 0;
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    if (std::string_view(kCounters[i].engine) == engine.name) spent += counters[i];
  }
  return spent;
}

/// Tiles of a MATMUL: of a window as many for each plane as the last SET_WINDOW has taps.
double tiles_of(const std::vector<Command>& commands, std::size_t index) {
  const MatmulCommand matmul(commands[index]);
  double tiles = static_cast<double>(matmul.count) * matmul.passes * matmul.blocks;
  if (!is_window(matmul)) return tiles;
  for (std::size_t i = index; i-- > 0;) {
    if (commands[i].opcode != Opcode::kSetWindow) continue;
    tiles *= taps_of(SetWindowCommand(commands[i]));
    break;
  }
  return tiles;
}

void add(Counters& sum, const Counters& counters) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counters[i];
}

/// What was counted between the two.
Counters less(Counters counters, const Counters& before) {
  for (std::size_t i = 0; i < counters.size(); ++i) counters[i] -= before[i];
  return counters;
}

/// `part` of `low`, the rest of `high`.
Counters mix(const Counters& low, const Counters& high, double part) {
  Counters counters;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    counters[i] = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(high[i]) +
                     part * (static_cast<double>(low[i]) - static_cast<double>(high[i]))));
  }
  // What each was rounded by: causes add up to the total, and what is the same of both stays.
  for (const EngineEntry& engine : kEngines) {
    std::size_t largest = idle_of(engine.name);
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      const bool own = std::string_view(kCounters[i].engine) == engine.name && low[i] != high[i];
      if (own && counters[i] > counters[largest]) largest = i;
    }
    counters[largest] += counters[counter::kTotalClocks] - spent_by(engine, counters);
  }
  return counters;
}

/// `part` of each of `low`, the rest of `high`, which are of the same commands.
std::vector<PredictedSnapshot> mix(const std::vector<PredictedSnapshot>& low,
                                   const std::vector<PredictedSnapshot>& high, double part) {
  std::vector<PredictedSnapshot> between;
  for (std::size_t i = 0; i < low.size() && i < high.size(); ++i) {
    between.push_back({low[i].command, mix(low[i].counters, high[i].counters, part)});
  }
  return between;
}

/// The prediction; with a memory that stalls, that of one which carries as many bytes per cycle
/// in the long run: a beat in each cycle in which no stall is drawn. Between whole numbers of bytes
/// the cycles lie as their times a byte do.
RingPrediction expect(const std::vector<Command>& commands, const std::vector<std::uint64_t>& given,
                      const Geometry& geometry, MemoryTiming memory, const Ring& ring) {
  const auto of = [&] { return predict_ring(commands, given, geometry, memory, ring); };
  // That of a DRAM channel is the channel's without stalls.
  if (memory.stall_probability == 0 || memory.sharing == MemorySharing::kDram) return of();
  const std::uint32_t most =
      memory.bytes_per_cycle == 0 ? geometry.n : std::min(memory.bytes_per_cycle, geometry.n);
  const double carried = std::max(1.0, most * (1 - memory.stall_probability));
  memory.stall_probability = 0;
  memory.bytes_per_cycle = static_cast<std::uint32_t>(carried);
  const double slower = 1.0 / memory.bytes_per_cycle;
  const RingPrediction low = of();
  if (memory.bytes_per_cycle == geometry.n) return low;
  ++memory.bytes_per_cycle;
  const double faster = 1.0 / memory.bytes_per_cycle;
  const RingPrediction high = of();
  const double part = (1 / carried - faster) / (slower - faster);
  return {mix(low.finishes, high.finishes, part), mix(low.snapshots, high.snapshots, part), {}, {}};
}

/// The sizes now, which depend on whether the tensor memory is enabled.
Geometry sizes_with_tensor_memory(Device& device) {
  Geometry geometry = read_sizes(device);
  geometry.tensor_words = device.read_register(reg::kTensorWords);
  geometry.tensor_memory =
      field::kTensorMemoryEnable.get(device.read_register(reg::kTensorMemory)) != 0;
  return geometry;
}

}  // namespace

TlmDevice::TlmDevice(const Geometry& geometry, const MemoryTiming& memory,
                     std::uint64_t memory_bytes)
    : geometry_(geometry), memory_(memory), function_(geometry, memory_bytes) {
  reset();
}

TlmDevice::TlmDevice(const Geometry& geometry, const MemoryTiming& timing, DeviceMemory& memory)
    : geometry_(geometry), memory_(timing), function_(geometry, memory) {
  reset();
}

void TlmDevice::forget() {
  works_.clear();
  busy_ = {};
  hang_.reset();
  tail_ = 0;
  busy_until_ = clock_;
}

void TlmDevice::reset() {
  function_.reset();
  geometry_ = sizes_with_tensor_memory(function_);
  counters_ = {};
  dram_before_ = dram_ = {};
  reset_until_ = 0;
  clock_ += kResetCycles;
  forget();
}

void TlmDevice::reset_at(std::uint64_t clock) {
  if (clock < clock_) throw std::invalid_argument("reset_at: the clock cannot go back");
  clock_ = clock;
  reset();
}

std::optional<std::uint64_t> TlmDevice::next_event() const {
  if (!works_.empty()) return works_.front().end;
  return hang_;
}

void TlmDevice::pass(std::uint64_t clock) {
  for (auto event = next_event(); event && *event <= clock; event = next_event()) {
    clock_ = std::max(clock_, *event);
    execute();
  }
  clock_ = std::max(clock_, clock);
}

void TlmDevice::run(std::uint64_t cycles) { pass(clock_ + cycles); }

bool TlmDevice::wait_interrupt(std::uint64_t max_cycles) {
  const std::uint64_t limit =
      max_cycles > ~std::uint64_t{0} - clock_ ? ~std::uint64_t{0} : clock_ + max_cycles;
  while (!interrupt()) {
    const auto event = next_event();
    if (!event || *event > limit) {
      pass(limit);
      return false;
    }
    pass(*event);
  }
  return true;
}

bool TlmDevice::halted() {
  return field::kStatusHalted.get(function_.read_register(reg::kStatus)) != 0;
}

// What is due in this cycle.
void TlmDevice::execute() {
  if (works_.empty()) {
    end_standstill();
    return;
  }
  const Work work = std::move(works_.front());
  works_.pop_front();
  const Counters before = counters_;
  add(counters_, work.counters);
  busy_until_ = work.end;
  function_.write_register(reg::kRingTail, work.tail);
  if (halted()) {
    works_.clear();
  } else {
    write_snapshots(work, before);
  }
  add(busy_.counted, work.counters);
  busy_.done = work.past_last;
  expect_standstill();
}

// Over those of the reference, which counts no cycles.
void TlmDevice::write_snapshots(const Work& work, const Counters& before) {
  for (const PredictedSnapshot& snapshot : work.snapshots) {
    Counters counters = before;
    add(counters, less(snapshot.counters, busy_.counted));
    std::uint8_t bytes[kSnapshotBytes];
    encode_snapshot(counters, bytes);
    function_.write_memory(busy_.commands[snapshot.command].address(), bytes, sizeof bytes);
  }
}

// Where the device waits for what no command brings, the watchdog ends it.
void TlmDevice::expect_standstill() {
  hang_.reset();
  const std::uint32_t status = function_.read_register(reg::kStatus);
  if (!works_.empty() || halted() || field::kStatusBusy.get(status) == 0) return;
  still_since_ = clock_;
  const std::uint32_t watchdog = function_.read_register(reg::kWatchdog);
  if (watchdog != 0) hang_ = clock_ + watchdog;
}

void TlmDevice::end_standstill() {
  const std::uint64_t cycles = clock_ - still_since_;
  counters_[counter::kTotalClocks] += cycles;
  for (const EngineEntry& engine : kEngines) {
    counters_[engine.value == Engine::kCommands ? counter::kCommandsWaitEngine
                                                : idle_of(engine.name)] += cycles;
  }
  hang_.reset();
  function_.wait_interrupt(0);  // finds that nothing moves any more
}

// Commands have come into the ring.
void TlmDevice::doorbell() {
  if (halted()) {
    function_.write_register(reg::kRingTail, tail_);
    return;
  }
  hang_.reset();
  const std::uint32_t seen =
      works_.empty() ? function_.read_register(reg::kRingTail) : works_.back().tail;
  const bool busy = field::kStatusBusy.get(function_.read_register(reg::kStatus)) != 0;
  const std::uint64_t there = clock_ - kDoorbellCycles;
  if (works_.empty() && !busy && there >= busy_until_) {
    busy_ = {};
    busy_.first = there;
    dram_before_ += std::exchange(dram_, {});
  }
  shorten_busy();
  take(seen);
  schedule();
  expect_standstill();
}

// The past takes as long to predict as the future: where it is long, what is left is taken to begin
// on an idle device, some commands of which are there already.
void TlmDevice::shorten_busy() {
  constexpr std::uint64_t kManyTiles = 1 << 16;
  double tiles = static_cast<double>(busy_.done);
  for (std::size_t i = 0; i < busy_.done; ++i) {
    if (busy_.commands[i].opcode == Opcode::kMatmul) tiles += tiles_of(busy_.commands, i);
  }
  if (tiles < kManyTiles || busy_.done == 0 ||
      busy_.commands[busy_.done - 1].opcode != Opcode::kFinish) {
    return;
  }
  const std::uint64_t later = busy_until_ - busy_.first;
  const auto done = static_cast<std::ptrdiff_t>(busy_.done);
  busy_.commands.erase(busy_.commands.begin(), busy_.commands.begin() + done);
  busy_.given.erase(busy_.given.begin(), busy_.given.begin() + done);
  busy_.ring.first += busy_.done;
  for (std::uint64_t& given : busy_.given) given -= std::min(given, later);
  for (Work& work : works_) {
    work.begin -= busy_.done;
    work.past_last -= busy_.done;
  }
  busy_.first = busy_until_;
  busy_.done = 0;
  busy_.counted = {};
}

// Takes the commands from the ring's place `from` on.
void TlmDevice::take(std::uint32_t from) {
  const std::uint32_t mask = function_.read_register(reg::kRingMask);
  const std::uint64_t base = std::uint64_t{function_.read_register(reg::kRingBaseHigh)} << 32 |
                             function_.read_register(reg::kRingBaseLow);
  if (busy_.commands.empty()) {
    busy_.ring = {base / kCommandBytes * kCommandBytes, mask, from & mask};
  }
  for (std::uint32_t place = from & mask; place != tail_; place = (place + 1) & mask) {
    if (works_.empty() || works_.back().complete) {
      works_.emplace_back();
      works_.back().begin = busy_.commands.size();
    }
    Work& work = works_.back();
    std::uint8_t bytes[kCommandBytes] = {};
    const std::uint64_t address =
        base / kCommandBytes * kCommandBytes + std::uint64_t{place} * kCommandBytes;
    if (address <= memory_bytes() && kCommandBytes <= memory_bytes() - address) {
      function_.read_memory(address, bytes, kCommandBytes);
    }
    busy_.commands.push_back(Command::decode(bytes));
    busy_.given.push_back(std::max(clock_ - kDoorbellCycles, busy_.first) - busy_.first);
    work.past_last = busy_.commands.size();
    work.tail = (place + 1) & mask;
    work.complete = busy_.commands.back().opcode == Opcode::kFinish;
  }
}

// From the commands since the device was idle; what is over already comes out as it was. Commands
// without FINISH whose data others must bring are estimated; so are those that end with an error.
void TlmDevice::schedule() {
  if (works_.empty()) return;
  const RingPrediction expected =
      expect(busy_.commands, busy_.given, geometry_, memory_, busy_.ring);
  dram_ = expected.dram;
  auto finish = expected.finishes.begin();
  auto snapshot = expected.snapshots.begin();
  std::uint64_t after = std::max(busy_until_, busy_.first);
  Counters counted = busy_.counted;
  for (Work& work : works_) {
    while (finish != expected.finishes.end() && finish->command + 1 < work.past_last) ++finish;
    const bool known = finish != expected.finishes.end() && finish->command + 1 == work.past_last;
    while (snapshot != expected.snapshots.end() && snapshot->command < work.begin) ++snapshot;
    work.first = std::max(after, busy_.first + busy_.given[work.begin]);
    work.snapshots.clear();
    if (known) {
      work.counters = less(finish->counters, counted);
      work.end = busy_.first + finish->counters[counter::kTotalClocks];
      for (; snapshot != expected.snapshots.end() && snapshot->command < work.past_last;
           ++snapshot) {
        work.snapshots.push_back(*snapshot);
      }
    } else {
      work.counters = estimate(work);
      work.end = work.first + work.counters[counter::kTotalClocks];
    }
    work.end = std::max(work.end, clock_ + 1);
    add(counted, work.counters);
    after = work.end;
  }
}

// Each engine at its full speed, one latency for commands and one for data; nothing waits else.
Counters TlmDevice::estimate(const Work& work) const {
  Counters counters{};
  const std::uint64_t most = std::uint64_t{1} << 40;  // programs without end do not wrap the sums
  const auto spend = [&](std::size_t index, std::initializer_list<double> factors) {
    double product = 1;
    for (const double factor : factors) product *= factor;
    counters[index] +=
        product > static_cast<double>(most) ? most : static_cast<std::uint64_t>(product);
  };
  for (std::size_t i = work.begin; i < work.past_last; ++i) {
    const Command& command = busy_.commands[i];
    spend(counter::kCommandsDispatch, {1});
    const CommandFact* const fact = fact_of(command.opcode);
    if (reads(command)) {
      const auto times = [&](CommandMember field) {
        return static_cast<double>(value_of(command, field));
      };
      spend(fact->counts,
            {times(fact->run), times(fact->runs), times(fact->passes), times(fact->blocks)});
    } else if (command.opcode == Opcode::kMatmul) {
      const MatmulCommand matmul(command);
      spend(fact->counts, {static_cast<double>(matmul.rows), tiles_of(busy_.commands, i)});
    }
  }
  std::uint64_t longest = 0;
  for (const EngineEntry& engine : kEngines) {
    longest = std::max(longest, spent_by(engine, counters));
  }
  const std::uint64_t total = longest + 2 * std::uint64_t{memory_.latency} + geometry_.pipeline();
  counters[counter::kTotalClocks] = total;
  for (const EngineEntry& engine : kEngines) {
    counters[idle_of(engine.name)] += total - spent_by(engine, counters);
  }
  const auto bytes = [&](std::size_t to, std::size_t beats) {
    counters[to] = counters[beats] * geometry_.n;
  };
  bytes(counter::kBytesWeights, counter::kWeightsTransfer);
  bytes(counter::kBytesActivations, counter::kActivationsTransfer);
  bytes(counter::kBytesParameters, counter::kParametersTransfer);
  bytes(counter::kBytesOperands, counter::kOperandsTransfer);
  counters[counter::kBytesCommands] = (work.past_last - work.begin) * kCommandBytes;
  return counters;
}

// While the device is busy, its counters grow evenly.
std::uint64_t TlmDevice::counter(std::size_t index) const {
  std::uint64_t value = counters_[index];
  if (!works_.empty() && clock_ > works_.front().first) {
    const Work& work = works_.front();
    const double part =
        static_cast<double>(clock_ - work.first) / static_cast<double>(work.end - work.first);
    // Below zero where too much was estimated of the work before.
    const auto added = static_cast<double>(static_cast<std::int64_t>(work.counters[index]));
    value += static_cast<std::uint64_t>(static_cast<std::int64_t>(part * added));
  }
  return value;
}

std::uint32_t TlmDevice::read_register(std::uint32_t offset) {
  run(kRegisterCycles);
  if (offset == reg::kRingTail) return tail_;
  if (offset == reg::kStatus) {
    return function_.read_register(offset) | field::kStatusBusy.put(!works_.empty()) |
           field::kStatusResetting.put(clock_ < reset_until_);
  }
  for (std::size_t i = 0; i < kCounters.size(); ++i) {
    if (offset == kCounters[i].offset) return static_cast<std::uint32_t>(counter(i));
    if (offset == kCounters[i].offset + 4) return static_cast<std::uint32_t>(counter(i) >> 32);
  }
  return function_.read_register(offset);
}

void TlmDevice::write_register(std::uint32_t offset, std::uint32_t value) {
  run(kRegisterCycles);
  switch (offset) {
    case reg::kRingTail:
      if (clock_ < reset_until_) {
        throw DeviceError(
            fmt::format("write of the register at {:#05x}: answered with SLVERR", offset));
      }
      tail_ = value & function_.read_register(reg::kRingMask);
      doorbell();
      return;
    case reg::kControl:
      if (field::kControlClearCounters.get(value) != 0) counters_ = {};
      if (field::kControlReset.get(value) != 0) {
        // The memory answers what it has been asked for.
        reset_until_ = clock_ + kSoftResetCycles;
        if (!works_.empty()) reset_until_ += memory_.latency + geometry_.burst_beats;
        forget();
      }
      function_.write_register(offset, value);
      return;
    case reg::kTensorMemory:
      if (!works_.empty()) {
        throw DeviceError(
            fmt::format("write of the register at {:#05x}: answered with SLVERR", offset));
      }
      function_.write_register(offset, value);
      geometry_ = sizes_with_tensor_memory(function_);
      reset_until_ = clock_ + kSoftResetCycles;
      forget();
      return;
    default:
      function_.write_register(offset, value);
  }
}

DeviceKind tlm_kind() {
  DeviceKind kind;
  kind.name = "tlm";
  kind.summary = "the reference's results in the predicted cycles, fast";
  kind.has_cycles = true;
  kind.arrays = {2, 4, 8, 16, 32, 64};
  kind.any_design = true;
  kind.make = [](const DeviceOptions& options) {
    return std::make_unique<TlmDevice>(options.geometry(), options.memory);
  };
  return kind;
}

}  // namespace gemm64
