// SPDX-License-Identifier: Apache-2.0
// What the firmware's processor computes itself, and what it refuses to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "sim/platform/firmware/job_list.h"
#include "sim/platform/platform.hpp"
#include "tests/says.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kRingBytes = 0x1000;

PlatformOptions options() {
  PlatformOptions options;
  options.accelerator = "tlm";
  options.device.array = 4;
  options.memory_bytes = kMemoryBytes;
  return options;
}

/// A pool, or a search for classes, of jobs that lie one behind the other.
FirmwareJob random_work(std::mt19937& random, std::uint64_t& end) {
  const auto draw = [&](std::uint32_t most) {
    return static_cast<std::uint32_t>(1 + random() % most);
  };
  FirmwareJob job;
  processor_work& work = job.work;
  const std::uint32_t widths[] = {2, 4, 8, 16, 64};
  work.pixel_bytes = widths[random() % 5];
  work.maps = draw(5);
  std::uint64_t source = std::uint64_t{work.maps} * work.pixel_bytes;
  if (random() % 4 == 0) {
    work.kind = WORK_CLASSES;
    work.channels = draw(3 * work.pixel_bytes);
    source *= (work.channels + work.pixel_bytes - 1) / work.pixel_bytes;
    job.result_bytes = 4 * std::uint64_t{work.maps};
  } else {
    work.kind = WORK_MAX_POOL;
    const auto along = [&](std::uint32_t& in, std::uint32_t& out, std::uint32_t& kernel,
                           std::uint32_t& stride, std::uint32_t& dilation, std::uint32_t& pad) {
      in = draw(9);
      kernel = draw(4);
      stride = draw(3);
      dilation = draw(2);
      pad = static_cast<std::uint32_t>(random() % ((kernel - 1) * dilation + 1));
      out = draw((in + pad - 1) / stride + 1);
    };
    along(work.height, work.out_height, work.kernel_height, work.stride_height,
          work.dilation_height, work.pad_top);
    along(work.width, work.out_width, work.kernel_width, work.stride_width, work.dilation_width,
          work.pad_left);
    job.result_bytes = source * work.out_height * work.out_width;
    source *= std::uint64_t{work.height} * work.width;
  }
  work.source = end;
  job.results = (end + source + 7) / 8 * 8;
  end = (job.results + job.result_bytes + 7) / 8 * 8;
  return job;
}

/// As the words in processor_work.h say it.
void compute(const FirmwareJob& job, std::vector<std::uint8_t>& memory) {
  const processor_work& work = job.work;
  const auto value = [&](std::uint64_t at) { return static_cast<std::int8_t>(memory.at(at)); };
  if (work.kind == WORK_CLASSES) {
    for (std::uint32_t image = 0; image < work.maps; ++image) {
      std::uint32_t best = 0;
      const auto score = [&](std::uint32_t c) {
        return value(work.source +
                     (std::uint64_t{c / work.pixel_bytes} * work.maps + image) * work.pixel_bytes +
                     c % work.pixel_bytes);
      };
      for (std::uint32_t c = 1; c < work.channels; ++c) {
        if (score(c) > score(best)) best = c;
      }
      std::memcpy(&memory[job.results + 4 * image], &best, 4);
    }
    return;
  }
  std::uint64_t to = job.results;
  for (std::int64_t map = 0; map < work.maps; ++map) {
    for (std::int64_t y = 0; y < work.out_height; ++y) {
      for (std::int64_t x = 0; x < work.out_width; ++x) {
        for (std::int64_t c = 0; c < work.pixel_bytes; ++c) {
          int largest = -128;
          for (std::int64_t i = 0; i < work.kernel_height; ++i) {
            for (std::int64_t j = 0; j < work.kernel_width; ++j) {
              const std::int64_t line =
                  y * work.stride_height + i * work.dilation_height - work.pad_top;
              const std::int64_t column =
                  x * work.stride_width + j * work.dilation_width - work.pad_left;
              if (line < 0 || line >= work.height || column < 0 || column >= work.width) continue;
              const std::int64_t pixel = (map * work.height + line) * work.width + column;
              largest = std::max<int>(
                  largest,
                  value(work.source + static_cast<std::uint64_t>(pixel * work.pixel_bytes + c)));
            }
          }
          memory.at(to++) = static_cast<std::uint8_t>(largest);
        }
      }
    }
  }
}

TEST(ProcessorWork, PoolsAndClassifiesAsCountedByHand) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> memory(kMemoryBytes);
    for (std::uint8_t& byte : memory) byte = static_cast<std::uint8_t>(random());
    Platform platform(options());
    platform.device().write_memory(0, memory.data(), memory.size());
    std::vector<FirmwareJob> jobs;
    for (std::uint64_t end = kRingBytes; jobs.size() < 40;) {
      jobs.push_back(random_work(random, end));
      compute(jobs.back(), memory);
      jobs.back().crc = crc32(&memory[jobs.back().results], jobs.back().result_bytes);
      jobs.back().check = true;
    }
    const FirmwareReport report = platform.run(load_elf(GEMM64_FIRMWARE), {}, jobs);
    EXPECT_EQ(report.stopped, "");
    EXPECT_EQ(report.exit_code, 0U) << "seed " << seed << "\n" << report.printed;
    EXPECT_EQ(report.doorbells.size(), 0U);
    std::vector<std::uint8_t> found(kMemoryBytes);
    platform.device().read_memory(0, found.data(), found.size());
    EXPECT_TRUE(found == memory) << "seed " << seed;
  }
}

/// The line that refuses a good pool, or search, of which `spoil` changes something.
std::string refusal(std::uint32_t kind, const std::function<void(FirmwareJob&)>& spoil) {
  FirmwareJob good;
  good.work = {0x2000, kind, 4, 6, 7, 8, 8, 4, 4, 2, 2, 2, 2, 1, 1, 0, 0};
  good.results = 0x4000;
  good.result_bytes = kind == WORK_CLASSES ? 24 : 6 * 4 * 4 * 4;
  FirmwareJob bad = good;
  spoil(bad);
  Platform platform(options());
  // The results' address is checked on the host's side, too.
  platform.spoil_job_list = [&](std::vector<std::uint8_t>& list) {
    job to;
    std::uint8_t* const at = list.data() + sizeof(job_list) + sizeof(job);
    std::memcpy(&to, at, sizeof to);
    to.work = bad.work;
    to.results = bad.results;
    to.result_bytes = bad.result_bytes;
    to.command_count = static_cast<std::uint32_t>(bad.commands.size());
    std::memcpy(at, &to, sizeof to);
  };
  const FirmwareReport report = platform.run(load_elf(GEMM64_FIRMWARE), {}, {good, good});
  EXPECT_EQ(report.stopped, "");
  EXPECT_EQ(std::count(report.printed.begin(), report.printed.end(), '\n') == 1,
            report.exit_code == 2)
      << report.printed;
  return report.exit_code == 2 ? report.printed : "none";
}

TEST(ProcessorWork, RefusesWhatCannotBeWithOneLine) {
  const auto pool = [](const std::function<void(processor_work&)>& spoil) {
    return refusal(WORK_MAX_POOL, [&](FirmwareJob& job) { spoil(job.work); });
  };
  using Work = processor_work;
  EXPECT_EQ(pool([](Work&) {}), "none");
  EXPECT_EQ(refusal(WORK_CLASSES, [](FirmwareJob&) {}), "none");
  EXPECT_EQ(pool([](Work& work) { work.kind = 3; }),
            "firmware: job list: job 1: impossible kind of work, 0x3\n");
  EXPECT_THAT(pool([](Work& work) { work.pixel_bytes = 0; }), Says("bytes of a pixel, 0\n"));
  EXPECT_THAT(pool([](Work& work) { work.maps = 0x1000000; }),
              Says("impossible number of maps, 0x1000000\n"));
  EXPECT_THAT(pool([](Work& work) { work.maps = 0; }), Says("impossible number of maps, 0\n"));
  const char* const height = "impossible windows along the height";
  const char* const width = "impossible windows along the width";
  EXPECT_THAT(pool([](Work& work) { work.height = 0; }), Says(height));
  EXPECT_THAT(pool([](Work& work) { work.out_height = 5; }), Says(height));
  EXPECT_THAT(pool([](Work& work) { work.kernel_height = 0; }), Says(height));
  EXPECT_THAT(pool([](Work& work) { work.pad_top = 2; }), Says(height));
  EXPECT_THAT(pool([](Work& work) { work.stride_width = ~0U; }), Says(width));
  EXPECT_THAT(pool([](Work& work) { work.dilation_width = 0; }), Says(width));
  EXPECT_THAT(pool([](Work& work) { work.out_width = 0; }), Says(width));
  EXPECT_THAT(pool([](Work& work) { work.pad_left = ~0U; }), Says(width));
  const char* const source = "impossible address of the source";
  EXPECT_THAT(pool([](Work& work) { work.source = 0x7ffffff8; }), Says(source));
  EXPECT_THAT(pool([](Work& work) { work.source = 0xc0000000; }), Says(source));
  EXPECT_THAT(pool([](Work& work) { work.source = ~std::uint64_t{0}; }), Says(source));
  // Sizes whose product is 0 modulo 2^64.
  EXPECT_THAT(pool([](Work& work) {
                work.maps = 0x800000;
                work.pixel_bytes = work.height = work.width = 0x8000;
              }),
              Says(source));
  EXPECT_THAT(pool([](Work& work) { work.source = 0x4000; }),
              Says("results overlap their source, at 0x4000\n"));
  EXPECT_THAT(pool([](Work& work) { work.out_width = 3; }),
              Says("impossible bytes of results, 0x180\n"));
  const auto job = [](std::uint32_t kind, const std::function<void(FirmwareJob&)>& spoil) {
    return refusal(kind, spoil);
  };
  EXPECT_THAT(job(WORK_MAX_POOL, [](FirmwareJob& job) { job.results = 0x7ffffff8; }),
              Says("impossible address of results"));
  EXPECT_THAT(job(WORK_MAX_POOL, [](FirmwareJob& job) { job.commands.resize(1); }),
              Says("impossible number of commands"));
  EXPECT_THAT(job(WORK_CLASSES, [](FirmwareJob& job) { job.work.channels = 0; }),
              Says("impossible number of channels, 0\n"));
  EXPECT_THAT(job(WORK_CLASSES, [](FirmwareJob& job) { job.work.channels = 0x10000; }),
              Says("impossible number of channels"));
  EXPECT_THAT(job(WORK_CLASSES, [](FirmwareJob& job) { job.result_bytes = 16; }),
              Says("impossible bytes of results, 0x10\n"));
  // Nothing behind work can be a further layer of it.
  EXPECT_THAT(job(WORK_CLASSES, [](FirmwareJob& job) { job.work = {}; }),
              Says("job 1: impossible number of commands, 0\n"));
}

// The memory that a pool reads need not be there.
TEST(ProcessorWork, BeyondTheMemoryEndsWithOneLine) {
  FirmwareJob job;
  job.work = {0x200000, WORK_MAX_POOL, 4, 6, 0, 8, 8, 4, 4, 2, 2, 2, 2, 1, 1, 0, 0};
  job.results = 0x4000;
  job.result_bytes = 6 * 4 * 4 * 4;
  Platform platform(options());
  const FirmwareReport report = platform.run(load_elf(GEMM64_FIRMWARE), {}, {job});
  EXPECT_THAT(report.stopped, Says("load access fault (mcause 5): address 0x200000"));
}

}  // namespace
}  // namespace gemm64
