// SPDX-License-Identifier: Apache-2.0
// Random work on every side that there is.
#pragma once

#include "host/check/cosim.hpp"
#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/device/reference_device.hpp"
#include "sim/integrations/systemc/cosim_sides.hpp"
#include "sim/models/rtl_device.hpp"
#include "tests/system/convolutions.hpp"

namespace gemm64::cosim_test {

/// The devices that a workload runs on.
struct Setting {
  int n = 4;
  MemoryTiming memory;
  std::uint32_t seed = 1;
};

inline Geometry geometry_of(int n) { return geometry_of_array(n); }

inline std::unique_ptr<RtlDevice> make_rtl(const Setting& setting, std::uint64_t bytes) {
  RtlOptions options;
  options.n = setting.n;
  options.memory = setting.memory;
  options.seed = setting.seed;
  options.memory_bytes = bytes;
  return make_rtl_device(options);
}

inline PlatformOptions platform_options(const Setting& setting, const std::string& accelerator,
                                        std::uint64_t bytes) {
  PlatformOptions options;
  options.accelerator = accelerator;
  options.device.array = setting.n;
  options.device.memory = setting.memory;
  options.device.seed = setting.seed;
  options.memory_bytes = bytes;
  return options;
}

inline const Elf& firmware() {
  static const Elf elf = load_elf(GEMM64_FIRMWARE);
  return elf;
}

/// Bus errors injected into an RTL, where there is one.
using Inject = std::function<void(RtlDevice&)>;

inline void add_rtl_sides(const Setting& setting, const CosimWork& work, Cosim& cosim,
                          const Inject& inject = nullptr) {
  const std::uint64_t bytes = work.memory.size();
  const std::unique_ptr<RtlDevice> rtl = make_rtl(setting, bytes);
  if (inject) inject(*rtl);
  cosim.add(run_cosim(*rtl, work, "rtl", "rtl"));
  const PlatformOptions options = platform_options(setting, "rtl", bytes);
  {
    Platform platform(options);
    if (inject) inject(*platform.rtl());
    cosim.add(run_cosim(platform.device(), work, "rtl, platform", "rtl"));
  }
  if (work.disturbance != CosimWork::Disturbance::kNone) return;
  Platform platform(options);
  if (inject) inject(*platform.rtl());
  cosim.add(run_cosim_firmware(platform, firmware(), work, "rtl, firmware", "rtl"));
}

inline void add_all_sides(const Setting& setting, const CosimWork& work, Cosim& cosim) {
  const std::uint64_t bytes = work.memory.size();
  ReferenceDevice reference(geometry_of(setting.n), bytes);
  cosim.add(run_cosim(reference, work, "reference", ""));
  TlmDevice tlm(geometry_of(setting.n), setting.memory, bytes);
  cosim.add(run_cosim(tlm, work, "tlm", "tlm"));
  const PlatformOptions options = platform_options(setting, "tlm", bytes);
  {
    Platform platform(options);
    cosim.add(run_cosim(platform.device(), work, "tlm, platform", "tlm"));
  }
  if (work.disturbance == CosimWork::Disturbance::kNone) {
    Platform platform(options);
    cosim.add(run_cosim_firmware(platform, firmware(), work, "tlm, firmware", "tlm"));
  }
  add_rtl_sides(setting, work, cosim);
}

inline void expect_agreement(const Cosim& cosim) {
  for (const CosimVerdict& verdict : cosim.verdicts()) {
    EXPECT_TRUE(verdict.agrees()) << verdict.side << ": " << verdict.failure << verdict.memory
                                  << verdict.interrupts << verdict.registers << verdict.counters;
  }
}

inline Setting random_setting(std::mt19937& random, int n) {
  Setting setting;
  setting.n = n;
  setting.seed = static_cast<std::uint32_t>(random());
  setting.memory.latency = draw(random, 1, 200);
  if (draw(random, 0, 1) == 0) {
    setting.memory.bytes_per_cycle = draw(random, 1, static_cast<unsigned>(n));
  }
  setting.memory.sharing = static_cast<MemorySharing>(draw(random, 0, 2));
  if (draw(random, 0, 4) == 0) setting.memory.stall_probability = 0.05 * draw(random, 1, 8);
  return setting;
}

/// A product or a convolution; where results are of 8 bits, `output` says how.
inline Job random_job(std::mt19937& random, const Setting& setting, unsigned most) {
  const Geometry geometry = geometry_of(setting.n);
  Output output;
  if (draw(random, 0, 1) == 0) output = system_test::random_output(random);
  if (draw(random, 0, 1) == 0) {
    const std::uint64_t m = draw(random, 1, most), k = draw(random, 1, most);
    const bool host = !output.format.takes_parameters() && draw(random, 0, 1) == 0;
    return make_job("product", {m, k, draw(random, 1, most)},
                    host ? Accumulate::kHost : Accumulate::kDevice, geometry, output);
  }
  for (;;) {
    const Convolution c = system_test::random_convolution(random, most, most / 2 + 1, 200'000);
    try {
      return make_job("convolution", c, geometry, output);
    } catch (const UsageError&) {
      // Its rows do not fit the scratchpad.
    }
  }
}

inline std::vector<Job> random_jobs(std::mt19937& random, const Setting& setting, unsigned count,
                                    unsigned most) {
  std::vector<Job> jobs;
  while (jobs.size() < count) jobs.push_back(random_job(random, setting, most));
  return jobs;
}

/// A convolution that reads the results of job number `source`; nothing where these cannot be read.
inline std::optional<Job> random_reader(std::mt19937& random, const Setting& setting,
                                        const Job& before, std::size_t source) {
  const auto& window = before.plan.window;
  if (!window || before.plan.results().code() != ResultCode::kInt8) return std::nullopt;
  for (;;) {
    Convolution c = system_test::random_convolution(random, 9, 9, 200'000);
    c.groups = 1;
    c.images = window->convolution.images;
    c.height = window->convolution.out_height;
    c.width = window->convolution.out_width;
    c.channels = window->convolution.out_channels;
    if (!system_test::draw_output(random, c) || system_test::macs(c) > 500'000) continue;
    Job job = make_job("reader", c, geometry_of(setting.n), system_test::random_output(random));
    job.source = source;
    return job;
  }
}

/// One to three products or convolutions, undisturbed or not, the last perhaps with an address that
/// no one has.
inline CosimWork random_work(std::mt19937& random, const Setting& setting, unsigned most) {
  std::vector<Job> jobs = random_jobs(random, setting, draw(random, 1, 3), most);
  const bool fenced = draw(random, 0, 2) == 0;
  while (fenced && jobs.size() < 5) {
    auto reader = random_reader(random, setting, jobs.back(), jobs.size() - 1);
    if (!reader) break;
    jobs.push_back(std::move(*reader));
  }
  const auto seed = static_cast<std::uint32_t>(random());
  CosimWork work =
      fenced ? make_fenced_work(jobs, geometry_of(setting.n), seed) : make_cosim_work(jobs, seed);
  using Disturbance = CosimWork::Disturbance;
  const bool error = draw(random, 0, 5) == 0;
  if (error) {
    CosimProgram& last = fenced ? work.programs.front() : work.programs.back();
    last.commands.front().set_address(work.memory.size() + 0x1000);
  } else {
    work.disturbance = static_cast<Disturbance>(draw(random, 0, 5) % 4);
    work.after = draw(random, 0, 1) == 0 ? draw(random, 0, 400) : draw(random, 0, 5000);
  }
  work.exact = setting.memory.predictable() && !error;
  work.random_stalls = !setting.memory.predictable();
  return work;
}

inline void run_random(unsigned first, unsigned count, const std::vector<int>& arrays,
                       unsigned most) {
  for (unsigned seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const Setting setting = random_setting(random, arrays[seed % arrays.size()]);
    const CosimWork work = random_work(random, setting, most);
    SCOPED_TRACE(work.snapshots.empty() ? "" : "one program");
    SCOPED_TRACE("disturbance " + std::to_string(static_cast<int>(work.disturbance)) + " after " +
                 std::to_string(work.after));
    Cosim cosim(work);
    add_all_sides(setting, work, cosim);
    expect_agreement(cosim);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace gemm64::cosim_test
