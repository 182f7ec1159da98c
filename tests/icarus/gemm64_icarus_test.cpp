// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "host/device/registers.hpp"
#include "host/device/snapshot.hpp"
#include "sim/rtl_device.hpp"
#include "tests/icarus/icarus.hpp"
#include "tests/system/gemm_image.hpp"

namespace gemm64::icarus_test {
namespace {

constexpr std::uint64_t kMemoryBytes = 32768;
constexpr std::uint64_t kClockLimit = 200000;

using system_test::GemmImage;
using system_test::GemmJob;

struct Outcome {
  std::vector<std::uint8_t> results, snapshot;
  std::vector<std::uint64_t> counters;
};

Outcome run_in_icarus(const GemmJob& job, const GemmImage& image, unsigned latency,
                      unsigned stalls) {
  std::vector<std::string> words, script;
  for (std::uint64_t i = 0; i < kMemoryBytes; i += job.array) {
    words.push_back(hex_word(&image.memory[i], job.array));
  }
  for (const auto& [offset, value] : image.script()) {
    char line[16];
    std::snprintf(line, sizeof line, "%04x%08x", offset, value);
    script.push_back(line);
  }
  const std::string image_file = work_file("image.hex"), script_file = work_file("script.hex"),
                    results_file = work_file("results.hex");
  write_lines(image_file, words);
  write_lines(script_file, script);
  const std::string output =
      run_bench("gemm64_tb", {{"N", job.array}, {"MEMORY_BYTES", kMemoryBytes}},
                {{"image", image_file},
                 {"script", script_file},
                 {"lines", std::to_string(script.size())},
                 {"results", results_file},
                 {"first", std::to_string(image.first() / job.array)},
                 {"last", std::to_string(image.end() / job.array - 1)},
                 {"latency", std::to_string(latency)},
                 {"stalls", std::to_string(stalls)},
                 {"limit", std::to_string(kClockLimit)}});
  Outcome outcome;
  std::istringstream lines(output);
  std::string wanted = "interrupt 1\nfailure 0\n";
  for (std::string word; lines >> word;) {
    std::uint64_t index = 0, value = 0;
    if (word == "counter" && lines >> index >> value) outcome.counters.push_back(value);
  }
  for (std::size_t i = 0; i < outcome.counters.size(); ++i) {
    wanted += "counter " + std::to_string(i) + " " + std::to_string(outcome.counters[i]) + "\n";
  }
  EXPECT_EQ(output, wanted) << "an error, or a value that is unknown";

  std::string bytes;  // highest first within a word
  std::ifstream results(results_file);
  for (std::string word; results >> word;) {
    if (word.compare(0, 2, "//") == 0) {  // an address, to the end of the line
      std::getline(results, word);
      continue;
    }
    for (std::size_t i = word.size(); i >= 2; i -= 2) bytes += word.substr(i - 2, 2);
  }
  for (std::size_t i = 0; i + 2 <= bytes.size(); i += 2) {
    const std::string value = bytes.substr(i, 2);
    if (value.find_first_not_of("0123456789abcdef") != std::string::npos) {
      throw std::runtime_error("unknown value " + value + " in the results");
    }
    (image.first() + i / 2 < image.snapshot() ? outcome.results : outcome.snapshot)
        .push_back(static_cast<std::uint8_t>(std::stoul(value, nullptr, 16)));
  }
  return outcome;
}

Outcome run_in_verilator(const GemmJob& job, const GemmImage& image, unsigned latency) {
  RtlOptions options;
  options.n = static_cast<int>(job.array);
  options.memory_bytes = kMemoryBytes;
  options.memory.latency = latency;
  const auto device = make_rtl_device(options);
  device->write_memory(0, image.memory.data(), image.memory.size());
  for (const auto& [offset, value] : image.script()) device->write_register(offset, value);
  EXPECT_TRUE(device->wait_interrupt(kClockLimit));
  EXPECT_EQ(device->read_register(reg::kInterrupt), 1u);
  Outcome outcome;
  outcome.results.resize(image.snapshot() - image.first());
  device->read_memory(image.first(), outcome.results.data(), image.snapshot() - image.first());
  outcome.snapshot.resize(kSnapshotBytes);
  device->read_memory(image.snapshot(), outcome.snapshot.data(), kSnapshotBytes);
  for (const Counter& counter : kCounters) {
    outcome.counters.push_back(std::uint64_t{device->read_register(counter.offset + 4)} << 32 |
                               device->read_register(counter.offset));
  }
  return outcome;
}

constexpr auto kInt32 = ResultCode::kInt32, kInt8 = ResultCode::kInt8, kUint8 = ResultCode::kUint8;

std::string name(ResultCode format) {
  return format == kInt32 ? "" : format == kInt8 ? "Int8" : "Uint8";
}

class Gemm64InIcarus : public testing::TestWithParam<GemmJob> {};

TEST_P(Gemm64InIcarus, GivesTheProductAndTheCountersThatVerilatorGives) {
  const GemmImage image(GetParam(), kMemoryBytes);
  for (const unsigned latency : {1u, 100u}) {
    SCOPED_TRACE("latency " + std::to_string(latency));
    const Outcome icarus = run_in_icarus(GetParam(), image, latency, 0);
    EXPECT_EQ(icarus.results, image.expected());
    const Outcome verilator = run_in_verilator(GetParam(), image, latency);
    EXPECT_EQ(verilator.results, image.expected());
    EXPECT_EQ(icarus.snapshot, verilator.snapshot);
    EXPECT_EQ(icarus.snapshot.size(), kSnapshotBytes);
    ASSERT_EQ(icarus.counters.size(), kCounters.size());
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      EXPECT_EQ(icarus.counters[i], verilator.counters[i])
          << kCounters[i].engine << "." << kCounters[i].cause;
    }
    EXPECT_GT(icarus.counters[counter::kTotalClocks], 0u);
  }
}

TEST_P(Gemm64InIcarus, GivesTheProductWhenEveryChannelStalls) {
  const GemmImage image(GetParam(), kMemoryBytes);
  EXPECT_EQ(run_in_icarus(GetParam(), image, 9, 60).results, image.expected());
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, Gemm64InIcarus,
    testing::Values(GemmJob{2, 1, 1, 1, 1}, GemmJob{2, 5, 7, 3, 2}, GemmJob{2, 3, 33, 2, 3, false},
                    GemmJob{2, 9, 6, 5, 4, true, false}, GemmJob{4, 1, 20, 9, 1},
                    GemmJob{4, 9, 1, 5, 4}, GemmJob{4, 13, 17, 1, 5},
                    GemmJob{4, 8, 16, 12, 8, false, false}, GemmJob{8, 1, 1, 1, 1},
                    GemmJob{8, 17, 65, 23, 8}, GemmJob{8, 16, 64, 24, 16}, GemmJob{8, 70, 9, 8, 70},
                    GemmJob{8, 20, 31, 33, 7, false}, GemmJob{8, 20, 31, 33, 7, true, false},
                    GemmJob{2, 5, 7, 9, 2, true, true, kInt8, kUint8},
                    GemmJob{4, 13, 17, 11, 5, true, true, kUint8, kUint8, 3},
                    GemmJob{4, 9, 1, 5, 4, true, false, kInt8, kInt32, 1},
                    GemmJob{8, 20, 31, 33, 7, true, true, kUint8, kInt8},
                    GemmJob{4, 24, 4, 60, 4, true, false, kInt8, kInt8},
                    GemmJob{8, 33, 9, 40, 16, true, true, kInt32, kInt8},
                    GemmJob{8, 40, 8, 24, 10, true, true, kInt8, kInt8, 2}),
    [](const auto& test) {
      const GemmJob& job = test.param;
      return "N" + std::to_string(job.array) + "Shape" + std::to_string(job.m) + "x" +
             std::to_string(job.k) + "x" + std::to_string(job.n) + "By" +
             std::to_string(job.block) + (job.accumulate ? "" : "Partial") +
             (job.retain ? "" : "Reloaded") + name(job.format) + name(job.rest_format);
    });

}  // namespace
}  // namespace gemm64::icarus_test
