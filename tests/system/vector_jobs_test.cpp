// SPDX-License-Identifier: Apache-2.0
// Jobs whose results take a second operand: from the host, or from a job of the program before.

#include "host/cycles/program_prediction.hpp"
#include "host/device/fault.hpp"
#include "host/device/snapshot.hpp"
#include "host/tiling/job_program.hpp"
#include "tests/system/second_operands.hpp"

namespace gemm64::system_test {
namespace {

/// A program of three jobs: the second one's operands come from the host, the third one's from the
/// first job or the second. With a tensor memory that operand stays there, the third one's results
/// take its words, and a fourth job reads them.
struct Program {
  Program(const Geometry& geometry, std::mt19937& random, unsigned n) {
    const GemmShape shape = random_shape(random, n, 40);
    Output plain = random_output(random);
    plain.format = ResultFormat(ResultCode::kInt8);
    plain.low = -128, plain.high = 127, plain.zero = 3;
    std::vector<Output> outputs = {plain, vector_output(random), vector_output(random)};
    if (geometry.tensor_memory) outputs.push_back(plain);
    std::vector<Job> jobs;
    for (const Output& output : outputs) {
      GemmShape own{shape.m, jobs.empty() ? shape.k : draw(random, 1, 2 * n), shape.n};
      if (jobs.size() == 3) own.k = shape.n;
      jobs.push_back(gemm64::make_job("product", own, Accumulate::kDevice, geometry, output));
    }
    jobs[2].operand = draw(random, 0, 1);
    if (geometry.tensor_memory) {
      jobs[*jobs[2].operand].internal = jobs[2].internal = true;
      jobs[3].source = 2;
    }
    list = make_job_program(jobs, geometry);
    for (const Job& job : list.jobs) {
      operands.push_back(random_operands(random, job.plan.shape));
      packed.emplace_back(job, operands.back());
    }
    given = random_matrix(random, shape.m, shape.n);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (i == 3) operands[i].a = expected[2].cast<std::int8_t>();
      MatrixI32 results = expected_results(outputs[i], operands[i]);
      if (i == 1) results = expected_vector(outputs[i], results, given);
      if (i == 2) {
        const MatrixI8 read = expected[*jobs[2].operand].cast<std::int8_t>();
        results = expected_vector(outputs[i], results, read);
      }
      expected.push_back(results);
    }
  }

  std::vector<GemmResult> run(Driver& driver) const {
    std::vector<JobOperands> all;
    for (std::size_t i = 0; i < list.jobs.size(); ++i) {
      all.push_back(
          {packed[i].weights, operands[i].a, &packed[i].parameters, i == 1 ? &given : nullptr});
    }
    return driver.run(list, all);
  }

  JobProgram list;
  std::vector<Operands> operands;
  std::vector<Packed> packed;
  MatrixI8 given;
  std::vector<MatrixI32> expected;
};

void expect_exact(int n, double stalls, MemorySharing sharing, unsigned first_seed,
                  bool tensor_memory = false) {
  SCOPED_TRACE("N = " + std::to_string(n) + ", " + name(sharing));
  RtlOptions options = Rig::options(n, stalls, first_seed);
  options.memory.sharing = sharing;
  Rig rig(options);
  for_seeds(first_seed, 8, [&](std::mt19937& random) {
    rig.set_latency(draw(random, 1, 200));
    Geometry geometry = rig.driver.geometry();
    if (tensor_memory) geometry = geometry.with_tensor_memory();
    const Program program(geometry, random, static_cast<unsigned>(n));
    const std::vector<GemmResult> found = program.run(rig.driver);
    const JobProgram& list = program.list;
    if (tensor_memory) {
      ASSERT_TRUE(list.is_on_chip(2));
      EXPECT_EQ(list.places[2].word, list.places[*list.jobs[2].operand].word);
    }
    std::uint64_t loaded = 0, needed = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const MatrixI32 expected = list.is_on_chip(i) ? MatrixI32() : program.expected[i];
      EXPECT_EQ(found[i].sums, expected) << "job " << i;
      expect_causes_add_up(found[i].counters);
      loaded += found[i].counters[counter::kBytesOperands];
      const auto& operand = list.jobs[i].operand;
      if (operand && list.is_on_chip(*operand)) continue;
      needed += predict_traffic(list.jobs[i].plan).operands;
    }
    // Those that are loaded ahead count in the job before.
    EXPECT_EQ(loaded, needed);
    if (stalls != 0) return;
    const ProgramPrediction layers = predict_program(list, rig.driver.geometry(), rig.memory);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(layers.between_fences[i], found[i].counters)
          << "job " << i << ": " << difference(layers.between_fences[i], found[i].counters);
    }
    const Prediction predicted = predict(list.program, geometry, rig.memory);
    EXPECT_EQ(predicted.counters, rig.driver.read_counters())
        << difference(predicted.counters, rig.driver.read_counters());
  });
}

TEST(VectorJobs, AddAndMultiplyAsTheirResultsLeave) {
  for (const int n : {2, 4, 8}) {
    for (const MemorySharing sharing :
         {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kExclusive}) {
      expect_exact(n, 0, sharing, 40);
    }
  }
}

TEST(VectorJobs, ReplaceTheirOperand) {
  for (const int n : {4, 8}) {
    for (const MemorySharing sharing :
         {MemorySharing::kIndependent, MemorySharing::kShared, MemorySharing::kDram}) {
      expect_exact(n, 0, sharing, 80, true);
    }
    expect_exact(n, 0.4, MemorySharing::kIndependent, 90, true);
  }
}

TEST(VectorJobs, GiveTheSameValuesUnderStalls) {
  for (const int n : {2, 8}) expect_exact(n, 0.4, MemorySharing::kIndependent, 60);
}

TEST(VectorJobs, ShowFlippedOperandAndResult) {
  for (const char* const place : {"operand:3:4", "vector:3:5"}) {
    SCOPED_TRACE(place);
    std::set<Eigen::Index> columns;
    for (std::uint64_t clock = 0; clock < 600 && columns.empty(); ++clock) {
      RtlOptions options = Rig::options(4);
      options.debug = true;
      Rig rig(options);
      rig.set_latency(1);
      rig.device->inject(parse_fault(std::string(place) + "@" + std::to_string(clock)));
      std::mt19937 random(7);
      const Program program(rig.driver.geometry(), random, 4);
      const MatrixI32 found = program.run(rig.driver)[1].sums;
      for (Eigen::Index i = 0; i < found.size(); ++i) {
        if (found.data()[i] != program.expected[1].data()[i]) columns.insert(i % found.cols() % 4);
      }
    }
    EXPECT_EQ(columns, std::set<Eigen::Index>{3});
  }
}

}  // namespace
}  // namespace gemm64::system_test
