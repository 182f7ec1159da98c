// SPDX-License-Identifier: Apache-2.0
// Runs a memory image, commands and all, on the whole accelerator in Icarus Verilog and in
// Verilator. An Image has `memory` and script(), the registers to write; results lie from first()
// on, a snapshot of the counters from snapshot() to end().
#pragma once

#include <cstdio>

#include "host/device/registers.hpp"
#include "host/device/snapshot.hpp"
#include "sim/models/rtl_device.hpp"
#include "tests/rtl/icarus/icarus.hpp"
#include "tests/test.hpp"

namespace gemm64::icarus_test {

inline constexpr std::uint64_t kMemoryBytes = 32768;
inline constexpr std::uint64_t kWideMemoryBytes = 65536;  // of an array of 128 x 128
inline constexpr std::uint64_t kClockLimit = 200000;

struct Outcome {
  std::vector<std::uint8_t> results, snapshot;
  std::vector<std::uint64_t> counters;
};

/// An image of a program at address 0 in a memory of noise, whose results lie from `first` on.
class ProgramImage {
 public:
  ProgramImage(std::uint64_t first, unsigned seed) : first_(first) {
    std::mt19937 random(seed);
    for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
  }

  std::vector<std::array<std::uint32_t, 2>> script() const {
    return {{reg::kControl, 3},
            {reg::kRingBaseLow, 0},
            {reg::kRingMask, 63},
            {reg::kRingTail, commands_}};
  }
  std::uint64_t first() const { return first_; }
  std::uint64_t snapshot() const { return first_ + result_bytes_; }
  std::uint64_t end() const { return snapshot() + kSnapshotBytes; }
  /// The initial contents of the results' memory.
  std::vector<std::uint8_t> before() const {
    return {memory.begin() + static_cast<std::ptrdiff_t>(first()),
            memory.begin() + static_cast<std::ptrdiff_t>(snapshot())};
  }

  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kMemoryBytes);

 protected:
  /// Scales of about 2^-8 in a set of parameters for n columns.
  void set_scales(std::uint64_t parameters, std::uint32_t n) {
    for (std::uint64_t i = parameters + 4 * n; i < parameters + 8 * n; i += 4) {
      memory[i + 2] = 0x80;
      memory[i + 3] = 0x3b;
    }
  }
  /// Appends a snapshot and FINISH, and writes the commands.
  void finish(std::vector<Command> commands) {
    Command fence{Opcode::kFence, flag::kSnapshot};
    fence.set_address(snapshot());
    commands.push_back(fence);
    commands.push_back({Opcode::kFinish});
    commands_ = static_cast<std::uint32_t>(commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
      commands[i].encode(&memory[i * kCommandBytes]);
    }
  }

  std::uint64_t result_bytes_ = 0;

 private:
  const std::uint64_t first_;
  std::uint32_t commands_ = 0;
};

/// In Icarus Verilog, on an array of `array` x `array`.
template <class Image>
Outcome run_in_icarus(unsigned array, const Image& image, unsigned latency, unsigned stalls,
                      std::uint64_t memory_bytes = kMemoryBytes, unsigned self_check = 0) {
  std::vector<std::string> words, script;
  for (std::uint64_t i = 0; i < memory_bytes; i += array) {
    words.push_back(hex_word(&image.memory[i], array));
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
  const std::string output = run_bench("gemm64_tb",
                                       {{"N", array},
                                        {"MEMORY_BYTES", static_cast<unsigned>(memory_bytes)},
                                        {"SELF_CHECK", self_check}},
                                       {{"image", image_file},
                                        {"script", script_file},
                                        {"lines", std::to_string(script.size())},
                                        {"results", results_file},
                                        {"first", std::to_string(image.first() / array)},
                                        {"last", std::to_string(image.end() / array - 1)},
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

/// The same in Verilator, where nothing stalls.
template <class Image>
Outcome run_in_verilator(unsigned array, const Image& image, unsigned latency) {
  RtlOptions options;
  options.n = static_cast<int>(array);
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

}  // namespace gemm64::icarus_test
