// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

#include "host/device/registers.hpp"
#include "host/device/snapshot.hpp"
#include "sim/rtl_device.hpp"
#include "tests/icarus/icarus.hpp"

namespace gemm64::icarus_test {
namespace {

constexpr std::uint64_t kMemoryBytes = 32768;
constexpr std::uint64_t kClockLimit = 200000;

/// One product of m x k activations and k x n weights on an array of `array` x `array`, `block`
/// rows at a time.
struct Job {
  unsigned array, m, k, n, block;
  bool accumulate = true;  // on the device; else each tile's product comes back
  bool retain = true;  // activations stay on chip; else they are loaded for each tile of columns
};

/// The job as it lies in memory, and what must lie there afterwards.
class Image {
 public:
  explicit Image(const Job& job) : job_(job), tiles_k_(ceil(job.k)), tiles_n_(ceil(job.n)) {
    std::mt19937 random(job.m * 10000 + job.k * 100 + job.n);
    const auto operand = [&random] {  // never zero: a product that stays away must be missed
      return static_cast<std::int8_t>(random() | 1);
    };
    for (unsigned i = 0; i < job.m * job.k; ++i) a_.push_back(operand());
    for (unsigned i = 0; i < job.k * job.n; ++i) w_.push_back(operand());
    pack_weights();
    // Rows in blocks of job.block, and a last smaller one; each kind has commands of its own.
    const unsigned whole = job.m / job.block, rest = job.m % job.block;
    results_ = place_ + job.m * tiles_k_ * job.array;
    std::uint64_t to = results_;
    if (whole > 0) add_blocks(0, job.block, whole, to);
    if (rest > 0) add_blocks(whole * job.block, rest, 1, to);
    results_end_ = to;
    Command fence{Opcode::kFence, flag::kSnapshot};
    fence.set_address(to);
    commands_.push_back(fence);
    commands_.push_back({Opcode::kFinish});
    for (std::size_t i = 0; i < commands_.size(); ++i)
      commands_[i].encode(&memory[i * kCommandBytes]);
    if (end() > kMemoryBytes) throw std::runtime_error("the job is too large for the memory");
  }

  std::vector<std::array<std::uint32_t, 2>> script() const {
    return {{reg::kControl, 3},  // a soft reset first, and counters at zero
            {reg::kRingBaseLow, 0},
            {reg::kRingMask, 15},
            {reg::kRingTail, static_cast<std::uint32_t>(commands_.size())}};
  }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kMemoryBytes);
  std::uint64_t first() const { return results_; }
  /// Behind the results lies a snapshot of the counters.
  std::uint64_t snapshot() const { return results_end_; }
  std::uint64_t end() const { return results_end_ + kSnapshotBytes; }
  const std::vector<std::int32_t>& expected() const { return expected_; }

 private:
  unsigned ceil(unsigned x) const { return (x + job_.array - 1) / job_.array; }
  std::int32_t a(unsigned row, unsigned k) const { return k < job_.k ? a_[row * job_.k + k] : 0; }
  std::int32_t w(unsigned k, unsigned column) const {
    return k < job_.k && column < job_.n ? w_[k * job_.n + column] : 0;
  }
  void put(std::int32_t byte) { memory.at(place_++) = static_cast<std::uint8_t>(byte); }

  void pack_weights() {
    place_ = weights_ = 4096 - job_.array;  // a page ends after the first word
    for (unsigned nt = 0; nt < tiles_n_; ++nt) {
      for (unsigned kt = 0; kt < tiles_k_; ++kt) {
        for (unsigned c = 0; c < job_.array; ++c) {
          for (unsigned k = 0; k < job_.array; ++k)
            put(w(kt * job_.array + k, nt * job_.array + c));
        }
      }
    }
  }

  void add_blocks(unsigned row, unsigned rows, unsigned blocks, std::uint64_t& to) {
    const std::uint64_t activations = place_;
    for (unsigned b = 0; b < blocks; ++b) {
      for (unsigned kt = 0; kt < tiles_k_; ++kt) {
        for (unsigned r = 0; r < rows; ++r) {
          for (unsigned k = 0; k < job_.array; ++k) put(a(row + b * rows + r, kt * job_.array + k));
        }
      }
    }
    add(Opcode::kLoadWeights, 0, tiles_n_ * tiles_k_ * job_.array, blocks, 0, weights_);
    add(Opcode::kLoadActivations, 0, tiles_k_ * rows, job_.retain ? 1 : tiles_n_, blocks,
        activations);
    add(Opcode::kMatmul, rows, tiles_k_, tiles_n_, blocks, 0);
    const unsigned stored = blocks * tiles_n_ * (job_.accumulate ? 1 : tiles_k_);
    add(Opcode::kStore, rows, stored, 0, 0, to);
    for (unsigned b = 0; b < blocks; ++b) {
      for (unsigned nt = 0; nt < tiles_n_; ++nt) expect(row + b * rows, rows, nt);
    }
    to += std::uint64_t{stored} * rows * job_.array * 4;
  }

  void add(Opcode opcode, unsigned rows, unsigned count, unsigned passes, unsigned blocks,
           std::uint64_t address) {
    Command command{opcode, 0, rows, count, passes, blocks};
    if (opcode == Opcode::kMatmul) {
      command.flags = (job_.accumulate ? flag::kAccumulate : 0) | (job_.retain ? flag::kRetain : 0);
    }
    command.set_address(address);
    commands_.push_back(command);
  }

  /// The sums of one tile of columns: over all of K, or for each tile of K.
  void expect(unsigned row, unsigned rows, unsigned nt) {
    const unsigned parts = job_.accumulate ? 1 : tiles_k_;
    const unsigned depth = job_.accumulate ? tiles_k_ * job_.array : job_.array;
    for (unsigned part = 0; part < parts; ++part) {
      for (unsigned r = row; r < row + rows; ++r) {
        for (unsigned c = nt * job_.array; c < (nt + 1) * job_.array; ++c) {
          std::int32_t sum = 0;
          for (unsigned k = part * depth; k < (part + 1) * depth; ++k) sum += a(r, k) * w(k, c);
          expected_.push_back(sum);
        }
      }
    }
  }

  Job job_;
  unsigned tiles_k_, tiles_n_;
  std::vector<std::int8_t> a_, w_;
  std::vector<Command> commands_;
  std::vector<std::int32_t> expected_;
  std::uint64_t place_ = 0, weights_ = 0, results_ = 0, results_end_ = 0;
};

struct Outcome {
  std::vector<std::int32_t> results, snapshot;
  std::vector<std::uint64_t> counters;
};

Outcome run_in_icarus(const Job& job, const Image& image, unsigned latency, unsigned stalls) {
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
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const std::string value = bytes.substr(i + 6, 2) + bytes.substr(i + 4, 2) +
                              bytes.substr(i + 2, 2) + bytes.substr(i, 2);
    if (value.find_first_not_of("0123456789abcdef") != std::string::npos) {
      throw std::runtime_error("unknown value " + value + " in the results");
    }
    const std::uint64_t address = image.first() + i / 2;
    (address < image.snapshot() ? outcome.results : outcome.snapshot)
        .push_back(static_cast<std::int32_t>(std::stoul(value, nullptr, 16)));
  }
  return outcome;
}

Outcome run_in_verilator(const Job& job, const Image& image, unsigned latency) {
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
  outcome.results.resize((image.snapshot() - image.first()) / 4);
  device->read_memory(image.first(), outcome.results.data(), image.snapshot() - image.first());
  outcome.snapshot.resize(kSnapshotBytes / 4);
  device->read_memory(image.snapshot(), outcome.snapshot.data(), kSnapshotBytes);
  for (const Counter& counter : kCounters) {
    outcome.counters.push_back(std::uint64_t{device->read_register(counter.offset + 4)} << 32 |
                               device->read_register(counter.offset));
  }
  return outcome;
}

class Gemm64InIcarus : public testing::TestWithParam<Job> {};

TEST_P(Gemm64InIcarus, GivesTheProductAndTheCountersThatVerilatorGives) {
  const Image image(GetParam());
  for (const unsigned latency : {1u, 100u}) {
    SCOPED_TRACE("latency " + std::to_string(latency));
    const Outcome icarus = run_in_icarus(GetParam(), image, latency, 0);
    EXPECT_EQ(icarus.results, image.expected());
    const Outcome verilator = run_in_verilator(GetParam(), image, latency);
    EXPECT_EQ(verilator.results, image.expected());
    EXPECT_EQ(icarus.snapshot, verilator.snapshot);
    EXPECT_EQ(icarus.snapshot.size(), kSnapshotBytes / 4);
    ASSERT_EQ(icarus.counters.size(), kCounters.size());
    for (std::size_t i = 0; i < kCounters.size(); ++i) {
      EXPECT_EQ(icarus.counters[i], verilator.counters[i])
          << kCounters[i].engine << "." << kCounters[i].cause;
    }
    EXPECT_GT(icarus.counters[counter::kTotalClocks], 0u);
  }
}

TEST_P(Gemm64InIcarus, GivesTheProductWhenEveryChannelStalls) {
  const Image image(GetParam());
  EXPECT_EQ(run_in_icarus(GetParam(), image, 9, 60).results, image.expected());
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, Gemm64InIcarus,
    testing::Values(Job{2, 1, 1, 1, 1}, Job{2, 5, 7, 3, 2}, Job{2, 3, 33, 2, 3, false},
                    Job{2, 9, 6, 5, 4, true, false}, Job{4, 1, 20, 9, 1}, Job{4, 9, 1, 5, 4},
                    Job{4, 13, 17, 1, 5}, Job{4, 8, 16, 12, 8, false, false}, Job{8, 1, 1, 1, 1},
                    Job{8, 17, 65, 23, 8}, Job{8, 16, 64, 24, 16}, Job{8, 70, 9, 8, 70},
                    Job{8, 20, 31, 33, 7, false}, Job{8, 20, 31, 33, 7, true, false}),
    [](const auto& test) {
      const Job& job = test.param;
      return "N" + std::to_string(job.array) + "Shape" + std::to_string(job.m) + "x" +
             std::to_string(job.k) + "x" + std::to_string(job.n) + "By" +
             std::to_string(job.block) + (job.accumulate ? "" : "Partial") +
             (job.retain ? "" : "Reloaded");
    });

}  // namespace
}  // namespace gemm64::icarus_test
