// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/job_program.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "host/device/commands.hpp"
#include "host/device/snapshot.hpp"
#include "host/tiling/job_commands.hpp"
#include "host/tiling/overlap.hpp"
#include "host/tiling/shared_planes.hpp"
#include "host/tiling/stripes.hpp"
#include "host/util/divide.hpp"

namespace gemm64 {
namespace {

void check_operand(const std::vector<Job>& jobs, std::size_t job) {
  const Job& next = jobs[job];
  const Job* const from = *next.operand < job ? &jobs[*next.operand] : nullptr;
  if (next.plan.output.takes_operands() && from != nullptr &&
      from->plan.results().code() == ResultCode::kInt8 &&
      from->plan.result_rows() == next.plan.operand_rows() &&
      from->plan.result_columns() == next.plan.shape.n) {
    return;
  }
  throw std::invalid_argument(fmt::format("job {} cannot be the second operand of '{}', job {}",
                                          *next.operand, next.name, job));
}

void check_source(const std::vector<Job>& jobs, std::size_t job) {
  const Job& next = jobs[job];
  if (*next.source >= job) {
    throw std::invalid_argument(fmt::format("'{}' is job {} and cannot read the results of job {}",
                                            next.name, job, *next.source));
  }
  const Job& source = jobs[*next.source];
  const std::uint64_t given_rows = source.plan.result_rows();
  // Of a convolution's activations, a row is a pixel.
  const Convolution* const reads = next.plan.convolution();
  const std::uint64_t repeats = next.plan.lanes ? next.plan.lanes->repeats() : 1;
  const std::uint64_t rows = reads != nullptr ? reads->pixels() / repeats : next.plan.shape.m;
  const std::uint64_t columns = next.plan.activation_columns();
  const std::uint64_t given = source.plan.result_columns();
  const std::uint64_t first = std::uint64_t{next.source_tile} * next.plan.array;
  // All columns, or whole tiles of them.
  const bool in_place =
      first + columns == given || (first + columns < given && columns % next.plan.array == 0);
  const bool has_rows = next.source_row ? *next.source_row + rows <= given_rows && next.plan.window
                                        : rows == given_rows;
  if (source.plan.results().code() == ResultCode::kInt8 && has_rows && in_place) return;
  throw std::invalid_argument(fmt::format(
      "'{}' takes {}x{} activations of 8 bits; '{}' gives {}x{} results of {}", next.name, rows,
      columns, source.name, given_rows, given, source.plan.results().name()));
}

/// Rows that a STORE writes.
std::uint64_t stored_rows(const Command& store) {
  return std::uint64_t{store.rows} * store.count * store.blocks;
}

/// STOREs of a job's results that follow a cut.
std::uint32_t stores_behind(const Job& job, const ResultCut& cut) {
  std::uint64_t block = 0, tile = 0;
  std::uint32_t later = 0;
  if (job.plan.lanes) {
    std::uint64_t rows = 0;
    const std::uint64_t before =
        job.plan.shape.m * cut.tile + cut.block * job.plan.lanes->command().rows;
    for (const Command& command : job.program) {
      if (!is_store(command)) continue;
      if (rows >= before) ++later;
      rows += stored_rows(command);
    }
    return later;
  }
  for (const Command& command : job.program) {
    if (!is_store(command)) continue;
    if (block > cut.block || (block == cut.block && tile >= cut.tile)) ++later;
    tile += command.count;
    if (tile == job.plan.result_blocks()) {
      tile = 0;
      block += command.blocks;
    }
  }
  return later;
}

/// The commands of a job, or of a part of it.
struct Run {
  std::size_t begin = 0, end = 0;
};

/// A chain in stripes: of each job the commands of each stripe.
struct StripeRuns {
  JobStripes jobs;
  std::vector<std::vector<Run>> runs;
};

/// Puts the commands of jobs one after the other, of chains in stripes a stripe of each in turn.
/// `phases`: of each command of each job.
void append_commands(JobProgram& list, const std::vector<std::vector<Phase>>& phases,
                     const std::vector<Overlaps>& overlaps, const std::vector<StripeRuns>& chains) {
  const auto append = [&list](const Command& command, const CommandOrigin& origin) {
    list.program.push_back(command);
    list.origins.push_back(origin);
  };
  const auto append_run = [&](std::size_t job, const Run& run, Phase phase) {
    std::uint32_t stores = 0;
    const std::vector<Command>& program = list.jobs[job].program;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      if (phases[job][i] != phase) continue;
      append(program[i], {job, i});
      if (is_store(program[i])) ++stores;
    }
    return stores;
  };
  const auto append_all = [&](std::size_t job, Phase phase) {
    return append_run(job, {0, list.jobs[job].program.size() - 1}, phase);
  };
  const auto end_of = [&list](std::size_t job) {
    return CommandOrigin{job, list.jobs[job].program.size() - 1, true};
  };
  const auto append_snapshot = [&](std::size_t job, std::uint32_t count) {
    FenceCommand fence;
    fence.count = count;
    fence.flags = flag::kSnapshot;
    fence.address = list.snapshots + job * list.snapshot_bytes;
    append(fence, end_of(job));
  };
  const auto append_chain = [&](const StripeRuns& chain) {
    const std::size_t first = chain.jobs.first;
    for (std::size_t stripe = 0; stripe < chain.runs[0].size(); ++stripe) {
      for (std::size_t j = first; j <= chain.jobs.last; ++j) {
        const Run& run = chain.runs[j - first][stripe];
        append_run(j, run, Phase::kAhead);
        if (j != first) {
          CommandOrigin origin = end_of(j - 1);
          origin.ends_job = false;
          origin.parts_job = true;
          append(FenceCommand(), origin);
        } else if (stripe == 0 && first != 0) {
          append_snapshot(first - 1, 0);
        }
        append_run(j, run, Phase::kRest);
      }
    }
    for (std::size_t j = first; j < chain.jobs.last; ++j) append_snapshot(j, 0);
  };
  auto chain = chains.begin();
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    if (chain != chains.end() && chain->jobs.first == j) {
      append_chain(*chain);
      j = chain++->jobs.last;
      continue;
    }
    if (j == 0) {
      const Job& first = list.jobs[0];
      for (std::size_t i = 0; i + 1 < first.program.size(); ++i) append(first.program[i], {0, i});
      continue;
    }
    append_all(j, Phase::kAhead);
    FenceCommand fence;
    if (const auto& cut = overlaps[j - 1].cut) {
      fence.count = stores_behind(list.jobs[j - 1], *cut);
      CommandOrigin origin = end_of(j - 1);
      origin.ends_job = false;
      origin.parts_job = true;
      append(fence, origin);
    }
    append_snapshot(j - 1, append_all(j, Phase::kEarly));
    append_all(j, Phase::kRest);
  }
  append(list.jobs.back().program.back(), end_of(list.jobs.size() - 1));
}

/// The first operands come as weights do, ahead of all fences: the ring has room for four blocks of
/// them. They never stand in the way of the job before, whose own come first.
void load_operands_ahead(JobCommands& job) {
  for (std::size_t i = 0; i < job.commands.size(); ++i) {
    if (job.commands[i].opcode != Opcode::kLoadOperands) continue;
    job.phases[i] = Phase::kAhead;
    return;
  }
}

bool is_product(const Job& job) { return job.plan.convolution() == nullptr; }

/// Where each job overlaps the one before it and the one after it.
std::vector<Overlaps> find_overlaps(const JobProgram& list, const Geometry& geometry) {
  const std::vector<Job>& jobs = list.jobs;
  std::vector<Overlaps> overlaps(jobs.size());
  for (std::size_t j = 1; j < jobs.size(); ++j) {
    if (list.is_in_stripes(j) || list.is_in_stripes(j - 1)) continue;
    // What waits for operands of the job before would stand in the way of its own FENCE.
    if (jobs[j].operand == j - 1) continue;
    if (jobs[j].plan.lanes && jobs[j].plan.lanes->repeats() != 1) continue;
    // Rows that are stored before others of their map do not tell when all are there.
    if (jobs[j].source == j - 1 && jobs[j - 1].plan.end_row() != jobs[j - 1].plan.result_rows()) {
      continue;
    }
    // What reads only some tiles cannot know which of them come late.
    if (jobs[j].source == j - 1 &&
        jobs[j].plan.activation_columns() != jobs[j - 1].plan.result_columns()) {
      continue;
    }
    if (jobs[j].source != j - 1) {
      overlaps[j].early_blocks = covering_blocks(jobs[j].plan, geometry);
      if (jobs[j].ready && is_product(jobs[j - 1]) && is_product(jobs[j])) {
        overlaps[j].early_tiles = jobs[j].plan.k_tiles;
      }
      overlaps[j].early_words = std::numeric_limits<std::uint64_t>::max();
    } else if (const auto overlap =
                   find_overlap(jobs[j - 1].plan, jobs[j].plan, geometry, list.is_on_chip(j - 1))) {
      overlaps[j - 1].cut = overlap->cut;
      overlaps[j].early_blocks = overlap->early_blocks;
      overlaps[j].early_tiles = overlap->early_tiles;
      overlaps[j].early_words = overlap->early_words;
    }
  }
  return overlaps;
}

/// Bytes from a tile of results to the next one.
std::uint64_t tile_bytes(const Plan& plan) {
  return plan.results().block_bytes(plan.result_rows(), plan.array);
}

/// Results that are a part of a map lie within it; the first part takes the space for all, if that
/// is in memory.
void place_part(Job& job, bool on_chip, std::map<int, std::uint64_t>& maps) {
  const ResultPart& part = job.plan.output.part.value();
  const std::uint64_t bytes = tile_bytes(job.plan);
  const auto [map, is_first] = maps.emplace(*job.map, job.layout.results);
  if (!on_chip) {
    job.layout.end = is_first ? map->second + divide_up(part.columns, job.plan.array) * bytes
                              : job.layout.results;
  }
  job.layout.results = map->second + part.first / job.plan.array * bytes +
                       job.plan.results().block_bytes(part.first_row, job.plan.array);
}

/// Chains in stripes for which the tensor memory has space, and the place of all results.
std::vector<StripeGroup> place_in_stripes(JobProgram& list, const Geometry& geometry) {
  RefusedStripes refused;
  for (;;) {
    std::vector<StripeGroup> groups = find_stripes(list.jobs, geometry, refused);
    list.stripes.clear();
    for (const StripeGroup& group : groups) list.stripes.push_back(group.jobs);
    list.places = place_tensors(list.jobs, geometry, list.stripes);
    const auto lacks_space = [&list](const StripeGroup& group) {
      for (std::size_t j = group.jobs.first; j <= group.jobs.last; ++j) {
        if (group.jobs.is_inner(j) && !list.is_on_chip(j)) return true;
      }
      return false;
    };
    const auto lacking = std::find_if(groups.begin(), groups.end(), lacks_space);
    if (lacking == groups.end()) return groups;
    refused.emplace_back(lacking->jobs.first, lacking->jobs.last);
  }
}

/// Convolutions of maps that stay on the chip read these again instead of weights. Others in
/// stripes fill both banks, as if memory moved a quarter of a word a cycle.
void save_weights(JobProgram& list, std::vector<StripeGroup>& groups, const Geometry& geometry) {
  for (std::size_t j = 0; j < list.jobs.size(); ++j) {
    Job& job = list.jobs[j];
    if (!job.source || !list.is_on_chip(*job.source)) continue;
    if (!list.is_in_stripes(j)) read_for_each_pass(job.plan, geometry);
    for (StripeGroup& group : groups) {
      if (!group.jobs.has(j)) continue;
      for (StripePart& part : group.parts[j - group.jobs.first]) {
        read_for_each_pass(part.plan, geometry);
      }
    }
  }
  for (StripeGroup& group : groups) {
    for (std::vector<StripePart>& parts : group.parts) {
      for (StripePart& part : parts) fill_both_banks(part.plan, geometry, {geometry.n / 4.0, true});
    }
  }
}

/// Convolutions outside of stripes share planes with those before them.
void share_planes_outside(JobProgram& list, const Geometry& geometry) {
  for (std::size_t begin = 0, end = 0; begin < list.jobs.size(); begin = end + 1) {
    for (end = begin; end < list.jobs.size() && !list.is_in_stripes(end); ++end) {
    }
    const auto first = list.jobs.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = list.jobs.begin() + static_cast<std::ptrdiff_t>(end);
    std::vector<Job> run(std::make_move_iterator(first), std::make_move_iterator(last));
    share_planes(run, geometry);
    std::move(run.begin(), run.end(), first);
  }
}

/// The commands of a job of a chain, stripe by stripe, and where each one's begin and end.
JobCommands stripe_commands(const JobProgram& list, const StripeGroup& group, std::size_t job,
                            std::vector<Run>& runs) {
  const Plan& plan = list.jobs[job].plan;
  JobCommands all;
  for (const StripePart& part : group.parts[job - group.jobs.first]) {
    Layout layout = list.jobs[job].layout;
    layout.activations += part.read.first * plan.array;
    if (part.read.pixels != part.plan.convolution()->pixels()) {
      layout.plane_pixels = part.read.pixels;
    }
    layout.operands += part.operand.first * plan.array;
    layout.operand_rows = part.operand.pixels;
    layout.results += part.out_row * plan.array;
    const JobCommands own = job_commands(part.plan, layout);
    const std::size_t begin = all.commands.size();
    for (std::size_t i = 0; i + 1 < own.commands.size(); ++i) {
      all.add(own.commands[i], own.phases[i]);
    }
    runs.push_back({begin, all.commands.size()});
  }
  all.add(FinishCommand(), Phase::kRest);
  return all;
}

}  // namespace

std::uint64_t result_beats(const JobProgram& list, std::size_t command) {
  const Command& of = list.program[command];
  const Plan& plan = list.jobs[list.origins[command].job].plan;
  if (is_snapshot(of)) return list.snapshot_bytes / plan.array;
  return is_store(of) ? stored_rows(of) * plan.results().beats_per_row() : 0;
}

std::uint64_t beats_before(const JobProgram& list, std::size_t job, std::uint64_t row) {
  std::uint64_t beats = 0;
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const Command& command = list.program[i];
    if (is_store(command) && list.origins[i].job == job) {
      const std::uint64_t rows = stored_rows(command);
      if (row < rows) return beats + row * list.jobs[job].plan.results().beats_per_row();
      row -= rows;
    }
    beats += result_beats(list, i);
  }
  throw std::invalid_argument(fmt::format("'{}' stores no such row", list.jobs[job].name));
}

std::vector<std::size_t> first_matmuls(const JobProgram& list) {
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < list.program.size() && list.jobs.size() > 1; ++i) {
    const Opcode opcode = list.program[i].opcode;
    if (opcode != Opcode::kMatmul && opcode != Opcode::kDepthwise) continue;
    if (list.origins[i].job == first.size() + 1) first.push_back(i);
  }
  return first;
}

JobProgram make_job_program(const std::vector<Job>& jobs, const Geometry& device) {
  if (jobs.empty()) throw std::invalid_argument("a program of no jobs");
  JobProgram list;
  list.jobs = jobs;
  list.tensor_memory = device.tensor_memory || jobs.front().plan.tensor_memory;
  const Geometry geometry = list.geometry_on(device);
  list.places.resize(jobs.size());
  std::vector<StripeGroup> groups;
  if (list.tensor_memory) {
    groups = place_in_stripes(list, geometry);
    save_weights(list, groups, geometry);
  }
  std::uint64_t most_commands = 0;
  for (const Job& job : list.jobs) {
    // A FENCE replaces a single job's FINISH; an overlap adds another, up to three
    // STOREs with their LOAD_OPERANDS, and a LOAD_ACTIVATIONS.
    most_commands += program_length(job.plan) + (job.map ? 24 : 8);
  }
  for (const StripeGroup& group : groups) {
    for (const std::vector<StripePart>& parts : group.parts) {
      for (const StripePart& part : parts) most_commands += program_length(part.plan) + 1;
    }
  }
  list.snapshots = page_up(std::uint64_t{ring_places(most_commands)} * kCommandBytes);
  list.snapshot_bytes = snapshot_beats(geometry.n) * geometry.n;
  list.end = list.snapshots + (jobs.size() - 1) * list.snapshot_bytes;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j].source) check_source(jobs, j);
    if (jobs[j].operand) check_operand(jobs, j);
  }
  share_planes_outside(list, geometry);
  const std::vector<Overlaps> overlaps = find_overlaps(list, geometry);
  std::vector<std::vector<Phase>> phases;
  std::vector<StripeRuns> chains;
  for (const StripeGroup& group : groups) chains.push_back({group.jobs, {}});
  auto chain = chains.begin();
  std::map<int, std::uint64_t> maps;  // the address of each
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    Job& job = list.jobs[j];
    const auto results_of = [&list, &maps](std::optional<std::size_t> from) {
      if (!from) return std::optional<std::uint64_t>();
      const Job& giver = list.jobs[*from];
      return std::optional(giver.map ? maps.at(*giver.map) : giver.layout.results);
    };
    std::optional<std::uint64_t> activations = results_of(job.source);
    if (job.source) {
      const std::uint64_t tiles = job.source_tile * tile_bytes(list.jobs[*job.source].plan);
      activations = activations.value() + tiles + job.source_row.value_or(0) * job.plan.array;
    }
    std::optional<std::uint64_t> results = list.places[j].word;
    if (results) results = geometry.tensor_base() + *results * geometry.n;
    job.layout = make_layout(job.plan, list.end, activations, results_of(job.operand), results);
    if (job.source_row) job.layout.plane_pixels = list.jobs[*job.source].plan.result_rows();
    if (job.map) place_part(job, list.is_on_chip(j), maps);
    JobCommands commands;
    if (list.is_in_stripes(j)) {
      const StripeGroup& group = groups[static_cast<std::size_t>(chain - chains.begin())];
      commands = stripe_commands(list, group, j, chain->runs.emplace_back());
      const std::vector<StripePart>& parts = group.parts[j - group.jobs.first];
      for (std::size_t stripe = 0; stripe < parts.size(); ++stripe) {
        job.stripes.push_back(
            {chain->runs.back()[stripe].begin, parts[stripe].first_row, parts[stripe].plan});
      }
      if (j == group.jobs.last) ++chain;
    } else {
      commands = job_commands(job.plan, job.layout, overlaps[j]);
      // The FENCE that ends the giver of operands stands before all of this job, unless that one is
      // the job before.
      if (!job.operand || *job.operand + 1 < j) load_operands_ahead(commands);
    }
    job.program = std::move(commands.commands);
    phases.push_back(std::move(commands.phases));
    list.end = job.layout.end;
  }
  append_commands(list, phases, overlaps, chains);
  if (list.tensor_memory) check_tensor_words(list, geometry);
  return list;
}

}  // namespace gemm64
