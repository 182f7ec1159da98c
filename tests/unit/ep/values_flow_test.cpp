// SPDX-License-Identifier: Apache-2.0
// What the device wrote is what goes on: networks on devices whose results are wrong.

#include <mutex>

#include "host/cycles/tlm_device.hpp"
#include "host/report/json.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"
#include "tests/unit/ep/run_network.hpp"
#include "tests/unit/report/shown.hpp"
#include "tests/unit/runtime/quantized_graph_text.hpp"
#include "tests/unit/runtime/small_device.hpp"

namespace gemm64 {
namespace {

/// What all devices of a run share: weights as they were given, and which of them go wrong on their
/// way into memory, so that one layer's results are wrong wherever it runs.
struct Weights {
  std::mutex mutex;
  std::vector<std::string> given;
  std::set<std::string> wrong;
};

class WeakDevice : public WrappedDevice<TlmDevice> {
 public:
  explicit WeakDevice(Weights& weights)
      : WrappedDevice(small_geometry(), MemoryTiming{}, std::uint64_t{16} << 20),
        weights_(weights) {}

  void place_memory(std::uint64_t address, const SharedBytes& bytes) override {
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bool wrong = false;
    {
      const std::lock_guard<std::mutex> lock(weights_.mutex);
      weights_.given.push_back(text);
      wrong = weights_.wrong.count(text) != 0;
    }
    for (std::size_t i = 0; wrong && i < text.size(); i += 3) text[i] ^= 0x60;
    inner_.write_memory(address, text.data(), text.size());
  }

 private:
  Weights& weights_;
};

/// Four programs: work of the host stands between each and the next. What is added comes from a
/// layer of the program, and from the host.
OnnxModel long_network() {
  QuantizedText text("2,3,12,12");
  const char* const pool = "MaxPool <kernel_shape = [2,2]> ({})";
  const auto pooled = [&](const std::string& from) {
    text.node("t" + from, fmt::format("Transpose <perm = [0,1,3,2]> ({})", from));
    text.node("p" + from, fmt::format(pool, "t" + from));
  };
  text.conv("x", "a", 3, 9, 3).conv("a", "b", 9, 12, 1);
  text.conv("b", "r", 12, 12, 3, "pads = [1,1,1,1]").add("r", "b", "residual");
  pooled("residual");
  text.conv("presidual", "c", 12, 10, 3, "pads = [1,1,1,1]").conv("c", "d", 10, 12, 1);
  text.add("presidual", "d", "sum");
  text.conv("sum", "e", 12, 9, 2);
  pooled("e");
  text.conv("pe", "f", 9, 8, 3).conv("f", "g", 8, 8, 1);
  pooled("g");
  return text.node("flat", "Flatten (pg)")
      .matmul("flat", "h", 128, 12)
      .matmul("h", "y", 12, 7)
      .model();
}

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.raw()), tensor.bytes()};
}

class ValuesFlowTest : public testing::Test {
 protected:
  NetworkRun run(CheckLevel check) {
    weights_.given.clear();
    looks_.clear();
    WeakDevice device(weights_);
    RunOptions options;
    options.check = check;
    options.investigate = [this](const JobRun& job, Failure&) { looks_.push_back(job.job.name); };
    return run_network(
        model_, NetworkInputs::in_passes({{"x", InputSource::of(images_)}}, images_.dim(0), 2),
        device, options);
  }

  /// Learns the weights of each layer, in the order in which they run.
  void learn() {
    names_.clear();
    const NetworkRun right = run(CheckLevel::kLayers);
    ASSERT_TRUE(right.report.verified());
    for (const LayerReport& layer : right.report.layers) names_.push_back(layer.name);
    layers_.assign(weights_.given.begin(),
                   weights_.given.begin() + static_cast<std::ptrdiff_t>(names_.size()));
    right_ = bytes_of(right.outputs.at("y"));
  }

  const OnnxModel model_ = long_network();
  Tensor images_ = quantized_input({2, 3, 12, 12});
  Weights weights_;
  std::vector<std::string> names_, layers_, looks_;
  std::string right_;
};

TEST_F(ValuesFlowTest, NamesOneFaultyLayer) {
  learn();
  int wrong_outputs = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    SCOPED_TRACE(names_[i]);
    weights_.wrong = {layers_[i]};
    const NetworkRun one = run(CheckLevel::kLayers);
    EXPECT_FALSE(one.report.verified());
    for (const LayerReport& layer : one.report.layers) {
      EXPECT_EQ(layer.mismatches.count != 0, layer.name == names_[i]) << layer.name;
    }
    EXPECT_EQ(looks_, std::vector<std::string>{names_[i]});
    EXPECT_EQ(one.report.failure.value().index, i);
    const std::string y = bytes_of(one.outputs.at("y"));
    wrong_outputs += y != right_;
    // Whatever is compared, the same values go on.
    const NetworkRun outputs = run(CheckLevel::kOutputs), none = run(CheckLevel::kNone);
    EXPECT_EQ(bytes_of(outputs.outputs.at("y")), y);
    EXPECT_EQ(bytes_of(none.outputs.at("y")), y);
    EXPECT_EQ(outputs.report.verified(), y == right_);
    EXPECT_FALSE(none.report.verified());
    EXPECT_TRUE(none.report.held());
  }
  EXPECT_GT(wrong_outputs, 5);
}

TEST_F(ValuesFlowTest, FindsFaultsInSeveralPasses) {
  images_ = quantized_input({6, 3, 12, 12});
  learn();
  weights_.wrong = {layers_[1], layers_[5], layers_.back()};
  const NetworkRun one = run(CheckLevel::kLayers);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    EXPECT_EQ(one.report.layers[i].mismatches.count != 0,
              i == 1 || i == 5 || i + 1 == layers_.size())
        << names_[i];
  }
}

TEST_F(ValuesFlowTest, VerdictNamesComparison) {
  EXPECT_THAT(shown(run(CheckLevel::kLayers).report),
              Says(" results equal the reference on the inputs that the device had; all "));
  const NetworkRun outputs = run(CheckLevel::kOutputs);
  EXPECT_TRUE(outputs.report.verified());
  EXPECT_THAT(shown(outputs.report),
              Says("All 3,966 values of the network's outputs equal a run on the host; "
                   "layers were not compared"));
  EXPECT_EQ(to_json(outputs.report)["outputs"]["values"], 3966);  // of the four programs
  const NetworkRun none = run(CheckLevel::kNone);
  EXPECT_THAT(shown(none.report), Says("no value compared (--check none): NOT CHECKED\n"));
  const nlohmann::ordered_json json = to_json(none.report);
  EXPECT_EQ(json["check"], "none");
  EXPECT_EQ(json["verified"], false);
  EXPECT_EQ(json["layers"][0]["mismatches"], nullptr);
  EXPECT_EQ(none.report.host->reference_seconds, 0) << "the host computed what it need not";
  learn();
  weights_.wrong = {layers_.back()};
  EXPECT_THAT(shown(run(CheckLevel::kOutputs).report),
              Says(" of 3,966 values of the network's outputs differ from a run on the host, the "
                   "first in 'y'\n"));
}

}  // namespace
}  // namespace gemm64
