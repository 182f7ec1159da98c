// SPDX-License-Identifier: Apache-2.0
// Every side agrees on random work, and each kind of disagreement is found.
#include "tests/integrations/systemc/cosim.hpp"

#include "sim/integrations/systemc/firmware/job_list.h"
#include "sim/models/devices.hpp"
#include "tests/unit/device/wrapped_device.hpp"

namespace gemm64::cosim_test {
namespace {

TEST(Cosim, RandomWorkGivesTheSameOnAllSides) { run_random(5000, 60, {2, 4, 8}, 24); }

CosimWork small_work(std::uint32_t seed = 1) {
  CosimWork work = make_cosim_work({{5, 9, 7}}, Accumulate::kDevice, geometry_of(4), seed);
  work.exact = true;
  return work;
}

TEST(Cosim, DevicesOfEachKindSayTheSameOfThemselves) {
  for (const int n : {2, 4, 8}) {
    const Geometry expected = geometry_of(n);
    for (const DeviceKind& kind : devices().kinds()) {
      if (kind.is_board) continue;
      DeviceOptions options;
      options.array = n;
      const Geometry found = read_geometry(*kind.make(options));
      EXPECT_EQ(found.weight_tiles, expected.weight_tiles) << kind.name << ", " << n;
      EXPECT_EQ(found.stage_rows, expected.stage_rows) << kind.name << ", " << n;
      EXPECT_EQ(found.scratchpad_words, expected.scratchpad_words) << kind.name << ", " << n;
    }
  }
}

// Whatever clock INTERRUPT is cleared in, around that of the finish: the program is done, the line
// is low, and no side waits for ever.
TEST(Cosim, InterruptsClearedAroundAFinish) {
  const Setting setting;
  CosimWork work = small_work();
  const std::unique_ptr<RtlDevice> device = make_rtl(setting, work.memory.size());
  const std::uint64_t total = *run_cosim(*device, work, "rtl", "rtl").cycles;
  work.disturbance = CosimWork::Disturbance::kClear;
  for (work.after = total - 12; work.after != total + 8; ++work.after) {
    SCOPED_TRACE("cleared after " + std::to_string(work.after));
    Cosim cosim(work);
    add_all_sides(setting, work, cosim);
    expect_agreement(cosim);
  }
}

// Errors that memory gives: on the RTL's sides only, since the others know of none.
TEST(Cosim, InjectedBusErrorsAreSameOnAllSides) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    Setting setting = random_setting(random, 2 << draw(random, 0, 2));
    setting.memory.stall_probability = 0;
    const CosimWork work = make_cosim_work(random_jobs(random, setting, 1, 20), seed);
    const unsigned port = draw(random, 0, 2), burst = draw(random, 0, 2);
    const AxiResponse response =
        draw(random, 0, 1) == 0 ? AxiResponse::kSlaveError : AxiResponse::kDecodeError;
    Cosim cosim(work);
    add_rtl_sides(setting, work, cosim, [&](RtlDevice& device) {
      const RtlPorts ports = device.ports();
      if (port == 0) ports.weights.fail_burst(burst, AxiReadPort::FailedBeat::kLast, response);
      if (port == 1) ports.data.fail_burst(burst, AxiReadPort::FailedBeat::kFirst, response);
      if (port == 2) ports.results.fail_burst(burst, response);
    });
    expect_agreement(cosim);
  }
}

/// A device that is in one way.
class Liar final : public WrappedDevice<Device&> {
 public:
  enum class Lie { kMemory, kRegister, kCounter, kInterrupt, kSilence };
  Liar(Device& device, Lie lie) : WrappedDevice(device), lie_(lie) {}

  std::uint32_t read_register(std::uint32_t offset) override {
    const std::uint32_t value = inner_.read_register(offset);
    if (lie_ == Lie::kRegister && offset == reg::kStatus && finished_) return value ^ 2u;
    if (lie_ == Lie::kCounter && offset == kCounters[counter::kComputeCompute].offset) {
      return value + 1;
    }
    if (lie_ == Lie::kInterrupt && offset == reg::kInterrupt && value != 0) return 2;
    return value;
  }
  void write_register(std::uint32_t offset, std::uint32_t value) override {
    finished_ = finished_ || offset == reg::kInterrupt;
    inner_.write_register(offset, value);
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    inner_.read_memory(address, data, bytes);
    if (lie_ == Lie::kMemory) static_cast<std::uint8_t*>(data)[bytes / 2] ^= 4u;
  }
  bool wait_interrupt(std::uint64_t max_cycles) override {
    return lie_ != Lie::kSilence && inner_.wait_interrupt(max_cycles);
  }

 private:
  const Lie lie_;
  bool finished_ = false;
};

CosimVerdict verdict_on(Liar::Lie lie) {
  const Setting setting;
  const CosimWork work = small_work();
  Cosim cosim(work);
  ReferenceDevice reference(geometry_of(4), work.memory.size());
  cosim.add(run_cosim(reference, work, "reference", ""));
  TlmDevice tlm(geometry_of(4), {}, work.memory.size());
  cosim.add(run_cosim(tlm, work, "tlm", "tlm"));
  EXPECT_TRUE(cosim.agree());
  const std::unique_ptr<RtlDevice> rtl = make_rtl(setting, work.memory.size());
  Liar liar(*rtl, lie);
  cosim.add(run_cosim(liar, work, "liar", "rtl"));
  EXPECT_FALSE(cosim.agree());
  return cosim.verdicts().back();
}

TEST(Cosim, FindsEachKindOfDisagreement) {
  EXPECT_THAT(verdict_on(Liar::Lie::kMemory).memory, Says("1 byte differs"));
  EXPECT_THAT(verdict_on(Liar::Lie::kRegister).registers, Says("STATUS is 0x2"));
  EXPECT_THAT(verdict_on(Liar::Lie::kCounter).counters, Says("compute.compute is"));
  EXPECT_THAT(verdict_on(Liar::Lie::kInterrupt).interrupts,
              Says("interrupt 0 is error NONE, not done"));
  EXPECT_THAT(verdict_on(Liar::Lie::kSilence).failure, Says("no interrupt"));
}

TEST(Cosim, FindsFirmwareThatDoesOtherWork) {
  const Setting setting;
  const CosimWork work = small_work();
  const auto verdict = [&](const std::function<void(std::vector<std::uint8_t>&)>& spoil) {
    Cosim cosim(work);
    ReferenceDevice reference(geometry_of(4), work.memory.size());
    cosim.add(run_cosim(reference, work, "reference", ""));
    Platform platform(platform_options(setting, "tlm", work.memory.size()));
    platform.spoil_job_list = spoil;
    return cosim.add(run_cosim_firmware(platform, firmware(), work, "firmware", "tlm"));
  };
  EXPECT_TRUE(verdict(nullptr).agrees());
  const std::size_t commands = sizeof(job_list) + sizeof(job);
  // The first command's words come from elsewhere.
  EXPECT_NE(verdict([&](auto& list) { list[commands + 16] ^= 4; }).memory, "");
  // Another opcode.
  EXPECT_NE(verdict([&](auto& list) { list[commands] = 77; }).interrupts, "");
  EXPECT_NE(verdict([&](auto& list) { list[0] = 0; }).failure, "");
}

}  // namespace
}  // namespace gemm64::cosim_test
