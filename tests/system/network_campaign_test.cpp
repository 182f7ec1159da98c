// SPDX-License-Identifier: Apache-2.0
// Campaigns of faults in whole networks: a part on the RTL must give what all on the RTL gives.

#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/faults/network_campaign_report.hpp"
#include "host/faults/network_campaign_run.hpp"
#include "host/numerics/initialize.hpp"
#include "host/tiling/packing.hpp"
#include "sim/models/devices.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"

namespace gemm64::system_test {
namespace {

MatrixI8 random_matrix(std::uint32_t seed, Eigen::Index rows, Eigen::Index columns) {
  std::mt19937 random(seed);
  MatrixI8 matrix(rows, columns);
  fill_int8(random, matrix.data(), static_cast<std::size_t>(matrix.size()));
  return matrix;
}

/// Two products, each a program; the host takes the upper bits of the first one's sums to the
/// second. It has three images.
OutputDigest two_products(Device& device, const Timeouts& timeouts) {
  Driver driver(device, timeouts);
  MatrixI8 a = random_matrix(1, 3, 21);
  MatrixI32 sums;
  for (const Eigen::Index columns : {10, 7}) {
    const MatrixI8 w = random_matrix(2, columns, a.cols());
    const Job job = make_job(
        "product", {3, static_cast<std::uint64_t>(a.cols()), static_cast<std::uint64_t>(columns)},
        Accumulate::kDevice, driver.geometry());
    device.reset();
    sums = driver.run(job, pack_weights(job, w), a).sums;
    a = sums.unaryExpr([](std::int32_t sum) { return sum >> 10; }).cast<std::int8_t>();
  }
  OutputDigest outputs;
  outputs.digest = digest_of(sums.data(), static_cast<std::size_t>(sums.size()) * sizeof(sums(0)));
  for (Eigen::Index row = 0; row < sums.rows(); ++row) {
    Eigen::Index best = 0;
    sums.row(row).maxCoeff(&best);
    outputs.best.push_back(best);
  }
  return outputs;
}

NetworkCampaignOptions options_of(std::uint64_t count) {
  NetworkCampaignOptions options;
  options.model = "two products";
  options.array = 4;
  options.latency = 9;
  options.seed = 3;
  options.count = count;
  options.jobs = 2;
  return options;
}

DeviceOptions device_options(const NetworkCampaignOptions& campaign) {
  DeviceOptions options;
  options.array = static_cast<int>(campaign.array);
  options.seed = campaign.seed;
  options.self_check = campaign.self_check;
  options.memory.latency = campaign.latency;
  return options;
}

NetworkCampaignDevices devices_of(const NetworkCampaignOptions& campaign) {
  const DeviceOptions options = device_options(campaign);
  return {[options] { return devices().find("rtl").make_inspectable(options, TraceOptions()); },
          [options] { return devices().find("tlm").make(options); }};
}

NetworkCampaignReport campaign(const NetworkCampaignOptions& options) {
  return run_network_campaign(options, devices_of(options), two_products);
}

bool same(const TriedNetworkFault& a, const TriedNetworkFault& b) {
  return to_string(a.drawn.fault) == to_string(b.drawn.fault) &&
         a.drawn.program == b.drawn.program && a.outcome == b.outcome && a.outputs == b.outputs &&
         a.results == b.results && a.top1_changed == b.top1_changed;
}

TEST(NetworkCampaign, AgreesWithTheRtlThroughout) {
  NetworkCampaignOptions options = options_of(400);
  options.repeat = 400;
  const NetworkCampaignReport report = campaign(options);
  EXPECT_TRUE(report.holds()) << network_campaign_table(report);
  EXPECT_EQ(report.repeated, 400u);
  ASSERT_EQ(report.programs.size(), 2u);
  for (const NetworkOutcome outcome :
       {NetworkOutcome::kMasked, NetworkOutcome::kDetected, NetworkOutcome::kSilent}) {
    EXPECT_GT(report.count({}, outcome), 0u) << name(outcome);
  }
  EXPECT_GT(report.top1_changed({}), 0u);
  // Faults of both programs reach the outputs.
  for (const std::size_t program : {0u, 1u}) {
    EXPECT_TRUE(std::any_of(report.tries.begin(), report.tries.end(), [&](const auto& tried) {
      return tried.drawn.program == program && tried.outcome == NetworkOutcome::kSilent;
    }));
  }
}

TEST(NetworkCampaign, DetectsFlipsWithSelfCheck) {
  NetworkCampaignOptions options = options_of(840);
  options.self_check = true;
  options.repeat = 84;
  const NetworkCampaignReport report = campaign(options);
  EXPECT_TRUE(report.holds()) << network_campaign_table(report);
  std::uint64_t detected = 0;
  for (const Fault::Kind kind :
       {Fault::Kind::kWeight, Fault::Kind::kActivation, Fault::Kind::kPartialSum}) {
    EXPECT_EQ(report.count(kind, NetworkOutcome::kSilent), 0u) << name(kind);
    detected += report.count(kind, NetworkOutcome::kDetected);
  }
  EXPECT_GT(detected, 0u);
}

TEST(NetworkCampaign, DependsOnNoNumberOfProcesses) {
  NetworkCampaignOptions options = options_of(90);
  const NetworkCampaignReport together = campaign(options);
  options.jobs = 1;
  const NetworkCampaignReport single = campaign(options);
  options.first = 40;
  options.count = 50;
  const NetworkCampaignReport later = campaign(options);
  for (std::size_t i = 0; i < 90; ++i) {
    EXPECT_TRUE(same(together.tries[i], single.tries[i])) << i;
    if (i >= 40) EXPECT_TRUE(same(together.tries[i], later.tries[i - 40])) << i;
  }
}

/// Gives another sum where the second program reads its results.
class LyingDevice : public WrappedDevice<TlmDevice> {
 public:
  using WrappedDevice::WrappedDevice;
  void reset() override {
    ++resets_;
    WrappedDevice::reset();
  }
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    WrappedDevice::read_memory(address, data, bytes);
    if (resets_ == 1) static_cast<std::uint8_t*>(data)[0] ^= 1;
  }

 private:
  unsigned resets_ = 0;
};

TEST(NetworkCampaign, FindsAFastDeviceThatDiffers) {
  NetworkCampaignOptions options = options_of(60);
  options.repeat = 60;
  const DeviceOptions device = device_options(options);
  const NetworkCampaignReport report = run_network_campaign(
      options,
      {devices_of(options).rtl,
       [device] {
         return std::make_unique<LyingDevice>(geometry_of_array(device.array), device.memory);
       }},
      two_products);
  EXPECT_FALSE(report.holds());
  EXPECT_THAT(network_campaign_table(report), Says("FAILED: 60 tries repeated", "otherwise"));
  EXPECT_EQ(to_json(report)["held"], false);
}

TEST(NetworkCampaign, RefusesNoPrograms) {
  const NetworkCampaignOptions options = options_of(1);
  EXPECT_THAT(
      [&] {
        run_network_campaign(options, devices_of(options),
                             [](Device&, const Timeouts&) { return OutputDigest(); });
      },
      Fails<UsageError>("two products", "gemm64 quantize"));
}

TEST(NetworkCampaign, SaysWhatFailedWithoutAFault) {
  const NetworkCampaignOptions options = options_of(10);
  unsigned runs = 0;
  EXPECT_THAT(
      [&] {
        run_network_campaign(options, devices_of(options),
                             [&runs](Device& device, const Timeouts& timeouts) {
                               if (runs++ != 0) throw DeviceError("no luck on the RTL");
                               return two_products(device, timeouts);
                             });
      },
      Fails<DeviceError>("no luck on the RTL"));
}

TEST(WilsonInterval, IsAsTheTablesHaveIt) {
  const Interval half = wilson_interval(5, 10);
  EXPECT_NEAR(half.low, 0.2366, 1e-4);
  EXPECT_NEAR(half.high, 0.7634, 1e-4);
  const Interval none = wilson_interval(0, 20);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.1611, 1e-4);
  const Interval all = wilson_interval(20, 20);
  EXPECT_NEAR(all.low, 0.8389, 1e-4);
  EXPECT_EQ(all.high, 1);
  const Interval nothing = wilson_interval(0, 0);
  EXPECT_EQ(nothing.low, 0);
  EXPECT_EQ(nothing.high, 1);
}

TEST(NetworkTries, AreWithinProgramsAndGeometry) {
  Geometry geometry;
  geometry.n = 8;
  const std::vector<ProgramWindow> programs{{100, 200}, {50, 350}};
  unsigned in_second = 0;
  constexpr unsigned kTries = 4200;
  for (unsigned i = 0; i < kTries; ++i) {
    const NetworkTry drawn = draw_network_try(7, i, geometry, programs);
    EXPECT_EQ(drawn.fault.kind, network_fault_kinds()[i % network_fault_kinds().size()]);
    ASSERT_LT(drawn.program, 2u);
    EXPECT_GE(drawn.fault.clock, programs[drawn.program].begin);
    EXPECT_LT(drawn.fault.clock, programs[drawn.program].end);
    EXPECT_NO_THROW(check_fault(drawn.fault, geometry));
    in_second += drawn.program == 1;
  }
  EXPECT_NEAR(in_second, kTries * 3 / 4, 4 * std::sqrt(kTries * 3.0 / 16));
}

}  // namespace
}  // namespace gemm64::system_test
