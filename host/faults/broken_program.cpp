// SPDX-License-Identifier: Apache-2.0
#include "host/faults/broken_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "host/device/command_facts.hpp"
#include "host/device/window_taps.hpp"
#include "host/tiling/job.hpp"
#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMostCycles = 20'000;         // that the tiles of a legal program take
constexpr std::uint64_t kMostMemory = 1u << 20;       // of its memory
constexpr std::uint64_t kMostBrokenCycles = 300'000;  // of a broken one, whose counts may be huge
constexpr std::uint32_t kMaxLatency = 60;
constexpr std::uint32_t kMaxStalls = 30;  // percent

std::uint32_t draw(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(random() % (std::uint64_t{high} - low + 1));
}

bool one_in(std::mt19937& random, std::uint32_t count) { return random() % count == 0; }

/// A smaller accelerator, whose programs have more blocks, chunks and strips; they run on the large
/// one, too.
Geometry cramped(Geometry geometry, std::mt19937& random) {
  geometry.accumulator_rows = std::min(geometry.accumulator_rows, 16U << (random() % 2));
  const std::uint32_t least = geometry.accumulator_rows + geometry.burst_beats - 1;
  geometry.scratchpad_words =
      std::min(geometry.scratchpad_words, least + draw(random, 0, 3 * least));
  return geometry;
}

Output draw_output(std::mt19937& random, bool is_signed) {
  Output output;
  output.format = ResultFormat(is_signed ? ResultCode::kInt8 : ResultCode::kUint8);
  output.zero = output.format.least() + static_cast<int>(draw(random, 0, 255));
  output.low = one_in(random, 2) ? output.zero : output.format.least();
  output.high = output.format.largest();
  return output;
}

GemmShape draw_shape(const Geometry& geometry, std::mt19937& random) {
  const std::uint32_t most = std::max(2 * geometry.n, 20U);
  GemmShape shape;
  shape.m =
      one_in(random, 3) ? draw(random, 1, 3 * geometry.accumulator_rows) : draw(random, 1, 24);
  shape.k = draw(random, 1, most);
  shape.n = draw(random, 1, most);
  return shape;
}

/// The output's size along one axis; 0 where there is none.
std::uint32_t out_size(std::mt19937& random, std::uint32_t in, std::uint32_t pad,
                       std::uint32_t kernel, std::uint32_t dilation, std::uint32_t stride) {
  const std::uint32_t room = in + pad + draw(random, 0, kernel - 1);
  const std::uint32_t reach = (kernel - 1) * dilation + 1;
  return room < reach ? 0 : (room - reach) / stride + 1;
}

void draw_channels(const Geometry& geometry, std::mt19937& random, Convolution& c) {
  const std::uint32_t most = std::max(3 * geometry.n, 8U);
  c.channels = draw(random, 1, most);
  c.out_channels = draw(random, 1, most);
  if (one_in(random, 3)) {  // depthwise, perhaps with several outputs a channel
    c.groups = c.channels;
    c.out_channels = c.channels * draw(random, 1, 2);
  } else if (one_in(random, 3)) {
    c.groups = draw(random, 2, 6);
    c.channels = c.groups * draw(random, 1, std::max(1U, most / c.groups));
    c.out_channels = c.groups * draw(random, 1, std::max(1U, most / c.groups));
  }
}

/// `taken`: its input has these channels and this size.
Convolution draw_convolution(const Geometry& geometry, std::mt19937& random,
                             const Convolution* taken = nullptr) {
  Convolution c;
  do {
    c = Convolution();
    draw_channels(geometry, random, c);
    c.images = draw(random, 1, 2);
    c.height = draw(random, 1, 12);
    c.width = draw(random, 1, 16);
    if (taken != nullptr) {
      c.images = taken->images;
      c.channels = taken->out_channels;
      c.height = taken->out_height;
      c.width = taken->out_width;
      c.groups = 1;
      c.out_channels = draw(random, 1, 2 * geometry.n);
    }
    c.kernel_height = draw(random, 1, 3);
    c.kernel_width = draw(random, 1, 3);
    c.stride_height = draw(random, 1, 2);
    c.stride_width = draw(random, 1, 2);
    c.dilation_height = draw(random, 1, 2);
    c.dilation_width = draw(random, 1, 2);
    c.pad_top = draw(random, 0, c.kernel_height - 1);
    c.pad_left = draw(random, 0, c.kernel_width - 1);
    c.out_height =
        out_size(random, c.height, c.pad_top, c.kernel_height, c.dilation_height, c.stride_height);
    c.out_width =
        out_size(random, c.width, c.pad_left, c.kernel_width, c.dilation_width, c.stride_width);
  } while (c.out_height == 0 || c.out_width == 0);
  c.zero = static_cast<std::int8_t>(draw(random, 0, 255) - 128);
  return c;
}

/// Layers that read each other's results, and some that do not.
std::vector<Job> draw_chain(const Geometry& geometry, std::mt19937& random) {
  std::vector<Job> jobs;
  const std::uint32_t count = draw(random, 2, 4);
  GemmShape shape = draw_shape(geometry, random);
  Convolution convolution = draw_convolution(geometry, random);
  bool windows = false;
  while (jobs.size() < count) {
    const bool last = jobs.size() + 1 == count;
    const Output output = last && one_in(random, 2) ? Output() : draw_output(random, true);
    const bool reads = !jobs.empty() && !one_in(random, 4);
    if (!reads) windows = one_in(random, 2);
    if (windows) {
      convolution = reads ? draw_convolution(geometry, random, &convolution)
                          : draw_convolution(geometry, random);
      jobs.push_back(make_job("convolution", convolution, geometry, output));
    } else {
      const std::uint64_t m = shape.m, n = shape.n;
      shape = draw_shape(geometry, random);
      if (reads) {
        shape.m = m;
        shape.k = n;
      }
      jobs.push_back(make_job("product", shape, Accumulate::kDevice, geometry, output));
    }
    if (reads) jobs.back().source = jobs.size() - 2;
  }
  return jobs;
}

std::vector<Job> draw_jobs(ProgramKind kind, const Geometry& geometry, std::mt19937& random) {
  switch (kind) {
    case ProgramKind::kProduct:
      return {make_job("product", draw_shape(geometry, random),
                       one_in(random, 3) ? Accumulate::kHost : Accumulate::kDevice, geometry)};
    case ProgramKind::kEightBits:
      return {make_job("product", draw_shape(geometry, random), Accumulate::kDevice, geometry,
                       draw_output(random, one_in(random, 2)))};
    case ProgramKind::kConvolution:
    case ProgramKind::kStrips:
      return {make_job("convolution", draw_convolution(geometry, random), geometry,
                       one_in(random, 2) ? Output() : draw_output(random, one_in(random, 2)))};
    case ProgramKind::kChain:
      return draw_chain(geometry, random);
  }
  throw std::logic_error("a kind of program that is not drawn");
}

bool is_small(const std::vector<Job>& jobs) {
  std::uint64_t cycles = 0, bytes = 0;
  for (const Job& job : jobs) {
    const Plan& plan = job.plan;
    cycles += plan.tiles() * std::max<std::uint64_t>(plan.shape.m, plan.row_blocks() * plan.array);
    bytes += plan.weight_bytes() + plan.activation_bytes() + plan.result_bytes();
  }
  return cycles <= kMostCycles && bytes <= kMostMemory;
}

// ---------------------------------------------------------------------------------------- breaking

using Program = std::vector<Command>;

std::uint32_t mask_of(const CommandField& field) {
  return field.width == 32 ? ~0U : (1U << field.width) - 1;
}

std::uint32_t word_at(const std::uint8_t* bytes) {
  return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | std::uint32_t{bytes[3]} << 24;
}

/// A command's field, whatever its opcode.
std::uint32_t get(const Command& command, const CommandField& field) {
  std::uint8_t bytes[kCommandBytes];
  command.encode(bytes);
  return word_at(bytes + std::size_t{4} * field.word) >> field.lsb & mask_of(field);
}

void set(Command& command, const CommandField& field, std::uint32_t value) {
  std::uint8_t bytes[kCommandBytes];
  command.encode(bytes);
  std::uint8_t* const at = bytes + std::size_t{4} * field.word;
  const std::uint32_t word =
      (word_at(at) & ~(mask_of(field) << field.lsb)) | (value & mask_of(field)) << field.lsb;
  for (unsigned i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(word >> (8 * i));
  command = Command::decode(bytes);
}

std::uint32_t changed(std::uint32_t value, const CommandField& field, const Program& program,
                      std::mt19937& random) {
  const std::uint32_t mask = mask_of(field);
  switch (draw(random, 0, 6)) {
    case 0:
      return 0;
    case 1:
      return one_in(random, 2) ? mask : mask >> 1;
    case 2:
    case 3:
      return (one_in(random, 2) ? value + 1 : value - 1) & mask;
    case 4:
      return get(program[random() % program.size()], field);
    default:
      return value ^ 1U << draw(random, 0, field.width - 1);
  }
}

std::string change_field(Program& program, std::size_t index, std::mt19937& random) {
  Command& command = program[index];
  std::vector<const CommandField*> fields;
  for (const CommandField& field : kCommandFields) {
    const bool window = field.word >= 8 && !is_window(command);
    if (field.used_by(command.opcode) && !window) fields.push_back(&field);
  }
  // An opcode that has become another one may use none.
  const CommandField& field =
      fields.empty() ? kCommandFields[0] : *fields[random() % fields.size()];
  const std::uint32_t before = get(command, field);
  set(command, field, changed(before, field, program, random));
  return fmt::format("command {}: {} {} -> {}", index, field.name, before, get(command, field));
}

std::string change(Program& program, std::mt19937& random) {
  const std::size_t index = random() % (program.size() - 1);  // FINISH stays
  const auto at = program.begin() + static_cast<std::ptrdiff_t>(index);
  switch (draw(random, 0, 11)) {
    case 0: {
      if (program.size() == 2) break;
      program.erase(at);
      return fmt::format("command {} dropped", index);
    }
    case 1: {
      const Command twice = *at;
      program.insert(at, twice);
      return fmt::format("command {} doubled", index);
    }
    case 2: {
      const std::size_t other = random() % (program.size() - 1);
      std::swap(program[index], program[other]);
      return fmt::format("commands {} and {} swapped", index, other);
    }
    default:
      break;
  }
  return change_field(program, index, random);
}

/// Does it end soon, or wait? Tiles that neither weights nor MATMULs limit would take for ever.
bool ends_soon(const Program& program, const Geometry& geometry) {
  double weights = 0, cycles = 0;
  std::uint32_t rows = geometry.n;
  for (const Command& command : program) {
    const double passes = static_cast<double>(command.count) * command.passes;
    if (command.opcode == Opcode::kLoadWeights) weights += passes / geometry.n;
    if (command.opcode != Opcode::kMatmul) continue;
    rows = std::max(rows, std::min(command.rows, geometry.accumulator_rows));
    // Of a window COUNT is of planes, of any number of taps.
    cycles += is_window(command) ? static_cast<double>(kMostBrokenCycles) + 1
                                 : passes * command.blocks * std::max(command.rows, geometry.n);
  }
  return std::min(weights * rows, cycles) <= static_cast<double>(kMostBrokenCycles);
}

}  // namespace

const char* name(ProgramKind kind) {
  constexpr std::array kNames{"product", "8-bit results", "convolution", "strips", "chain"};
  return kNames.at(static_cast<std::size_t>(kind));
}

CosimWork draw_program(ProgramKind kind, const Geometry& geometry, std::mt19937& random) {
  for (;;) {
    const bool small = kind == ProgramKind::kStrips || one_in(random, 2);
    const Geometry planned = small ? cramped(geometry, random) : geometry;
    try {
      const std::vector<Job> jobs = draw_jobs(kind, planned, random);
      const bool strips = jobs[0].plan.window && jobs[0].plan.window->in_strips();
      if (!is_small(jobs) || (kind == ProgramKind::kStrips && !strips)) continue;
      return make_fenced_work(jobs, planned, static_cast<std::uint32_t>(random()));
    } catch (const UsageError&) {
      // It does not fit.
    }
  }
}

std::vector<std::string> break_program(std::vector<Command>& program, const Geometry& geometry,
                                       std::mt19937& random) {
  const std::vector<Command> legal = program;
  for (;;) {
    std::vector<std::string> changes;
    const std::uint32_t dice = draw(random, 0, 9);
    const std::size_t count = dice < 7 ? 1 : dice < 9 ? 2 : 3;
    while (changes.size() < count) changes.push_back(change(program, random));
    if (program != legal && ends_soon(program, geometry)) return changes;
    program = legal;
  }
}

BrokenProgram draw_broken_program(std::uint32_t seed, std::uint64_t index,
                                  const Geometry& geometry) {
  std::seed_seq seeds{seed, static_cast<std::uint32_t>(index),
                      static_cast<std::uint32_t>(index >> 32)};
  std::mt19937 random(seeds);
  BrokenProgram drawn;
  drawn.index = index;
  drawn.kind = static_cast<ProgramKind>(index % kProgramKinds);
  drawn.memory.latency = draw(random, 1, kMaxLatency);
  if (one_in(random, 3)) {
    drawn.memory.stall_probability = static_cast<double>(draw(random, 1, kMaxStalls)) / 100;
  }
  drawn.seed = static_cast<std::uint32_t>(random());
  drawn.work = draw_program(drawn.kind, geometry, random);
  drawn.changes = break_program(drawn.work.programs[0].commands, geometry, random);
  drawn.next = draw_program(static_cast<ProgramKind>(random() % kProgramKinds), geometry, random);
  return drawn;
}

}  // namespace gemm64
