// SPDX-License-Identifier: Apache-2.0
// The netlist of N = 4, gates as they are mapped, behind the driver: what the RTL does, in value,
// byte and clock, and nothing of that where a cell is another one.
#include <Vgemm64_netlist.h>
#include <Vgemm64_netlist___024root.h>
#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/verilated_device.hpp"
#include "tests/system/convolution_programs.hpp"

namespace gemm64::system_test {
namespace {

using Gates = VerilatedDevice<Vgemm64_netlist, false>;

constexpr int kArray = 4;
constexpr std::uint64_t kMemory = std::uint64_t{4} << 20;
constexpr unsigned kLatency = 20;
constexpr std::uint64_t kClockLimit = 30'000;  // of a program, which takes 1,000 to 6,000

RtlOptions options() {
  RtlOptions options = Rig::options(kArray);
  options.memory_bytes = kMemory;
  options.memory.latency = kLatency;
  return options;
}

/// The gates, where `broken` is not 0 with that cell being another one.
std::unique_ptr<Gates> gates(int broken) {
  auto device = std::make_unique<Gates>(options());
  device->model().broken_i = static_cast<std::uint8_t>(broken);
  device->reset();
  return device;
}

/// A program, and what it must give.
struct Work {
  std::string name;
  JobProgram list;
  std::vector<Operands> operands;
  std::vector<MatrixI32> expected;
};

Output int8_output(int zero, int low) {
  Output output;
  output.format = ResultFormat(ResultCode::kInt8);
  output.zero = zero, output.low = low, output.high = 127;
  return output;
}

/// Of 8 bits or 32, with ragged tiles along M, K and N.
Work product(std::mt19937& random, const Geometry& geometry, const Output& output) {
  const GemmShape shape{37, 30, 23};
  const Operands operands = random_operands(random, shape);
  const Job job = gemm64::make_job("product", shape, Accumulate::kDevice, geometry, output);
  return {"product, " + std::string(output.format.name()),
          make_job_program({job}, geometry),
          {operands},
          {expected_results(output, operands)}};
}

/// Half of each result and half of what is added to it.
Output halves(Output output) {
  output.vector.emplace();
  output.vector->add = 1;
  output.vector->result_scale = output.vector->operand_scale = 0x3f000000;
  output.vector->function_min = 0x80;
  output.vector->function_max = 0x7f;
  return output;
}

/// An inverted residual: a 3x3 convolution with borders, a depthwise one of it on the lanes, a 1x1
/// one of that to which the first one's results are added, and a product of what this gives.
Work residual(std::mt19937& random, const Geometry& geometry) {
  Convolution first;
  first.channels = 5, first.out_channels = 6;
  first.height = first.width = first.out_height = first.out_width = 7;
  first.kernel_height = first.kernel_width = 3;
  first.pad_top = first.pad_left = 1;
  first.zero = 3;
  Convolution depthwise = first;
  depthwise.channels = depthwise.groups = 6;
  Convolution last = first;
  last.channels = 6;
  last.kernel_height = last.kernel_width = 1;
  last.pad_top = last.pad_left = 0;

  const Output plain = int8_output(3, 3);
  ProgramParts parts(random, geometry);
  parts.add(first, plain, {});
  parts.add(depthwise, plain, 0, true);
  parts.add(last, plain, 1);
  Work work{"residual", {}, {}, {}};
  std::vector<Job> jobs;
  for (const ProgramPart& part : parts.parts) {
    jobs.push_back(part.job);
    work.operands.push_back(part.operands);
    work.expected.push_back(part.expected);
  }
  jobs[2] = gemm64::make_job("sum", last, geometry, halves(plain));
  jobs[2].source = 1;
  jobs[2].operand = 0;
  for (Eigen::Index i = 0; i < work.expected[2].size(); ++i) {
    std::int32_t& value = work.expected[2].data()[i];
    value = static_cast<std::int32_t>(std::nearbyint((value + work.expected[0].data()[i]) / 2.0));
  }
  work.list = make_job_program(jobs, geometry);
  return work;
}

std::vector<Work> all_work(const Geometry& geometry) {
  std::mt19937 random(2900);
  std::vector<Work> all;
  all.push_back(product(random, geometry, int8_output(-7, -100)));
  all.push_back(residual(random, geometry));
  all.push_back(product(random, geometry, {}));
  return all;
}

/// What a device made of a program.
struct Outcome {
  std::vector<MatrixI32> values;
  Counters counters{};
  std::uint64_t clocks = 0;
  std::vector<std::uint8_t> memory;
};

Outcome run(RtlDevice& device, Driver& driver, const Work& work) {
  std::vector<Packed> packed;
  std::vector<JobOperands> operands;
  const MatrixI8 none;
  for (std::size_t i = 0; i < work.operands.size(); ++i) {
    packed.emplace_back(work.list.jobs[i], work.operands[i]);
  }
  for (std::size_t i = 0; i < work.operands.size(); ++i) {
    operands.push_back({packed[i].weights, work.list.jobs[i].source ? none : work.operands[i].a,
                        &packed[i].parameters});
  }
  Outcome outcome;
  const std::uint64_t begin = device.clocks();
  const Progress end_of_patience = [&](double) {
    if (device.clocks() - begin > kClockLimit) throw std::runtime_error("the program never ends");
  };
  for (GemmResult& result : driver.run(work.list, operands, end_of_patience)) {
    outcome.values.push_back(std::move(result.sums));
  }
  outcome.counters = driver.read_counters();
  outcome.clocks = device.clocks() - begin;
  outcome.memory.resize(kMemory);
  device.read_memory(0, outcome.memory.data(), outcome.memory.size());
  return outcome;
}

/// The RTL's outcomes, all values of which are right.
std::vector<Outcome> of_the_rtl(const std::vector<Work>& all) {
  Rig rtl(options());
  std::vector<Outcome> outcomes;
  for (const Work& work : all) {
    outcomes.push_back(run(*rtl.device, rtl.driver, work));
    EXPECT_EQ(outcomes.back().values, work.expected) << work.name;
  }
  return outcomes;
}

TEST(Netlist, DoesWhatTheRtlDoes) {
  const auto device = gates(0);
  Driver driver(*device, Patience{0});
  const std::vector<Work> all = all_work(driver.geometry());
  const std::vector<Outcome> expected = of_the_rtl(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].name);
    const Outcome found = run(*device, driver, all[i]);
    EXPECT_EQ(found.values, expected[i].values);
    EXPECT_TRUE(found.counters == expected[i].counters)
        << difference(expected[i].counters, found.counters);
    EXPECT_EQ(found.clocks, expected[i].clocks);
    EXPECT_TRUE(found.memory == expected[i].memory);
  }
}

/// Does a device with a broken cell give itself away?
bool noticed(int broken, const std::vector<Work>& all, const std::vector<Outcome>& expected) {
  const auto device = gates(broken);
  try {
    Driver driver(*device, Patience{100, 2000});
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Outcome found = run(*device, driver, all[i]);
      if (found.values != expected[i].values || found.memory != expected[i].memory) return true;
    }
  } catch (const std::exception&) {  // an error of the device, or a rule of AXI that it broke
    return true;
  }
  return false;
}

// Cells are drawn from all of them, those of errors, other formats and deep queues as well: 7 of 20
// drawn were noticed, so that a quarter is a low bound.
TEST(Netlist, IsNoticedToBeWrongWhereACellIsAnotherOne) {
  const std::vector<Work> all = all_work(Driver(*gates(0), Patience{0}).geometry());
  const std::vector<Outcome> expected = of_the_rtl(all);
  std::ifstream names(GEMM64_BROKEN_CELLS);
  int number = 0, found = 0;
  for (std::string name; names >> number >> name;) {
    const bool seen = noticed(number, all, expected);
    std::cout << "cell " << number << (seen ? ": noticed" : ": not noticed") << std::endl;
    found += seen;
  }
  ASSERT_GT(number, 0) << "no cell can be broken: " << GEMM64_BROKEN_CELLS;
  std::cout << found << " of " << number << " broken cells noticed" << std::endl;
  EXPECT_GE(found * 4, number);
}

}  // namespace
}  // namespace gemm64::system_test
