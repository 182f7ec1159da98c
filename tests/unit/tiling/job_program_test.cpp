// SPDX-License-Identifier: Apache-2.0
#include "host/tiling/job_program.hpp"

#include "host/cycles/cycle_model.hpp"
#include "host/cycles/program_prediction.hpp"
#include "host/device/commands.hpp"
#include "host/device/snapshot.hpp"
#include "host/device/window_taps.hpp"
#include "tests/test.hpp"
#include "tests/unit/tiling/known_programs.hpp"

namespace gemm64 {
namespace {

Geometry array_of_8() {
  Geometry geometry;
  geometry.n = 8;
  return geometry;
}

JobProgram list_of(const std::vector<GemmShape>& shapes, const Geometry& geometry) {
  std::vector<Job> jobs;
  for (const GemmShape& shape : shapes) {
    jobs.push_back(make_job("product", shape, Accumulate::kDevice, geometry));
  }
  return make_job_program(jobs, geometry);
}

std::uint64_t cycles_of(const JobProgram& list, const Geometry& geometry) {
  std::uint64_t cycles = 0;
  for (const Counters& layer : predict_program(list, geometry, {}).layers) {
    cycles += layer[counter::kTotalClocks];
  }
  return cycles;
}

std::vector<Opcode> opcodes(const JobProgram& list) {
  std::vector<Opcode> opcodes;
  for (const Command& command : list.program) opcodes.push_back(command.opcode);
  return opcodes;
}

TEST(JobProgram, LoadsNextWeightsBeforeFence) {
  constexpr auto kWeights = Opcode::kLoadWeights, kLoad = Opcode::kLoadActivations,
                 kMatmul = Opcode::kMatmul, kStore = Opcode::kStore;
  // The second has two groups of blocks: 131 rows are 66 and 65.
  const JobProgram list = list_of({{4, 8, 8}, {131, 20, 9}, {1, 1, 1}}, array_of_8());
  EXPECT_EQ(opcodes(list), (std::vector<Opcode>{kWeights, kLoad, kMatmul, kStore,  // 0
                                                kWeights, Opcode::kFence,          // of 1; of 0
                                                kLoad, kMatmul, kStore,            // 1
                                                kWeights, kLoad, kMatmul, kStore,  // 1
                                                kWeights, Opcode::kFence,          // of 2; of 1
                                                kLoad, kMatmul, kStore, Opcode::kFinish}));  // 2
}

// The second of a program whose activations are there, begins before the first has ended.
TEST(JobProgram, StartsReadyProductBeforeFence) {
  constexpr auto kWeights = Opcode::kLoadWeights, kLoad = Opcode::kLoadActivations,
                 kMatmul = Opcode::kMatmul, kStore = Opcode::kStore;
  const Geometry geometry = array_of_8();
  std::vector<Job> jobs(2, make_job("product", {131, 20, 9}, Accumulate::kDevice, geometry));
  const std::uint64_t single = cycles_of(make_job_program(jobs, geometry), geometry);
  jobs[1].ready = true;
  const JobProgram list = make_job_program(jobs, geometry);
  EXPECT_EQ(opcodes(list),
            (std::vector<Opcode>{kWeights, kLoad, kMatmul, kStore,  // 0
                                 kWeights, kLoad, kMatmul, kStore,  // 0
                                 kWeights, kLoad, kMatmul,          // of 1
                                 Opcode::kFence, kStore,            // of 0; of 1
                                 kWeights, kLoad, kMatmul, kStore, Opcode::kFinish}));
  EXPECT_EQ(list.program[11].count, 0u) << "the fence waits for all results";
  EXPECT_LT(cycles_of(list, geometry), single - 150) << "the way through memory is hidden";
}

TEST(JobProgram, OfOneJobIsThatJobsOwn) {
  const JobProgram list = list_of({{131, 20, 9}}, array_of_8());
  EXPECT_EQ(list.program, list.jobs[0].program);
}

TEST(JobProgram, KnowsWhereEachCommandComesFrom) {
  const JobProgram list = list_of({{4, 8, 8}, {131, 20, 9}, {1, 1, 1}}, array_of_8());
  ASSERT_EQ(list.origins.size(), list.program.size());
  std::size_t ends = 0;
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const CommandOrigin& origin = list.origins[i];
    const Opcode opcode = list.program[i].opcode;
    EXPECT_EQ(origin.ends_job, opcode == Opcode::kFence || opcode == Opcode::kFinish);
    if (origin.ends_job) {
      EXPECT_EQ(origin.job, ends++);
    } else {
      EXPECT_EQ(list.program[i], list.jobs[origin.job].program[origin.command]);
    }
  }
  EXPECT_EQ(ends, 3u);
}

TEST(JobProgram, FencesWaitForAllAndSnapshot) {
  const Geometry geometry = array_of_8();
  const JobProgram list = list_of({{4, 8, 8}, {4, 8, 8}, {4, 8, 8}}, geometry);
  std::uint64_t address = list.snapshots;
  for (const Command& command : list.program) {
    if (command.opcode != Opcode::kFence) continue;
    EXPECT_TRUE(is_snapshot(command));
    EXPECT_EQ(command.count, 0u);
    EXPECT_EQ(command.address(), address);
    address += list.snapshot_bytes;
  }
  EXPECT_EQ(address, list.snapshots + 2 * list.snapshot_bytes);
  EXPECT_EQ(list.snapshot_bytes, 320u);
}

TEST(JobProgram, LaysNothingOverAnythingElse) {
  for (const std::uint32_t n : {2u, 8u, 64u}) {
    Geometry geometry;
    geometry.n = n;
    std::vector<GemmShape> shapes;
    for (std::uint64_t i = 1; i < 100; ++i) shapes.push_back({i, 1 + 7 * i % 90, 1 + 3 * i % 50});
    const JobProgram list = list_of(shapes, geometry);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces;  // address, bytes
    std::uint64_t places = 64;
    while (places <= list.program.size()) places *= 2;
    pieces.push_back({list.ring, places * kCommandBytes});
    pieces.push_back({list.snapshots, (shapes.size() - 1) * list.snapshot_bytes});
    for (const Job& job : list.jobs) {
      pieces.push_back({job.layout.weights, job.plan.weight_bytes()});
      pieces.push_back({job.layout.parameters, job.plan.parameter_bytes()});
      pieces.push_back({job.layout.activations, job.plan.activation_bytes()});
      pieces.push_back({job.layout.results, job.plan.result_bytes()});
    }
    std::sort(pieces.begin(), pieces.end());
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      EXPECT_LE(pieces[i - 1].first + pieces[i - 1].second, pieces[i].first);
    }
    EXPECT_LE(pieces.back().first + pieces.back().second, list.end);
  }
}

/// Each takes what the one before gives: `m` rows, and these columns.
std::vector<Job> chain_of(std::uint64_t m, const std::vector<std::uint64_t>& columns,
                          const Geometry& geometry) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
    jobs.push_back(make_job("layer " + std::to_string(i), {m, columns[i], columns[i + 1]},
                            Accumulate::kDevice, geometry, kInt8));
    if (i != 0) jobs.back().source = i - 1;
  }
  return jobs;
}

TEST(JobProgram, FusesJobsWithPartialFences) {
  constexpr auto kWeights = Opcode::kLoadWeights, kLoad = Opcode::kLoadActivations,
                 kMatmul = Opcode::kMatmul, kStore = Opcode::kStore, kFence = Opcode::kFence,
                 kParameters = Opcode::kLoadParameters;
  const JobProgram list = make_job_program(chain_of(5, {8, 24, 17}, array_of_8()), array_of_8());
  ASSERT_EQ(opcodes(list), (std::vector<Opcode>{kWeights, kLoad, kMatmul, kParameters,  // 0
                                                kStore, kStore,         // two tiles of N; the last
                                                kWeights, kParameters,  // 1, ahead
                                                kFence,                 // until one STORE is open
                                                kLoad, kMatmul,         // 1: two tiles of K
                                                kFence,                 // of 0
                                                kLoad, kStore, Opcode::kFinish}));  // the last
  const auto& program = list.program;
  EXPECT_EQ(program[8].count, 1u);
  EXPECT_EQ(program[8].flags, 0u);
  EXPECT_EQ(program[11].count, 0u);
  EXPECT_EQ(program[11].flags, flag::kSnapshot);
  // What is loaded is what was stored, tile for tile.
  EXPECT_EQ(program[4].address(), program[9].address());
  EXPECT_EQ(program[5].address(), program[12].address());
  EXPECT_EQ(program[4].count, 2u);
  EXPECT_EQ(program[9].count, 2u);
  EXPECT_EQ(program[4].stride, program[9].stride);
  EXPECT_EQ(list.jobs[1].layout.activations, list.jobs[0].layout.results);
  EXPECT_EQ(list.jobs[1].layout.results % 4096, 0u);
  EXPECT_TRUE(list.origins[8].parts_job);
  EXPECT_FALSE(list.origins[8].ends_job);
  EXPECT_TRUE(list.origins[11].ends_job);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const CommandOrigin& origin = list.origins[i];
    if (origin.ends_job || origin.parts_job) continue;
    EXPECT_EQ(program[i], list.jobs[origin.job].program[origin.command]) << i;
  }
}

TEST(JobProgram, FusesUnsplittableJobsWithFences) {
  Geometry geometry = array_of_8();
  geometry.accumulator_rows = 16;
  for (const auto& jobs : {chain_of(17, {8, 24, 17}, geometry),    // two blocks of M
                           chain_of(5, {24, 8, 17}, geometry)}) {  // one tile between them
    const JobProgram list = make_job_program(jobs, geometry);
    const auto codes = opcodes(list);
    EXPECT_EQ(std::count(codes.begin(), codes.end(), Opcode::kFence), 1);
    EXPECT_EQ(list.jobs[1].layout.activations, list.jobs[0].layout.results);
  }
}

TEST(JobProgram, RefusesChainsThatDoNotFit) {
  auto jobs = chain_of(5, {8, 24, 17}, array_of_8());
  jobs[0].source = 0;
  EXPECT_THROW(make_job_program(jobs, array_of_8()), std::invalid_argument);
  jobs = chain_of(5, {8, 24, 17}, array_of_8());
  jobs[0] = make_job("sums", {5, 8, 24}, Accumulate::kDevice, array_of_8());
  EXPECT_THROW(make_job_program(jobs, array_of_8()), std::invalid_argument);
  jobs[0] = make_job("tall", {6, 8, 24}, Accumulate::kDevice, array_of_8(), kInt8);
  EXPECT_THROW(make_job_program(jobs, array_of_8()), std::invalid_argument);
  jobs[0] = make_job("narrow", {5, 8, 23}, Accumulate::kDevice, array_of_8(), kInt8);
  EXPECT_THROW(make_job_program(jobs, array_of_8()), std::invalid_argument);
  jobs = chain_of(5, {8, 20, 17}, array_of_8());
  jobs[0] = make_job("wide", {5, 8, 25}, Accumulate::kDevice, array_of_8(), kInt8);
  EXPECT_THROW(make_job_program(jobs, array_of_8()), std::invalid_argument) << "a part of a tile";
  jobs = chain_of(5, {8, 24, 17}, array_of_8());
  jobs[1].source_tile = 1;
  EXPECT_THROW(make_job_program(jobs, array_of_8()), std::invalid_argument) << "past the end";
  jobs = chain_of(5, {8, 24, 17}, array_of_8());
  jobs[1].source_row = 0;
  EXPECT_THROW(make_job_program(jobs, array_of_8()), std::invalid_argument) << "is no convolution";
}

TEST(JobProgram, ReadsSomeTilesOfWhatAJobGives) {
  std::vector<Job> jobs = chain_of(5, {8, 16, 17}, array_of_8());
  jobs[0] = make_job("wide", {5, 8, 28}, Accumulate::kDevice, array_of_8(), kInt8);
  for (const std::uint32_t tile : {0U, 1U}) {
    jobs[1].source_tile = tile;
    const JobProgram list = make_job_program(jobs, array_of_8());
    EXPECT_EQ(list.jobs[1].layout.activations, list.jobs[0].layout.results + tile * 5 * 8);
    const auto codes = opcodes(list);
    EXPECT_EQ(std::count(codes.begin(), codes.end(), Opcode::kFence), 1);
  }
}

// Three STOREs that wait for a block's last planes would fill the queue in which the FENCE ahead of
// these has its snapshot.
TEST(JobProgram, KeepsEarlyStoresAfterFence) {
  const auto part = [](std::uint32_t channels, std::uint32_t filters, std::uint64_t first,
                       std::uint64_t columns) {
    Output output = kInt8;
    output.part = ResultPart{first, columns};
    output.vector = StoreCommand{};
    return make_job("part", square(channels, 9, filters, 3), array_of_8(), output);
  };
  std::vector<Job> jobs = {part(8, 8, 0, 24), part(8, 16, 8, 24), part(24, 17, 3, 24),
                           part(24, 3, 0, 24)};
  jobs[0].map = jobs[1].map = 1;
  jobs[2].map = jobs[3].map = 2;
  jobs[2].source = jobs[3].source = 1;
  const JobProgram list = make_job_program(jobs, array_of_8());
  bool parted = false;
  for (std::size_t i = 0; i < list.program.size(); ++i) {
    const CommandOrigin& origin = list.origins[i];
    if (origin.job == 1 && origin.ends_job) break;
    parted = parted || (origin.job == 1 && origin.parts_job);
    if (origin.job == 2) EXPECT_FALSE(is_store(list.program[i])) << i;
  }
  EXPECT_TRUE(parted) << "the map's first tiles are read early";
  EXPECT_EQ(predict_program(list, array_of_8(), MemoryTiming{}).layers.size(), 4u);
}

TEST(JobProgram, LoadsOperandsBeforePreviousFence) {
  const Geometry geometry = array_of_8();
  Output adds = kInt8;
  adds.vector = StoreCommand{};
  adds.vector->add = 1;
  const auto opcodes_with = [&](std::size_t operand, bool table = false) {
    adds.vector->table = table ? 1 : 0;
    std::vector<Job> jobs = chain_of(4, {8, 8, 8}, geometry);
    jobs.push_back(make_job("sum", {4, 8, 8}, Accumulate::kDevice, geometry, adds));
    jobs[2].source = 1;
    jobs[2].operand = operand;
    return opcodes(make_job_program(jobs, geometry));
  };
  const auto fences_before = [](const std::vector<Opcode>& found) {
    const auto load = std::find(found.begin(), found.end(), Opcode::kLoadOperands);
    EXPECT_NE(load, found.end());
    return std::count(found.begin(), load, Opcode::kFence);
  };
  EXPECT_EQ(fences_before(opcodes_with(0)), 1) << "that of the job that gives them";
  EXPECT_EQ(fences_before(opcodes_with(1)), 2);
  EXPECT_EQ(fences_before(opcodes_with(1, true)), 1) << "a table waits for no job";
}

TEST(JobProgram, ReservesTheMostCommands) {
  const auto places = [](std::size_t count, bool of_a_map) {
    std::vector<Job> jobs(count,
                          make_job("layer", {4, 8, 8}, Accumulate::kDevice, array_of_8(), kInt8));
    for (Job& job : jobs) {
      if (!of_a_map) continue;
      job.map = 1;
      job.plan.output.part = ResultPart{0, 8};
    }
    return make_job_program(jobs, array_of_8()).snapshots / kCommandBytes;
  };
  // Six commands each, and eight more; of a part of a map twenty-four.
  EXPECT_EQ(places(36, false), 512U);
  EXPECT_EQ(places(37, false), 1024U);
  EXPECT_EQ(places(17, true), 512U);
  EXPECT_EQ(places(18, true), 1024U);
}

// The first part has space for all: three tiles, or the rows of both.
TEST(JobProgram, PlacesPartsOfAMapInOneSpace) {
  const struct {
    const char* name;
    std::vector<ResultPart> parts;
    std::vector<std::uint64_t> offsets;  // of the parts' results in the map
    std::uint64_t bytes;                 // of the map
  } cases[] = {
      {"columns", {{0, 24}, {8, 24}, {16, 24}}, {0, 32, 64}, 96},
      {"columns that are no whole tiles", {{0, 17}, {8, 17}}, {0, 32}, 96},
      {"rows", {{0, 8, 0, 8}, {0, 8, 4, 8}}, {0, 32}, 64},
  };
  for (const auto& one : cases) {
    std::vector<Job> jobs;
    for (const ResultPart& part : one.parts) {
      Output output = kInt8;
      output.part = part;
      jobs.push_back(make_job("part", {4, 8, 8}, Accumulate::kDevice, array_of_8(), output));
      jobs.back().map = 1;
    }
    const JobProgram list = make_job_program(jobs, array_of_8());
    const std::uint64_t map = list.jobs[0].layout.results;
    EXPECT_EQ(list.jobs[0].layout.end, map + one.bytes) << one.name;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Layout& layout = list.jobs[i].layout;
      EXPECT_EQ(layout.results, map + one.offsets[i]) << one.name << ", part " << i;
      if (i == 0) continue;
      EXPECT_GE(layout.weights, map + one.bytes) << one.name << ", part " << i;
      EXPECT_LT(layout.end, layout.activations + 2 * 4096) << "no second space for results";
    }
  }
}

TEST(JobProgram, RefusesOperandsThatDoNotFit) {
  const Geometry geometry = array_of_8();
  Output adds = kInt8;
  adds.vector = StoreCommand{};
  adds.vector->add = 1;
  const auto takes = [&](const GemmShape& given, const Output& output, const Output& taker) {
    std::vector<Job> jobs = {make_job("operand", given, Accumulate::kDevice, geometry, output),
                             make_job("sum", {4, 8, 16}, Accumulate::kDevice, geometry, taker)};
    jobs[1].operand = 0;
    return make_job_program(jobs, geometry);
  };
  EXPECT_NO_THROW(takes({4, 8, 16}, kInt8, adds));
  EXPECT_THROW(takes({4, 8, 16}, Output{}, adds), std::invalid_argument) << "sums of 32 bits";
  EXPECT_THROW(takes({5, 8, 16}, kInt8, adds), std::invalid_argument) << "a row more";
  EXPECT_THROW(takes({4, 8, 17}, kInt8, adds), std::invalid_argument) << "a column more";
  EXPECT_THROW(takes({4, 8, 16}, kInt8, kInt8), std::invalid_argument) << "nothing takes it";
}

/// Layers that read each other, some of whose results are sums.
JobProgram random_list(std::mt19937& random, const Geometry& geometry) {
  std::vector<Job> jobs;
  for (unsigned i = 0; i < 4; ++i) {
    Output output;
    if (random() % 4 != 0) output.format = ResultFormat(ResultCode::kInt8);
    const bool chained = i != 0 && jobs.back().plan.output.format.takes_parameters();
    const Convolution c = square(chained ? jobs.back().plan.convolution()->out_channels : 9, 6,
                                 draw(random, 1, 30), draw(random, 0, 1) != 0 ? 3 : 1);
    jobs.push_back(make_job("layer", c, geometry, output));
    if (chained) jobs.back().source = i - 1;
  }
  return make_job_program(jobs, geometry);
}

TEST(JobProgram, PartsTheBeatsByRows) {
  Geometry geometry = array_of_8();
  geometry.accumulator_rows = 16;
  for_seeds(1, 20, [&](std::mt19937& random) {
    const JobProgram list = random_list(random, geometry);
    std::vector<bool> taken(predict_counters(list.program, geometry, {})[counter::kBytesResults] /
                            geometry.n);
    for (std::size_t i = 0; i < list.jobs.size(); ++i) {
      const Plan& plan = list.jobs[i].plan;
      const std::uint64_t rows = plan.shape.m * plan.result_blocks();
      for (std::uint64_t row = 0; row < rows; ++row) {
        const std::uint64_t first = beats_before(list, i, row);
        for (std::uint64_t beat = 0; beat < plan.results().beats_per_row(); ++beat) {
          ASSERT_LT(first + beat, taken.size());
          EXPECT_FALSE(taken[first + beat]) << "job " << i << ", row " << row;
          taken[first + beat] = true;
        }
      }
      EXPECT_THROW(beats_before(list, i, rows), std::invalid_argument);
    }
    // What is left is that of the snapshots.
    EXPECT_EQ(static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), false)),
              (list.jobs.size() - 1) * list.snapshot_bytes / geometry.n);
  });
}

TEST(JobProgram, BeginsConvolutionsWithPlaneZero) {
  Geometry geometry = array_of_8();
  geometry.accumulator_rows = 16;
  unsigned begun = 0, further = 0;
  for_seeds(1, 20, [&](std::mt19937& random) {
    const JobProgram list = random_list(random, geometry);
    for (std::size_t i = 0; i < list.program.size(); ++i) {
      if (list.program[i].opcode != Opcode::kLoadActivations || !is_window(list.program[i]))
        continue;
      const LoadActivationsCommand load(list.program[i]);
      const bool starts = (load.flags & flag::kStart) != 0;
      begun += starts;
      further += load.place != 0;
      EXPECT_FALSE(starts && load.place != 0) << "command " << i;
    }
  });
  EXPECT_GT(begun, 0u);
  EXPECT_GT(further, 0u);
}

/// A chain of products of 8 x 8 x 8 whose results stay inside, on an accelerator with `words` of
/// tensor memory.
JobProgram inside(std::size_t count, std::uint32_t words, std::vector<std::size_t> kept = {}) {
  Geometry geometry = array_of_8().with_tensor_memory();
  geometry.tensor_words = words;
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.low = -128;
  output.high = 127;
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < count; ++i) {
    jobs.push_back(make_job("product", {8, 8, 8}, Accumulate::kDevice, geometry, output));
    if (i != 0) jobs.back().source = i - 1;
    jobs.back().internal = i + 1 != count;
  }
  for (const std::size_t i : kept) jobs[i].internal = false;
  return make_job_program(jobs, geometry);
}

TEST(TensorPlaces, AreShared) {
  const JobProgram list = inside(5, 16);
  EXPECT_EQ(list.places[0].word, list.places[2].word);
  EXPECT_EQ(list.places[1].word, list.places[3].word);
  EXPECT_NE(list.places[0].word, list.places[1].word);
  EXPECT_FALSE(list.is_on_chip(4));
  EXPECT_EQ(list.places[4].text(), "memory: the host reads it");
  EXPECT_EQ(list.places[0].text(), "scratchpad");
  EXPECT_EQ(list.jobs[1].layout.activations,
            array_of_8().tensor_base() + *list.places[0].word * array_of_8().n);
}

// By bytes per word and job the second tensor would be in the middle, and the last one nowhere.
TEST(TensorPlaces, AreThoseOfTheOrderThatSavesMost) {
  Geometry geometry = array_of_8().with_tensor_memory();
  geometry.tensor_words = 24;
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.low = -128;
  output.high = 127;
  std::vector<Job> jobs;
  const auto add = [&](std::optional<std::size_t> source, std::uint64_t columns, bool internal) {
    const std::uint64_t depth = source ? jobs[*source].plan.shape.n : 8;
    jobs.push_back(make_job("product", {8, depth, columns}, Accumulate::kDevice, geometry, output));
    jobs.back().source = source;
    jobs.back().internal = internal;
  };
  add({}, 8, true);
  add(0, 8, true);
  add(1, 8, false);
  add(1, 16, true);
  add(1, 8, false);
  add(1, 8, false);
  add(3, 8, false);
  const JobProgram list = make_job_program(jobs, geometry);
  for (const std::size_t i : {0, 1, 3}) EXPECT_TRUE(list.is_on_chip(i)) << i;
}

TEST(TensorPlaces, AreInMemoryIfThereIsNoSpace) {
  const JobProgram list = inside(4, 8, {0});
  EXPECT_FALSE(list.is_on_chip(0));
  EXPECT_TRUE(list.is_on_chip(1) != list.is_on_chip(2));
  for (const std::size_t i : {1, 2}) {
    if (!list.is_on_chip(i)) EXPECT_EQ(list.places[i].why, "no space among those that live then");
  }
  EXPECT_EQ(inside(2, 7).places[0].why, "it has 8 words, the tensor memory 7");
}

// What a compiler might get wrong is refused before it runs.
TEST(TensorPlaces, AreCheckedAgainstTheProgram) {
  Geometry geometry = array_of_8().with_tensor_memory();
  geometry.tensor_words = 16;
  const auto change = [&](Opcode opcode, std::size_t job, std::int64_t words) {
    JobProgram list = inside(5, 16);
    for (std::size_t i = 0; i < list.program.size(); ++i) {
      Command& command = list.program[i];
      if (command.opcode != opcode || list.origins[i].job != job) continue;
      command.set_address(command.address() + words * geometry.n);
    }
    return list;
  };
  const auto moved = [&](std::int64_t words) {
    return *inside(5, 16).places[0].word == 0 ? words : -words;
  };
  EXPECT_NO_THROW(check_tensor_words(inside(5, 16), geometry));
  EXPECT_THROW(check_tensor_words(change(Opcode::kStore, 0, 16), geometry), std::invalid_argument)
      << "past the end";
  EXPECT_THROW(check_tensor_words(change(Opcode::kLoadActivations, 1, moved(8)), geometry),
               std::invalid_argument)
      << "never written";
  EXPECT_THROW(check_tensor_words(change(Opcode::kStore, 1, moved(-8)), geometry),
               std::invalid_argument)
      << "one replaces another that lives, and the next one reads what is not there";
}

TEST(JobProgram, RefusesAnEmptyList) {
  EXPECT_THROW(make_job_program({}, array_of_8()), std::invalid_argument);
}

}  // namespace
}  // namespace gemm64
