// SPDX-License-Identifier: Apache-2.0
#include "host/sweep/sweep_runner.hpp"

#include "host/cycles/tlm_device.hpp"
#include "host/device/array_geometry.hpp"
#include "host/sweep/sweep_plot.hpp"
#include "tests/test.hpp"
#include "tests/unit/device/wrapped_device.hpp"
#include "tests/unit/onnx_data.hpp"

namespace gemm64 {
namespace {

using testing::StartsWith;

/// Gives one wrong byte of all that is read.
class WrongDevice final : public WrappedDevice<TlmDevice> {
 public:
  explicit WrongDevice(const DeviceOptions& options)
      : WrappedDevice(geometry_of_array(options.array), options.memory) {}
  void read_memory(std::uint64_t address, void* data, std::size_t bytes) override {
    inner_.read_memory(address, data, bytes);
    if (bytes != 0) *static_cast<std::uint8_t*>(data) ^= 1;
  }
  std::string name() const override { return "wrong"; }
};

/// Stands for the RTL: models of 4x4 and 8x8, whose products are right or wrong.
DeviceRegistry registry(bool wrong = false) {
  DeviceKind kind;
  kind.name = "rtl";
  kind.has_cycles = true;
  kind.arrays = {4, 8};
  kind.make = [wrong](const DeviceOptions& options) -> std::unique_ptr<Device> {
    if (wrong) return std::make_unique<WrongDevice>(options);
    return std::make_unique<TlmDevice>(geometry_of_array(options.array), options.memory);
  };
  return DeviceRegistry({kind});
}

std::vector<SweepRow> rows_of(const std::string& text, unsigned jobs = 1, bool wrong = false) {
  const DeviceRegistry devices = registry(wrong);
  SweepRunner runner(parse_sweep(text, "s.json"), devices);
  std::vector<std::size_t> points(runner.sweep().size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = i;
  std::vector<SweepRow> rows(points.size());
  run_points(
      runner, points, jobs, runner.check(),
      [&](std::size_t point, SweepRow row) { rows[point] = std::move(row); }, nullptr);
  return rows;
}

std::string refusal_to_run(const std::string& text) {
  return message_of([&] { rows_of(text); });
}

// Numbers that others publish for AlexNet's first Linear layer on an array of 64x64.
TEST(SweepRunner, ComparesPublishedFormulas) {
  const auto rows =
      rows_of(R"({"networks": ["64x9216x4096", "64x4096x4096", "64x4096x1000", "1x9216x4096"]})");
  EXPECT_EQ(rows[0]["cycles"], 590534);
  EXPECT_EQ(rows[1]["cycles"], 262854);
  EXPECT_EQ(rows[2]["cycles"], 66246);
  EXPECT_EQ(rows[0]["published_cycles.double_buffered_ws"], 590014);
  EXPECT_EQ(rows[1]["published_cycles.double_buffered_ws"], 262334);
  EXPECT_EQ(rows[2]["published_cycles.double_buffered_ws"], 65726);
  EXPECT_EQ(rows[0]["published_cycles.scale_sim_os"], 597887);
  EXPECT_EQ(rows[0]["published_cycles.scale_sim_ws"], 2340863);
  EXPECT_EQ(rows[3]["published_cycles.scale_sim_ws"], 1760255);
  EXPECT_EQ(rows[0]["macs"], 2415919104);
  EXPECT_EQ(rows[0]["utilization"], 2415919104.0 / (4096.0 * 590534));
  EXPECT_TRUE(rows[0]["predicted_cycles"].is_null());
  EXPECT_TRUE(rows[0]["verified"].is_null()) << "nothing was compared";
}

TEST(SweepRunner, CountsAWholeNetworksMacs) {
  const auto rows = rows_of(R"({"networks": "alexnet", "batches": [1, 2]})");
  EXPECT_EQ(rows[0]["macs"], 714188480);
  EXPECT_EQ(rows[1]["macs"], 2 * 714188480);
  EXPECT_EQ(rows[0]["device_share"], 1.0);
  EXPECT_EQ(rows[0]["cycle_breakdown.compute"].get<std::uint64_t>() +
                rows[0]["cycle_breakdown.fill"].get<std::uint64_t>() +
                rows[0]["cycle_breakdown.wait_weights"].get<std::uint64_t>() +
                rows[0]["cycle_breakdown.wait_activations"].get<std::uint64_t>() +
                rows[0]["cycle_breakdown.wait_results"].get<std::uint64_t>(),
            rows[0]["cycles"].get<std::uint64_t>());
  EXPECT_EQ(rows[0]["main_wait"], "wait_weights");
}

TEST(SweepRunner, PredictsWhatARunCounts) {
  const std::string rest = R"("networks": ["37x20x13", "lenet", "mnist-cnn"], "batches": [1, 3],
      "designs": [{"array": [4, 8], "memory": ["independent", "shared", "exclusive"]},
                  {"array": 8, "memory_latency": 7, "memory_bytes_per_cycle": 3},
                  {"array": 8, "memory": ["dram:lpddr4", "dram:ddr4"]}]})";
  const auto runs = rows_of(R"({"mode": "run", )" + rest);
  const auto predictions = rows_of("{" + rest);
  ASSERT_EQ(runs.size(), 54U);
  ASSERT_EQ(predictions.size(), 54U);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SweepRow run = runs[i], prediction = predictions[i];
    EXPECT_EQ(run["verified"], true);
    EXPECT_EQ(run["mismatches"], 0);
    EXPECT_EQ(run["predicted_cycles"], run["cycles"]);
    EXPECT_EQ(run["device"], "rtl");
    for (const char* key : {"mode", "device", "predicted_cycles", "verified", "mismatches"}) {
      run.erase(key);
      prediction.erase(key);
    }
    EXPECT_EQ(run, prediction);
  }
}

/// A sweep of a float file in the tests' folder.
std::string float_sweep(const std::string& file, const std::string& settings) {
  return "{" + settings + R"("designs": {"array": 8}, "networks": ")" +
         (test_data() / file).string() + "\"}";
}

TEST(SweepRunner, QuantizesFloatFiles) {
  const std::string quantize = R"("quantize": true, )";
  const auto prediction = rows_of(float_sweep("fashion_cnn.onnx", quantize));
  const auto run = rows_of(float_sweep("fashion_cnn.onnx", quantize + R"("mode": "run", )"));
  EXPECT_EQ(prediction[0]["device_share"], 1.0);
  EXPECT_TRUE(prediction[0]["warning"].is_null());
  EXPECT_EQ(prediction[0]["cycles"], run[0]["cycles"]);
  EXPECT_EQ(run[0]["verified"], true);
}

TEST(SweepRunner, ComparesTheLanesWithTheArray) {
  const std::string both = R"("quantize": true, "depthwise": ["window", "array"], )";
  const auto predictions = rows_of(float_sweep("fashion_cnn.onnx", both));
  const auto runs = rows_of(float_sweep("fashion_cnn.onnx", both + R"("mode": "run", )"));
  ASSERT_EQ(runs.size(), 2U);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i]["depthwise"], i == 0 ? "window" : "array");
    EXPECT_EQ(runs[i]["cycles"], predictions[i]["cycles"]);
    EXPECT_EQ(runs[i]["verified"], true);
  }
  // The pools are layers of the program on the lanes, and the host's otherwise.
  EXPECT_NE(runs[0]["cycles"], runs[1]["cycles"]);
}

TEST(SweepRunner, WarnsOfNetworkOnHost) {
  const auto rows = rows_of(float_sweep("fashion_cnn.onnx", ""));
  EXPECT_LT(rows[0]["device_share"], 0.5);
  EXPECT_THAT(rows[0]["warning"].get<std::string>(),
              StartsWith("only 1.3 % (75,008 of 5,719,808) of the network's MACs"));
  EXPECT_THAT(rows_verdict(rows), Says("fashion_cnn.onnx: only 1.3 %",
                                       "\"quantize\": true quantizes float files.\n1 point"));
}

TEST(SweepRunner, QuantizesAFileThatLacksItsWeights) {
  const auto rows = rows_of(R"({"quantize": true, "networks": ")" +
                            (test_data() / "resnet50.onnx").string() + "\"}");
  EXPECT_EQ(rows[0]["macs"], 4089184256);
  EXPECT_EQ(rows[0]["device_share"], 1.0);
}

// With 801 KiB of SRAM, and with 384 KiB.
TEST(SweepRunner, MovesFewBytesOverASharedPort) {
  const auto network = [](const char* name) { return '"' + (test_data() / name).string() + '"'; };
  const auto rows = rows_of(R"({"quantize": true, "networks": [)" +
                            network("mobilenet_v2_shape.onnx") + ", " + network("resnet50.onnx") +
                            R"(], "designs": [{"memory": "shared", "memory_bytes_per_cycle": 12},
                                {"memory": "shared", "memory_bytes_per_cycle": 12,
                                 "accumulator_rows": 64, "scratchpad_words": 4080,
                                 "tensor_words": 3148, "weight_tiles": 4}]})");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["sram_kib"], 801);
  EXPECT_EQ(rows[1]["sram_kib"], 384);
  EXPECT_LE(rows[0]["cycles"], 650'000);
  EXPECT_LE(rows[0]["bytes"], 7'200'000);
  EXPECT_LE(rows[1]["cycles"], 900'000);
  EXPECT_LE(rows[1]["bytes"], 9'000'000);
  EXPECT_LE(rows[2]["cycles"], 3'600'000);
  EXPECT_LE(rows[2]["bytes"], 40'000'000);
  EXPECT_LE(rows[3]["cycles"], 6'500'000);
}

TEST(SweepRunner, RunsAnyDesignOnTlm) {
  const auto rows = rows_of(R"({"mode": "run", "device": "tlm", "networks": ["200x700x60", "lenet"],
      "designs": {"array": 16, "scratchpad_words": [300, 1000], "accumulator_rows": [16, 64],
                  "weight_tiles": 8, "tensor_words": 100}})");
  ASSERT_EQ(rows.size(), 8U);
  for (const SweepRow& row : rows) EXPECT_EQ(row["verified"], true) << row;
  EXPECT_GT(rows[0]["bytes.activations"], rows[2]["bytes.activations"]);
}

TEST(SweepRunner, RunsProgramsOfAnyTensorMemory) {
  const auto rows = rows_of(R"({"mode": "run", "device": "tlm", "quantize": true,
      "networks": ["lenet"], "designs": {"array": 8, "tensor_words": [700, 3148, 6144],
      "memory": "shared", "memory_bytes_per_cycle": 12}})");
  ASSERT_EQ(rows.size(), 3U);
  for (const SweepRow& row : rows) EXPECT_EQ(row["verified"], true) << row;
}

TEST(SweepRunner, RefusesUnknownDesignsFirst) {
  EXPECT_EQ(
      refusal_to_run(R"({"mode": "run", "networks": "2x3x4", "designs": {"array": [8, 16]}})"),
      "point 1 (2x3x4, batch 1, array 16): no model of an array of 16x16 is built; "
      "\"device\": \"tlm\" runs any design, \"mode\": \"predict\" predicts it");
  EXPECT_EQ(
      refusal_to_run(R"({"mode": "run", "networks": "2x3x4", "batches": [1, 2],
                        "designs": {"array": 8, "scratchpad_words": [9216, 512]}})"),
      "point 1 (2x3x4, batch 1, scratchpad_words 512, tensor_words 0): the models are built with "
      "scratchpad_words 9216, accumulator_rows 128, tensor_words 6144, weight_tiles 128 and "
      "parameter_sets 16, and 2 of the 4 points cannot run; "
      "\"device\": \"tlm\" runs any design, \"mode\": \"predict\" predicts it");
}

TEST(SweepRunner, NamesThePointThatCannotBe) {
  EXPECT_THAT(refusal_to_run(R"({"networks": ["2x3x4", "2147483648x2147483648x2147483648"]})"),
              StartsWith("point 1 (2147483648x2147483648x2147483648, batch 1): "));
  EXPECT_THAT(refusal_to_run(R"({"networks": "nowhere.onnx"})"),
              StartsWith("point 0 (nowhere.onnx, batch 1): nowhere.onnx: "));
  EXPECT_THAT(
      refusal_to_run(R"({"mode": "run", "designs": {"array": 4}, "networks": "nowhere.onnx"})"),
      Says("nowhere.onnx: "));
}

TEST(SweepRunner, CallsNothingVerifiedThatIsWrong) {
  const auto rows = rows_of(
      R"({"mode": "run", "networks": ["5x6x7", "lenet"], "designs": {"array": 8}})", 1, true);
  ASSERT_EQ(rows.size(), 2U);
  for (const SweepRow& row : rows) {
    EXPECT_EQ(row["verified"], false);
    EXPECT_TRUE(has_failed(row));
  }
  EXPECT_GT(rows[0]["mismatches"], 0);
  EXPECT_THAT(rows_table(rows, 0, varied_keys(rows)), Says("NO\n"));
  EXPECT_THAT(sweep_plot(rows, "s.json")["verdict"], Says("NOT VERIFIED"));
}

TEST(SweepRunner, RowsAreSameWithAnyJobs) {
  const char* const text = R"({"mode": "run", "networks": ["9x8x7", "mnist-cnn"], "batches": [1, 2],
                               "designs": {"array": [4, 8], "memory_latency": [5, 50]}})";
  EXPECT_EQ(rows_csv(rows_of(text, 1)), rows_csv(rows_of(text, 7)));
}

}  // namespace
}  // namespace gemm64
