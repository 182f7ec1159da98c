// SPDX-License-Identifier: Apache-2.0
#include "host/check/program_truth.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "host/cycles/bursts.hpp"
#include "host/cycles/cycle_model.hpp"
#include "host/device/device_memory.hpp"
#include "host/device/reference_device.hpp"
#include "host/device/result_format.hpp"
#include "host/device/window_taps.hpp"
#include "host/tiling/program.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

using Program = std::vector<Command>;

constexpr std::uint64_t kMostRuns = 1u << 14;
// Queues hold two commands; a MATMUL stays in its queue while it is in progress.
constexpr std::ptrdiff_t kLeastQueued = 2;

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
  std::uint64_t stores = 0;  // STOREs
  for (std::size_t i = write + 1; i < load; ++i) {
    const Command& command = program[i];
    if (command.opcode == Opcode::kFinish) return true;
    if (is_store(command)) ++stores;
    if (command.opcode == Opcode::kFence && FenceCommand(command).count <= stores) return true;
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
  // Only the ring counts, and it is there for good.
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
  // A FINISH ahead of other commands has raised DONE, which must not end the wait for these.
  device.write_register(reg::kInterrupt, field::kInterruptDone.mask());
  device.wait_interrupt(1);
  return device.read_register(reg::kError);
}

}  // namespace

std::vector<ByteRange> reached(const Command& command, const Geometry& geometry) {
  if (!has_address(command)) return {};
  if (is_store(command) && !ResultFormat::of(command.format)) return {};
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
  const auto is_it = [&](std::uint32_t error) {
    return field::kErrorCode.get(error) == static_cast<std::uint32_t>(code) &&
           field::kErrorEngine.get(error) == static_cast<std::uint32_t>(engine) &&
           field::kErrorCommand.get(error) == command;
  };
  const std::uint32_t first = error_of(program_, program_.size(), geometry_, ring_, memory_);
  // What is found while commands are at work may come before a later command is refused.
  return is_it(first) ||
         is_it(error_of(program_, field::kErrorCommand.get(first), geometry_, ring_, memory_));
}

// Pixels are counted in the order of their loads; planes after the first come to the last pixels
// that have the slots.
bool ProgramTruth::reads_unkept_pixels() const {
  struct Pixel {
    std::uint32_t slot;
    std::vector<std::uint64_t> planes;  // when each comes, in words; 0: never
  };
  std::uint64_t words = 0;
  std::vector<Pixel> pixels;
  std::vector<std::size_t> last(std::size_t{1} << 16);  // pixel of each slot, plus one; 0: none
  for (const Command& command : program_) {
    if (command.opcode != Opcode::kLoadActivations || !is_window(command)) continue;
    const LoadActivationsCommand load(command);
    if (load.capacity == 0) continue;
    if (load.place % load.capacity != 0) return true;
    const std::size_t first = load.place / load.capacity;
    for (std::uint32_t i = 0; i < load.rows; ++i) {
      const std::uint32_t slot = (load.slot + i) % load.capacity;
      if (load.place == 0) {
        pixels.push_back({slot, {}});
        last[slot] = pixels.size();
      }
      if (last[slot] == 0) return true;
      std::vector<std::uint64_t>& planes = pixels[last[slot] - 1].planes;
      planes.resize(std::max<std::size_t>(planes.size(), first + load.count));
      for (std::size_t plane = 0; plane < load.count; ++plane) {
        planes[first + plane] = words + plane * load.rows + i + 1;
      }
    }
    words += std::uint64_t{load.rows} * load.count;
  }
  std::optional<SetWindowCommand> set;
  std::uint64_t claimed = 0, freed = 0, claimed_words = 0;
  for (const Command& command : program_) {
    if (command.opcode == Opcode::kSetWindow) set = SetWindowCommand(command);
    if (command.opcode != Opcode::kMatmul || !is_window(command)) continue;
    if (!set) return true;
    const MatmulCommand matmul(command);
    claimed += matmul.new_pixels;
    if (claimed > pixels.size() || freed > claimed) return true;
    std::vector<const Pixel*> kept(set->capacity, nullptr);  // by slot
    for (std::uint64_t i = freed; i < claimed; ++i) {
      if (pixels[i].slot >= kept.size() || kept[pixels[i].slot] != nullptr) return true;
      kept[pixels[i].slot] = &pixels[i];
    }
    const WindowTaps taps(*set, matmul);
    for (std::uint32_t pass = 0; pass < matmul.passes; pass += set->group_passes) {
      for (std::uint64_t i = 0; i < taps.tiles(); ++i) {
        const WindowTile tile = taps.tile(pass, i);
        if (tile.first_read) claimed_words += matmul.new_pixels;
        for (std::uint32_t row = 0; row < taps.rows(); ++row) {
          const WindowPixel pixel = taps.pixel(tile, row);
          if (!pixel.inside) continue;
          const Pixel* const kept_pixel = kept[pixel.slot];
          if (kept_pixel == nullptr) return true;
          if (tile.plane >= kept_pixel->planes.size()) return true;
          const std::uint64_t comes = kept_pixel->planes[tile.plane];
          if (comes == 0 || comes > claimed_words) return true;
        }
      }
    }
    freed += matmul.freed_pixels;
  }
  return false;
}

// Blocks of sums in their order, and the tiles of STOREs in theirs.
bool ProgramTruth::stores_stale_sums() const {
  constexpr std::uint32_t kMostPasses = 1000;  // more do not end in time
  struct Blocks {
    std::uint32_t rows;
    double count;
  };
  std::vector<Blocks> made, stored;
  for (const Command& command : program_) {
    if (command.opcode == Opcode::kMatmul) {
      const MatmulCommand matmul(command);
      const bool sums = (matmul.flags & flag::kAccumulate) != 0;
      const double blocks = matmul.blocks;
      const std::uint32_t bank = geometry_.accumulator_rows;
      if (matmul.rows > bank) {
        for (std::uint32_t pass = 0; pass < matmul.passes && pass < kMostPasses; ++pass) {
          made.push_back({bank, 1});
          made.push_back({matmul.rows - bank, 1});
        }
        continue;
      }
      made.push_back({matmul.rows, blocks * matmul.passes * (sums ? 1 : matmul.count)});
    } else if (is_store(command)) {
      stored.push_back({command.rows, static_cast<double>(command.blocks) * command.count});
    }
  }
  std::size_t at = 0;
  for (Blocks& tiles : stored) {
    while (tiles.count > 0 && at < made.size()) {
      if (tiles.rows > made[at].rows) return true;
      const double both = std::min(tiles.count, made[at].count);
      tiles.count -= both;
      made[at].count -= both;
      if (made[at].count <= 0) ++at;
    }
  }
  return false;
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
