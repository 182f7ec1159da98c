// SPDX-License-Identifier: Apache-2.0
// The program as a user meets it: what it prints, what it writes, and its exit codes.
#include "tests/cli/program.hpp"

#include "tests/cli/onnx_bytes.hpp"

namespace gemm64::cli_test {
namespace {

TEST_F(Program, MultipliesAndReports) {
  const fs::path json = folder_ / "report.json";
  expect(0, "gemm 5 20 12 --array 8 --memory-latency 7 --json " + json.string(), "cycles, ",
         "% of the MACs, ", " 60 sums equal: VERIFIED in ");
  const auto report = nlohmann::json::parse(contents(json));
  EXPECT_EQ(report["model"], "gemm");
  EXPECT_EQ(report["device"], "rtl");
  EXPECT_EQ(report["verified"], true);
  const auto& layer = report["layers"][0];
  EXPECT_EQ(layer["m"], 5);
  EXPECT_EQ(layer["k"], 20);
  EXPECT_EQ(layer["n"], 12);
  EXPECT_EQ(layer["tiles"], 3 * 2);
  EXPECT_EQ(layer["macs"], 5 * 20 * 12);
  EXPECT_EQ(layer["cycles"], layer["predicted_cycles"]);
  EXPECT_EQ(layer["bytes"], layer["predicted_bytes"]);
  EXPECT_EQ(layer["bytes"]["weights"], 3 * 2 * 64);
  EXPECT_EQ(layer["bytes"]["activations"], 5 * 24);
  EXPECT_EQ(layer["bytes"]["results"], 5 * 16 * 4);
  std::uint64_t cycles = 0;
  for (const auto& cause : layer["cycle_breakdown"]) cycles += cause.get<std::uint64_t>();
  EXPECT_EQ(cycles, layer["cycles"]);
  EXPECT_NEAR(layer["utilization"].get<double>(),
              5.0 * 20 * 12 / (64.0 * layer["cycles"].get<double>()), 1e-12);
}

TEST_F(Program, ShowsThePriceOfAddingOnTheHost) {
  const Outcome outcome = run("gemm 8 64 8 --array 8 --accumulate host");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Says("partial sums added"));
  EXPECT_THAT(outcome.out, Says("8.00"));  // eight tiles of K are read back instead of one
}

TEST_F(Program, MultipliesGivenOperands) {
  const fs::path a = write_npy<std::int8_t>("a.npy", "|i1", 2, 3, {1, 2, 3, -4, -5, -128});
  const fs::path b = write_npy<std::int8_t>("b.npy", "|i1", 3, 1, {7, -8, 9});
  const fs::path c = folder_ / "c.npy";
  expect(0, "gemm --array 4 --a " + a.string() + " --b " + b.string() + " --output " + c.string());
  const std::string file = contents(c);
  ASSERT_GE(file.size(), 8U);
  std::array<std::int32_t, 2> sums{};
  std::memcpy(sums.data(), file.data() + file.size() - 8, 8);
  EXPECT_EQ(sums[0], 1 * 7 - 2 * 8 + 3 * 9);
  EXPECT_EQ(sums[1], -4 * 7 + 5 * 8 - 128 * 9);
}

TEST_F(Program, MultipliesFloat32FromSlices) {
  expect(0, "gemm 3 50 9 --array 8 --precision float32", "four slices of 7 bits");
}

TEST_F(Program, RunsOnTheReferenceWithoutCycles) {
  expect(0, "gemm 70 70 70 --device reference", "\n4,900 sums equal: VERIFIED in ");
}

TEST_F(Program, ChecksNoPredictionOfAThrottledMemory) {
  expect(0, "gemm 9 40 9 --array 8 --memory-bytes-per-cycle 3 --memory-stalls 0.3",
         "were not checked");
}

TEST_F(Program, RunsAlexNetAndReportsDeviceShare) {
  const Outcome outcome = run("run --device reference --batch 2 --explain --json report.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Says("alexnet on device 'reference'"));
  // classifier.1, .4 and .6 take the 8-bit results of each other
  EXPECT_THAT(outcome.out,
              Says(", layers without work of the host between them as one program\n",
                   "\n1 program on the device.\n",
                   "MACs on the device: 100.0 % (1,428,376,960 of 1,428,376,960).\n",
                   "Same top-1 class as in float32: 100.0 % (2 of 2);",
                   " results equal the reference on the inputs that the device had.\n"));
  const auto report = json_of("report.json");
  EXPECT_EQ(report["batch"], 2);
  EXPECT_EQ(report["layers"].size(), 11U);  // three pools
  for (const auto& layer : report["layers"]) EXPECT_NE(layer["results"], "INT32");
  EXPECT_EQ(report["programs"][0]["layers"], 11);
  EXPECT_EQ(report["total"]["device_share"], 1);
  EXPECT_GT(report["quality"]["signal_to_noise_db"].get<double>(), 35);
}

TEST_F(Program, LeavesConvolutionsToHostOnRequest) {
  const Outcome outcome = run("run --device reference --batch 2 --convolutions host");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, Says("On the device: 8.21 % of the MACs, 1 program; ",
                                "On the host: 5 layers, 1,311,133,056 MACs (features.0, "
                                "features.3, features.6, features.8, ...): with "
                                "--convolutions host.\n",
                                "18,384 results equal: VERIFIED in "));
  EXPECT_THAT(outcome.out, Lacks("Warning"));  // the user chose this
  EXPECT_EQ(outcome.out.rfind('\n'), outcome.out.size() - 1);
  for (std::size_t begin = 0; begin < outcome.out.find("On the device"); ++begin) {
    const std::size_t end = outcome.out.find('\n', begin);
    EXPECT_LE(end - begin, 100U);
    begin = end;
  }
}

TEST_F(Program, RunsMoreImagesThanHostTakes) {
  expect(0, "run lenet --device reference --batch 65 --explain",
         "MACs on the device: 100.0 % (27,073,800 of 27,073,800).\n", " of 65);",
         "526,110 results equal: VERIFIED");
}

TEST_F(Program, FailsWithoutLayerOnDevice) {
  const fs::path model = folder_ / "relu.onnx";
  std::ofstream(model) << onnx::model(
      {onnx::node("Relu", {"x"}, "y"), onnx::input("x", {1, 4}), onnx::output("y", {1, 4})});
  const std::string relu = "run --device reference --model " + model.string();
  expect(1, relu, "No layer of the network ran on the device");
  EXPECT_EQ(run(relu + " --allow-host-only").code, 0);
}

TEST_F(Program, DescribesTheDevice) {
  const fs::path json = folder_ / "info.json";
  EXPECT_EQ(run("info --json " + json.string()).code, 0);
  const auto info = nlohmann::json::parse(contents(json));
  EXPECT_EQ(info["n"], 64);
  EXPECT_EQ(info["scratchpad_words"], 64 * 144);
}

TEST_F(Program, TracesAWindow) {
  const fs::path fst = folder_ / "wave.fst";
  EXPECT_EQ(run("gemm 4 8 8 --array 8 --trace-window 50:200 --trace " + fst.string()).code, 0);
  EXPECT_GT(fs::file_size(fst), 100U);
}

TEST_F(Program, WritesATimelineOfEveryProduct) {
  const fs::path file = folder_ / "timeline.json";
  const std::string gemm = "gemm 4 8 8 --array 8 --precision float32 --timeline " + file.string();
  expect(0, gemm);
  const auto timeline = nlohmann::json::parse(contents(file));
  EXPECT_EQ(timeline["otherData"]["array"], "8x8");
  EXPECT_THAT(timeline["otherData"]["time axis"].get<std::string>(), Says("1 cycle"));
  int layers = 0;
  for (const auto& event : timeline["traceEvents"]) {
    if (event.value("cat", "") == "layer") ++layers;
  }
  EXPECT_EQ(layers, 4);  // of four slices the products of each order are one
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Program, HelpsOnEveryCommand) {
  for (const char* arguments :
       {"--help", "run --help", "gemm --help", "info --help", "--version"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments;
    EXPECT_NE(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err, "") << arguments;
  }
}

TEST_F(Program, RefusesBadUsage) {
  expect_refused("", "a command is required");
  expect_refused("march", "march");
  expect_refused("gemm", "give M K N");
  expect_refused("gemm 1 2", "3");
  expect_refused("gemm 0 1 1", "out of range; give a number from 1 to");
  expect_refused("gemm 1 -5 1", "out of range; give a number from 1 to");
  expect_refused("gemm 1 y 1", "y");
  expect_refused("gemm 1 1 99999999999", "out of range; give a number from");
  expect_refused("gemm 1 1 1 --array 3", "has no array of 3x3; its sizes are 2, 4, 8, 16, 32, 64");
  expect_refused("gemm 1 1 1 --device fpga", "there is no device called 'fpga'; give one of rtl");
  expect_refused("run lenet --device fpga", "there is no device called 'fpga'");
  expect_refused("gemm 1 1 1 --precision int4", "int4");
  expect_refused("gemm 1 1 1 --memory-latency 0", "out of range; give a number from");
  expect_refused("gemm 1 1 1 --memory-stalls 1.5", "out of range; give a number from");
  expect_refused("gemm 1 1 1 --trace-window 1:2", "--trace");
  expect_refused("gemm 2147483648 1 1 --batch 2", "2147483648");
  expect_refused("gemm 2147483647 65536 1", "bytes of device memory");
}

TEST_F(Program, RefusesBadTraces) {
  const std::string trace = "gemm 1 1 1 --array 8 --trace " + (folder_ / "x.fst").string();
  expect_refused(trace + " --trace-window 5:5", "ends before it starts");
  expect_refused(trace + " --trace-window 5", "no colon");
  expect_refused(trace + " --trace-window a:b", "not two numbers");
  expect_refused("gemm 1 1 1 --device reference --trace " + (folder_ / "x.fst").string(),
                 "--device rtl");
  expect_refused("gemm 1 1 1 --array 8 --trace " + (folder_ / "no" / "x.fst").string(), "x.fst");
}

TEST_F(Program, RefusesBadTimelines) {
  const std::string file = (folder_ / "t.json").string();
  expect_refused("gemm 1 1 1 --device reference --timeline " + file,
                 "--timeline needs a device with signals to look at: --device rtl");
  expect_refused("run --device reference --timeline " + file,
                 "--timeline needs a device with signals to look at: --device rtl");
  const std::string nowhere = (folder_ / "no" / "t.json").string();
  expect_refused("gemm 1 1 1 --array 2 --timeline " + nowhere, "cannot be written");
  expect_refused("run --timeline " + nowhere, "cannot be written");
}

TEST_F(Program, RefusesBadNetworksAndData) {
  expect_refused("run lenet5", "alexnet");
  expect_refused("run --batch 0", "out of range; give a number from");
  expect_refused("run --batch 10001", "10000");
  expect_refused("run --data " + (folder_ / "none").string(), "dataset-fashion-mnist");
}

TEST_F(Program, RefusesOutputThatCannotBeWritten) {
  const std::string nowhere = (folder_ / "no" / "report.json").string();
  expect_refused("gemm 1 1 1 --array 2 --json " + nowhere, "cannot be written");
  expect_refused("gemm 1 1 1 --array 2 --output " + nowhere, "cannot be written");
  expect_refused("run --json " + nowhere, "cannot be written");
  expect_refused("info --json " + nowhere, "cannot be written");
}

TEST_F(Program, RefusesBadOperandFiles) {
  const fs::path outside = fs::path(testing::TempDir()) / ("bad." + std::to_string(getpid()));
  const std::string file = outside.string();
  expect_refused("gemm --a none.npy --b none.npy", "none.npy: cannot be read");
  std::ofstream(outside) << "not numpy";
  expect_refused("gemm 1 1 1 --a " + file, "not a .npy file");
  const fs::path floats = write_npy<float>("f.npy", "<f4", 2, 2, {1, 2, 3, 4});
  fs::rename(floats, outside);
  expect_refused("gemm 2 2 1 --a " + file, "holds float32 of shape (2, 2); int8 is needed");
  expect_refused("gemm 3 2 1 --precision float32 --a " + file, "A is 2x2");
  const fs::path truncated = write_npy<std::int8_t>("t.npy", "|i1", 1000, 1000, {1, 2, 3});
  fs::rename(truncated, outside);
  expect_refused("gemm --a " + file + " --b " + file, "ends 999,997 bytes early");
  fs::remove(outside);
}

}  // namespace
}  // namespace gemm64::cli_test
