// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/session.hpp"

#include <thread>

#include "host/ep/network_session.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

class SessionTest : public testing::Test {
 protected:
  static OnnxModel linear(const std::string& rows) {
    return OnnxModel::from_proto(
        parse_model(fmt::format("(float[{0},20] x, float[20,11] w) => (float[{0},11] y) "
                                "{{y = MatMul(x, w)}}",
                                rows),
                    {"w"}),
        "linear");
  }

  static NetworkInputs inputs() {
    return NetworkInputs::of(
        NamedTensors{{"x", Tensor::of<float>({3, 20}, std::vector<float>(60, 0.5F))}});
  }

  Session session(const std::string& kind, const RunSettings& settings) {
    RunOptions run;
    run.investigate = [](const JobRun&, Failure&) {};
    return {device_, kind, Timeouts(), settings, run};
  }

  static RunSettings quantized() {
    RunSettings settings;
    settings.precision = Precision::kInt8;
    return settings;
  }

  DamagedDevice device_;
  const OnnxModel model_ = linear("3");
};

TEST_F(SessionTest, ReportsFirstFailure) {
  Session session = this->session("rtl", quantized());
  ep::NetworkSession network(session);
  network.open(model_, nullptr);
  const NetworkRun held = network.run(inputs(), session.report("linear", 3), nullptr);
  EXPECT_EQ(device_.runs, 1);
  EXPECT_TRUE(held.report.held());
  EXPECT_FALSE(held.report.failure);
  EXPECT_EQ(held.report.model, "linear");
  EXPECT_EQ(held.outputs.at("y").dims(), (Dims{3, 11}));
  device_.damage = true;
  const NetworkRun wrong = network.run(inputs(), session.report("linear", 3), nullptr);
  EXPECT_FALSE(wrong.report.held());
  EXPECT_TRUE(wrong.report.failure);
}

TEST_F(SessionTest, SeveralRunTheirNetworksAtOnce) {
  const OnnxModel other = linear("5");
  DamagedDevice device;
  Session first = session("rtl", quantized());
  Session second(device, "rtl", Timeouts(), quantized(), {});
  ep::NetworkSession one(first), two(second);
  one.open(model_, nullptr);
  two.open(other, nullptr);
  device.damage = true;  // of the second only
  std::vector<NetworkRun> runs(2);
  const NetworkInputs of_other = NetworkInputs::of(
      NamedTensors{{"x", Tensor::of<float>({5, 20}, std::vector<float>(100, 0.5F))}});
  std::thread thread([&] { runs[1] = two.run(of_other, second.report("other", 5), nullptr); });
  runs[0] = one.run(inputs(), first.report("linear", 3), nullptr);
  thread.join();
  EXPECT_EQ(device_.runs, 1);
  EXPECT_EQ(device.runs, 1);
  EXPECT_TRUE(runs[0].report.held());
  EXPECT_FALSE(runs[1].report.held());
  EXPECT_EQ(runs[0].report.layers.at(0).shape.m, 3U);
  EXPECT_EQ(runs[1].report.layers.at(0).shape.m, 5U);
}

TEST_F(SessionTest, LeavesFloatToHostOnReference) {
  RunSettings settings;
  settings.precision = Precision::kFloat32;
  Session session = this->session("reference", settings);
  EXPECT_TRUE(session.is_host_only());
  EXPECT_NO_THROW(session.check(linear("1000000")));  // for which the device has no room
  ep::NetworkSession network(session);
  network.open(model_, nullptr);
  const RunReport report = network.run(inputs(), session.report("linear", 3), nullptr).report;
  EXPECT_EQ(report.device, "host");
  EXPECT_TRUE(report.host_only);
  EXPECT_EQ(device_.runs, 0);
}

TEST_F(SessionTest, RefusesLargeNetworksAndOptions) {
  EXPECT_THAT(message_of([&] { session("rtl", quantized()).check(linear("1000000")); }),
              Says("1000000x20x11 needs"));
  RunSettings settings;
  settings.precision = Precision::kFloat32;
  settings.check = CheckLevel::kOutputs;
  EXPECT_NO_THROW(session("rtl", settings));
  EXPECT_THAT(message_of([&] { session("reference", settings); }),
              Says("--check outputs: only the host runs the network"));
}

}  // namespace
}  // namespace gemm64
