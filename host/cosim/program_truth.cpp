// SPDX-License-Identifier: Apache-2.0
#include "host/cosim/program_truth.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "host/cycles/bursts.hpp"
#include "host/cycles/cycle_model.hpp"
#include "host/device/device_memory.hpp"
#include "host/device/reference_device.hpp"
#include "host/device/result_format.hpp"
#include "host/error.hpp"
#include "host/job/program.hpp"

namespace gemm64 {
namespace {

using Program = std::vector<Command>;

constexpr std::uint64_t kMostRuns = 1u << 14;
// A command under way and two that wait.
constexpr std::ptrdiff_t kLeastQueued = 3;

std::optional<Engine> engine_of(const Command& command) {
  switch (command.opcode) {
    case Opcode::kLoadWeights:
      return Engine::kWeights;
    case Opcode::kLoadActivations:
      return Engine::kActivations;
    case Opcode::kMatmul:
    case Opcode::kSetWindow:
      return Engine::kCompute;
    case Opcode::kLoadParameters:
      return Engine::kParameters;
    case Opcode::kStore:
      return Engine::kResults;
    case Opcode::kFence:
      if (is_snapshot(command)) return Engine::kResults;
      break;
    case Opcode::kFinish:
      break;
  }
  return std::nullopt;
}

bool reads(const Command& command) {
  const auto engine = engine_of(command);
  return engine == Engine::kWeights || engine == Engine::kActivations ||
         engine == Engine::kParameters;
}

bool meet(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  for (const ByteRange& x : a) {
    for (const ByteRange& y : b) {
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

/// Has the write been answered before the load begins?
bool ordered(const Program& program, std::size_t write, std::size_t load) {
  if (load < write) {
    return std::any_of(program.begin() + static_cast<std::ptrdiff_t>(load),
                       program.begin() + static_cast<std::ptrdiff_t>(write),
                       [](const Command& c) { return c.opcode == Opcode::kFinish; });
  }
  std::uint64_t behind = 0;  // STOREs
  for (std::size_t i = write + 1; i < load; ++i) {
    const Command& command = program[i];
    if (command.opcode == Opcode::kFinish) return true;
    if (command.opcode == Opcode::kStore) ++behind;
    if (command.opcode == Opcode::kFence && command.count <= behind) return true;
  }
  return false;
}

/// A memory in which every address exists: its bytes come again and again.
class EndlessMemory final : public DeviceMemory {
 public:
  explicit EndlessMemory(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return std::uint64_t{1} << 63; }
  std::uint64_t reach(std::uint64_t /*address*/, std::uint64_t bytes) override { return bytes; }
  const std::uint8_t* read(std::uint64_t address, std::uint64_t bytes,
                           std::vector<std::uint8_t>& scratch) override {
    const std::uint64_t from = address % bytes_.size();
    if (from + bytes <= bytes_.size()) return bytes_.data() + from;
    scratch.resize(bytes);
    for (std::uint64_t i = 0; i < bytes; ++i) scratch[i] = bytes_[(address + i) % bytes_.size()];
    return scratch.data();
  }
  // Only the ring counts, and it lies there for good.
  void write(std::uint64_t address, const void* data, std::uint64_t bytes) override {
    if (address + bytes <= bytes_.size()) std::memcpy(bytes_.data() + address, data, bytes);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// ERROR of the reference where all of memory exists, for the first `count` commands.
std::uint32_t error_of(const Program& program, std::size_t count, const Geometry& geometry,
                       std::uint64_t ring, std::uint64_t memory_bytes) {
  EndlessMemory memory(memory_bytes);
  ReferenceDevice device(geometry, memory);
  std::vector<std::uint8_t> bytes(program.size() * kCommandBytes);
  for (std::size_t i = 0; i < program.size(); ++i) {
    program[i].encode(bytes.data() + i * kCommandBytes);
  }
  device.write_memory(ring, bytes.data(), bytes.size());
  device.write_register(reg::kRingBaseLow, static_cast<std::uint32_t>(ring));
  device.write_register(reg::kRingMask, ring_places(program.size()) - 1);
  device.write_register(reg::kRingTail, static_cast<std::uint32_t>(count));
  device.wait_interrupt(1);
  return device.read_register(reg::kError);
}

}  // namespace

std::vector<ByteRange> reached(const Command& command, const Geometry& geometry) {
  if (!engine_of(command) || engine_of(command) == Engine::kCompute) return {};
  if (command.opcode == Opcode::kStore && !ResultFormat::of(command)) return {};
  const WordWalk walk = walk_of(command, geometry.n);
  const auto after = [&](double words) {
    const double end = static_cast<double>(walk.address) + words * geometry.n;
    return end > 1e18 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(end);
  };
  const double runs = static_cast<double>(walk.runs) * static_cast<double>(walk.blocks);
  if (runs > static_cast<double>(kMostRuns)) {
    const double last = static_cast<double>(walk.words) +
                        static_cast<double>(walk.run_step) * static_cast<double>(walk.runs) +
                        static_cast<double>(walk.block_step) * static_cast<double>(walk.blocks);
    return {{walk.address, after(last)}};
  }
  std::vector<ByteRange> ranges;
  for (std::uint64_t block = 0; block < walk.blocks; ++block) {
    for (std::uint64_t run = 0; run < walk.runs; ++run) {
      const std::uint64_t first = block * walk.block_step + run * walk.run_step;
      ranges.push_back(
          {after(static_cast<double>(first)), after(static_cast<double>(first + walk.words))});
    }
  }
  return ranges;
}

bool ProgramTruth::has_error(ErrorCode code, Engine engine, std::uint32_t command) const {
  if (command >= program_.size()) return false;
  if (code == ErrorCode::kBusDecode) {
    const std::vector<ByteRange> ranges = reached(program_[command], geometry_);
    return engine_of(program_[command]) == engine &&
           std::any_of(ranges.begin(), ranges.end(),
                       [this](const ByteRange& range) { return range.end > memory_; });
  }
  const std::uint32_t error = error_of(program_, program_.size(), geometry_, ring_, memory_);
  return field::kErrorCode.get(error) == static_cast<std::uint32_t>(code) &&
         field::kErrorEngine.get(error) == static_cast<std::uint32_t>(engine) &&
         field::kErrorCommand.get(error) == command;
}

bool ProgramTruth::is_raced() const {
  const std::vector<ByteRange> ring{{ring_, memory_}};
  for (std::size_t write = 0; write < program_.size(); ++write) {
    if (!writes(program_[write])) continue;
    const std::vector<ByteRange> written = reached(program_[write], geometry_);
    if (meet(written, ring)) return true;
    for (std::size_t load = 0; load < program_.size(); ++load) {
      if (!reads(program_[load]) || !meet(written, reached(program_[load], geometry_))) continue;
      if (is_snapshot(program_[write]) || !ordered(program_, write, load)) return true;
    }
  }
  return false;
}

bool ProgramTruth::may_wait_at(std::uint32_t command, bool done) const {
  if (command >= program_.size()) return false;
  const auto engine = engine_of(program_[command]);
  const auto before = program_.begin() + static_cast<std::ptrdiff_t>(command);
  if (engine && std::count_if(program_.begin(), before, [&](const Command& c) {
                  return engine_of(c) == engine;
                }) >= kLeastQueued) {
    const std::uint32_t error = error_of(program_, command, geometry_, ring_, memory_);
    if (field::kErrorCode.get(error) == static_cast<std::uint32_t>(ErrorCode::kWatchdog)) {
      return true;
    }
  }
  if (!done) return false;
  try {
    predict(program_, geometry_, MemoryTiming());
  } catch (const UsageError& error) {
    return std::string(error.what()).rfind("the program never ends", 0) == 0;
  }
  return false;
}

}  // namespace gemm64
