// SPDX-License-Identifier: Apache-2.0
// Counters of random programs: they add up, agree with what the plans say, and stay what they were
// when the RTL last took them (tests/system compares the same kinds of programs with it, in far
// more time).

#include "host/cycles/cycle_model.hpp"
#include "host/util/float_bits.hpp"
#include "tests/system/convolution_programs.hpp"

namespace gemm64 {
namespace {

Geometry geometry_of(std::mt19937& random) {
  Geometry geometry;
  geometry.n = random() % 2 != 0 ? 4 : 8;
  if (random() % 3 == 0) {
    geometry.scratchpad_words = 79;
    geometry.accumulator_rows = 16;
  }
  return geometry;
}

MemoryTiming memory_of(std::mt19937& random) {
  MemoryTiming memory;
  memory.latency = draw(random, 1, 150);
  if (random() % 3 == 0) memory.bytes_per_cycle = draw(random, 1, 12);
  if (random() % 4 == 0) memory.sharing = MemorySharing::kShared;
  return memory;
}

/// Up to five layers, some of which read the results of one before.
JobProgram random_program(std::mt19937& random, const Geometry& geometry) {
  std::vector<Job> jobs;
  while (jobs.empty() || random() % 5 != 0) {
    const Output int8 = {ResultFormat(ResultCode::kInt8), 1, -128, 127};
    const GemmShape shape = system_test::random_shape(random, geometry.n, 40);
    const bool reads = !jobs.empty() && random() % 2 != 0;
    try {
      if (reads) {
        const GemmShape& from = jobs.back().plan.shape;
        jobs.push_back(
            make_job("reader", {from.m, from.n, shape.n}, Accumulate::kDevice, geometry, int8));
        jobs.back().source = jobs.size() - 2;
      } else if (random() % 2 != 0) {
        jobs.push_back(make_job("window", system_test::random_convolution(random, 20, 12, 100'000),
                                geometry, int8));
      } else {
        jobs.push_back(make_job("product", shape, Accumulate::kDevice, geometry, int8));
      }
    } catch (const UsageError&) {  // too much for this scratchpad
    }
  }
  return make_job_program(jobs, geometry);
}

/// A number that any counter moves.
void fold(std::uint64_t& into, const Counters& counters) {
  for (const std::uint64_t counter : counters) into = into * 1099511628211u + counter;
}

TEST(CountersOfRandomPrograms, MatchThePlans) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Geometry geometry = geometry_of(random);
    const JobProgram list = random_program(random, geometry);
    const Counters counters = predict_counters(list.program, geometry, memory_of(random));
    system_test::expect_causes_add_up(counters);
    system_test::expect_traffic(counters, list);
    if (HasFailure()) return;
  }
}

// Where the RTL's cycles change, these numbers do: write the new ones once tests/system agrees with
// them.
TEST(CountersOfRandomPrograms, StayWhatTheyWere) {
  std::uint64_t cycles = 0, all = 0, snapshots = 0, rings = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Geometry geometry = geometry_of(random);
    const JobProgram list = random_program(random, geometry);
    const MemoryTiming memory = memory_of(random);
    const Prediction found = predict(list.program, geometry, memory);
    cycles += found.counters[counter::kTotalClocks];
    fold(all, found.counters);
    for (const PredictedSnapshot& snapshot : found.snapshots) fold(snapshots, snapshot.counters);

    // The same twice in a ring, the second time while the first runs.
    std::vector<Command> ring = list.program;
    ring.insert(ring.end(), list.program.begin(), list.program.end());
    std::vector<std::uint64_t> given(ring.size(), 0);
    for (std::size_t i = list.program.size(); i < ring.size(); ++i)
      given[i] = random() % 500 + (i == list.program.size() ? 0 : given[i - 1]);
    const RingPrediction both = predict_ring(ring, given, geometry, memory);
    EXPECT_EQ(both.finishes.size(), 2u) << "seed " << seed;
    for (const PredictedSnapshot& finish : both.finishes) fold(rings, finish.counters);
    for (const PredictedSnapshot& snapshot : both.snapshots) fold(rings, snapshot.counters);
  }
  EXPECT_EQ(cycles, 832180u);
  EXPECT_EQ(all, 2322296903464738978u);
  EXPECT_EQ(snapshots, 7885790776639040712u);
  EXPECT_EQ(rings, 2603170497539659002u);
}

/// Up to six layers of maps, on the array or on the lanes, most of which read one before.
JobProgram random_layers(std::mt19937& random, const Geometry& geometry) {
  std::vector<Job> jobs;
  std::vector<Convolution> layers;
  const unsigned most_channels = geometry.n * draw(random, 1, 4);
  while (jobs.empty() || (jobs.size() < 6 && draw(random, 0, 4) != 0)) {
    std::optional<std::size_t> source;
    if (!jobs.empty() && draw(random, 0, 4) != 0) {
      source = jobs.size() - 1 - draw(random, 0, std::min<unsigned>(2, jobs.size()) - 1);
    }
    Convolution c =
        source ? system_test::convolution_behind(random, layers[*source], most_channels, 12, 50'000)
               : system_test::random_convolution(random, most_channels, 12, 50'000);
    if (!source && draw(random, 0, 3) == 0) {
      c = system_test::random_wide_convolution(random, most_channels, 50'000);
    }
    const auto sum = static_cast<LaneSum>(draw(random, 0, 2));
    Output output{ResultFormat(ResultCode::kInt8), 1, -128, 127};
    if (draw(random, 0, 2) == 0) {
      output.vector = StoreCommand{};
      output.vector->add = 1;
      output.vector->broadcast = draw(random, 0, 1);
      output.vector->table = draw(random, 0, 1);
      output.vector->result_scale = output.vector->operand_scale = bits_of(1.0F);
      output.vector->function_min = 0x80;
      output.vector->function_max = 0x7f;
    }
    try {
      std::optional<Job> job;
      if (draw(random, 0, 2) != 0) job = make_lanes_job("lanes", c, geometry, output, sum);
      if (!job) job = make_job("window", c, geometry, output);
      job->source = source;
      jobs.push_back(*job);
      layers.push_back(c);
    } catch (const UsageError&) {  // too much for this scratchpad
    }
  }
  return make_job_program(jobs, geometry);
}

TEST(CountersOfRandomPrograms, MatchFusedLayers) {
  std::uint64_t all = 0;
  unsigned lanes = 0, strips = 0, parted = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Geometry geometry = geometry_of(random);
    const JobProgram list = random_layers(random, geometry);
    for (const Job& job : list.jobs) {
      lanes += job.plan.lanes ? 1 : 0;
      strips += job.plan.lanes && job.plan.lanes->in_strips() ? 1 : 0;
    }
    for (const CommandOrigin& origin : list.origins) parted += origin.parts_job ? 1 : 0;
    const Prediction found = predict(list.program, geometry, memory_of(random));
    system_test::expect_causes_add_up(found.counters);
    system_test::expect_traffic(found.counters, list);
    fold(all, found.counters);
    for (const PredictedSnapshot& snapshot : found.snapshots) fold(all, snapshot.counters);
    if (HasFailure()) return;
  }
  EXPECT_GT(lanes, 200u);
  EXPECT_GT(strips, 50u);
  EXPECT_GT(parted, 100u);
  EXPECT_EQ(all, 7278795545307256978u);
}

/// Layers of one image, after which a product may come, whose maps stay on chip if there is space:
/// whole, or in stripes.
JobProgram random_chain(std::mt19937& random, Geometry geometry) {
  geometry = geometry.with_tensor_memory();
  std::vector<Job> jobs;
  const unsigned most_channels = geometry.n * draw(random, 1, 3);
  Convolution c;
  do {
    c = system_test::random_convolution(random, most_channels, 14, 200'000);
  } while (c.images != 1 || c.out_height < 6);
  for (unsigned left = draw(random, 2, 5); left != 0; --left) {
    Output output{ResultFormat(ResultCode::kInt8), 1, -128, 127};
    std::optional<Job> job;
    if (draw(random, 0, 2) == 0) {
      job = make_lanes_job("lanes", c, geometry, output, static_cast<LaneSum>(draw(random, 0, 2)));
    }
    if (!job) job = make_job("window", c, geometry, output);
    if (!jobs.empty()) job->source = jobs.size() - 1;
    job->internal = left != 1 && draw(random, 0, 7) != 0;
    jobs.push_back(*job);
    c = system_test::convolution_behind(random, c, most_channels, 14, 200'000);
  }
  if (draw(random, 0, 2) == 0) {
    const GemmShape reads = jobs.back().plan.shape;
    jobs.push_back(make_job("product", {reads.m, reads.n, draw(random, 1, 20)}, Accumulate::kDevice,
                            geometry));
    jobs.back().source = jobs.size() - 2;
    jobs[jobs.size() - 2].internal = true;
  }
  geometry.tensor_words = draw(random, 20, 160);
  return make_job_program(jobs, geometry);
}

TEST(CountersOfRandomPrograms, MatchMapsOnChip) {
  std::uint64_t all = 0, origins = 0;
  unsigned on_chip = 0, stripes = 0;
  for (unsigned seed = 1000; seed < 1400; ++seed) {
    std::mt19937 random(seed);
    Geometry geometry;
    geometry.n = random() % 2 != 0 ? 4 : 8;
    const JobProgram list = random_chain(random, geometry);
    for (std::size_t i = 0; i < list.jobs.size(); ++i) on_chip += list.is_on_chip(i) ? 1 : 0;
    stripes += static_cast<unsigned>(list.stripes.size());
    for (const CommandOrigin& origin : list.origins) {
      origins =
          origins * 1099511628211u + (origin.job * 4 + origin.ends_job * 2 + origin.parts_job);
    }
    const Prediction found = predict(list.program, list.geometry_on(geometry), memory_of(random));
    system_test::expect_causes_add_up(found.counters);
    EXPECT_EQ(found.snapshots.size(), list.jobs.size() - 1);
    fold(all, found.counters);
    for (const PredictedSnapshot& snapshot : found.snapshots) fold(all, snapshot.counters);
  }
  EXPECT_GT(on_chip, 200u);
  EXPECT_GT(stripes, 40u);
  EXPECT_EQ(origins, 1344547281348536137u);
  EXPECT_EQ(all, 6043305272564772888u);
}

/// Layers whose results are sums of 32 bits, some of which the host adds up.
JobProgram random_sums(std::mt19937& random, const Geometry& geometry) {
  std::vector<Job> jobs;
  while (jobs.empty() || random() % 3 != 0) {
    const GemmShape shape = system_test::random_shape(random, geometry.n, 40);
    const bool on_host = random() % 2 != 0;
    jobs.push_back(
        make_job("sums", shape, on_host ? Accumulate::kHost : Accumulate::kDevice, geometry));
  }
  return make_job_program(jobs, geometry);
}

// Only a part of the last program is in the ring: it may be fetched, but does not run.
TEST(CountersOfRandomPrograms, MatchEarlySums) {
  std::uint64_t all = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const Geometry geometry = geometry_of(random);
    MemoryTiming memory = memory_of(random);
    if (random() % 2 != 0) memory.sharing = MemorySharing::kExclusive;
    const JobProgram list = random_sums(random, geometry);
    const Counters single = predict_counters(list.program, geometry, memory);
    fold(all, single);

    std::vector<Command> ring = list.program;
    ring.insert(ring.end(), list.program.begin(), list.program.end());
    ring.resize(list.program.size() + random() % list.program.size());
    std::vector<std::uint64_t> given(ring.size(), 0);
    std::uint64_t last = random() % (single[counter::kTotalClocks] + 100);
    for (std::size_t i = list.program.size(); i < ring.size(); ++i)
      given[i] = last += random() % 100;
    const RingPrediction found = predict_ring(ring, given, geometry, memory);
    ASSERT_GE(found.finishes.size(), 1u);
    for (const PredictedSnapshot& finish : found.finishes) {
      system_test::expect_causes_add_up(finish.counters);
      fold(all, finish.counters);
    }
    for (const PredictedSnapshot& snapshot : found.snapshots) fold(all, snapshot.counters);
  }
  EXPECT_EQ(all, 7950530588612472326u);
}

}  // namespace
}  // namespace gemm64
