// SPDX-License-Identifier: Apache-2.0
// Labels, names, idx files and calibration, as a person asks for them.

#include "tests/cli/onnx_bytes.hpp"
#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::json;

class AccuracyOfRun : public Program {
 protected:
  json report() const { return json_of("r.json"); }

  /// Two classes from one pixel p in [0, 1]: p and 0.5 - p, so that 200 is class 0 and 20 class 1.
  static std::string classifier() {
    return onnx::model({onnx::node("MatMul", {"x", "w"}, "m"), onnx::node("Add", {"m", "b"}, "y"),
                        onnx::floats("w", {1, 2}, {1, -1}), onnx::floats("b", {2}, {0, 0.5F}),
                        onnx::input("x", {1, 1}), onnx::output("y", {1, 2})});
  }

  /// Images of one pixel.
  static std::string idx(const std::string& pixels) {
    std::string bytes("\0\0\x8\x3\0\0", 6);
    bytes += static_cast<char>(pixels.size() >> 8);
    bytes += static_cast<char>(pixels.size());
    return bytes + std::string("\0\0\0\1\0\0\0\1", 8) + pixels;
  }

  void write_all() const {
    write("m.onnx", classifier());
    write("x.idx", idx("\xc8\x14\xc8"));
    write("labels.txt", "0\n1\n1\n");
    write("names.txt", "bright\ndark\n");
  }
};

constexpr const char* kRun = "run --explain --model m.onnx --array 4 --input x.idx ";

TEST_F(AccuracyOfRun, IsCountedInInt8AndFloat32) {
  write_all();
  expect(0, kRun + std::string("--labels labels.txt --json r.json --precision int8"),
         "int8      66.67 %  2 of 3  100.00 %", "float32   66.67 %  2 of 3",
         "Most confused: 1 taken for 0 in 1 image.",
         "Scales of activations: each layer's from this very input");
  EXPECT_EQ(report()["classification"]["matrix"].dump(), "[[1,0],[1,1]]");
  const Outcome two = run(kRun + std::string("--labels labels.txt --images 2"));
  EXPECT_THAT(two.out, Says("2 of 2"));
}

TEST_F(AccuracyOfRun, NamesTheBestClasses) {
  write_all();
  expect(0, kRun + std::string("--names names.txt --images 1"), "image 0:\n", "0 (bright)\n");
}

TEST_F(AccuracyOfRun, NeedsFilesThatFit) {
  write_all();
  write("two.txt", "0\n1\n");
  write("big.txt", "0\n1\n2\n");
  write("one.txt", "x\n");
  const auto refused = [&](const std::string& options, const std::string& reason) {
    expect_bad(kRun + options, reason);
  };
  refused("--labels two.txt", "holds 2 labels for 3 images");
  refused("--labels big.txt", "the label of image 2 is 2; m.onnx has the classes 0 to 1");
  refused("--labels one.txt", "line 1 is 'x'");
  refused("--names one.txt", "holds 1 name for 2 classes");
  refused("--labels none.txt", "none.txt");
  refused("--preprocess raw --mean 1", "--mean");
  refused("--preprocess jpeg", "imagenet, mnist, unit, raw");
  refused("--std 0", "0 is out of range");
  refused("--mean 1,2", "give one mean and deviation");
  refused("--calibrate x.idx --precision float32", "--calibrate does not go with");
  EXPECT_THAT(run("run lenet --mean 1").err, Says("need --model"));
  refused("--labels labels.txt --json labels.txt", "is the file that --labels is read from");
}

TEST_F(AccuracyOfRun, TakesPixelsAsGiven) {
  write_all();
  // Everything below 240 is dark then.
  expect(0, kRun + std::string("--labels labels.txt --mean 0.9 --std 0.1 --json r.json"));
  EXPECT_EQ(report()["classification"]["matrix"].dump(), "[[0,1],[0,2]]");
}

TEST_F(AccuracyOfRun, RunsImagesInPassesOfEqualSize) {
  write_all();
  std::string pixels(600, '\x14');
  pixels[599] = '\xc8';
  write("x.idx", idx(pixels));
  expect(0, kRun + std::string("--output y.npy --json r.json"), "The 600 images ran 200 at once.");
  EXPECT_EQ(report()["batch"], 600);
  EXPECT_EQ(report()["images_at_once"], 200);
  EXPECT_EQ(report()["layers"][0]["m"], 600);
  EXPECT_EQ(fs::file_size(folder_ / "y.npy"), 128 + 600 * 8);
  // As asked for: the last pass is filled up.
  expect(0, kRun + std::string("--batch 7 --json r.json"), "The 600 images ran 7 at once.");
  EXPECT_EQ(report()["layers"][0]["m"], 602);
}

TEST_F(AccuracyOfRun, CalibratedOnThreeImagesRunsOne) {
  write("m.onnx",
        onnx::model({onnx::node("Reshape", {"x", "s"}, "r"), onnx::node("MatMul", {"r", "w"}, "y"),
                     onnx::integers("s", {1, 1}), onnx::floats("w", {1, 2}, {1, -1}),
                     onnx::input("x", {1, 1, 1, 1}), onnx::output("y", {1, 2})}));
  write("x.idx", idx("\xc8\x14\xc8"));
  expect(0, "quantize m.onnx --calibrate x.idx -o q.onnx");
  EXPECT_EQ(run("run --model q.onnx --array 2 --input x.idx --images 1").code, 0);
  expect(0, "run --explain --model m.onnx --array 2 --input x.idx --calibrate x.idx",
         "Same top-1 class as in float32: 100.0 % (3 of 3)");
}

TEST_F(AccuracyOfRun, CalibratesOnOtherImages) {
  ASSERT_EQ(run("make-model mnist-cnn -o m.onnx").code, 0);
  const std::string data = "/usr/share/datasets/fashion-mnist/t10k-";
  const std::string start = "run --explain --model m.onnx --device tlm --input " + data +
                            "images-idx3-ubyte.gz --labels " + data +
                            "labels-idx1-ubyte.gz --images 5 --json r.json ";
  expect(0, start + "--calibrate " + data + "images-idx3-ubyte.gz --calibrate-images 3",
         "images-idx3-ubyte.gz, its first 3 images.\n");
  EXPECT_TRUE(report()["classification"].contains("float32"));
  // What `quantize` writes gives the same bytes.
  ASSERT_EQ(run(start + "--output y.npy --calibrate " + data +
                "images-idx3-ubyte.gz --calibrate-images 3")
                .code,
            0);
  ASSERT_EQ(run("quantize m.onnx -o q.onnx --calibrate " + data +
                "images-idx3-ubyte.gz --calibrate-images 3")
                .code,
            0);
  ASSERT_EQ(run("run --model q.onnx --device tlm --images 5 --output z.npy --input " + data +
                "images-idx3-ubyte.gz")
                .code,
            0);
  EXPECT_EQ(contents(folder_ / "y.npy"), contents(folder_ / "z.npy"));
  EXPECT_EQ(run("run --model q.onnx --calibrate q.onnx").code, 2);
}

/// Without what the clock on the wall said.
json timeless(json report) {
  report.erase("simulation");
  report["host"].erase("seconds");
  report["host"].erase("reference_seconds");
  for (json& layer : report["layers"]) layer.erase("seconds");
  return report;
}

TEST_F(AccuracyOfRun, IsTheSameWithAnyNumberOfJobs) {
  const std::string images = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
  ASSERT_EQ(run("make-model mnist-cnn -o m.onnx").code, 0);
  ASSERT_EQ(run("quantize m.onnx -o q.onnx --calibrate-images 3 --calibrate " + images).code, 0);
  const auto with_jobs = [&](const std::string& jobs) {
    expect(0, "run --model q.onnx --array 8 --batch 1 --images 3 --output y" + jobs +
                  ".npy --json r.json --input " + images + " --jobs " + jobs);
    return timeless(report());
  };
  const json one = with_jobs("1");
  EXPECT_EQ(one["verified"], true);
  EXPECT_EQ(one["images_at_once"], 1);
  EXPECT_EQ(json::diff(one, with_jobs("3")), json::array());
  EXPECT_EQ(contents(folder_ / "y1.npy"), contents(folder_ / "y3.npy"));
}

TEST_F(AccuracyOfRun, TakesNoJobForNone) { expect_refused("run --jobs 0", "0"); }

TEST_F(AccuracyOfRun, SaysWhyOneJobRunsAFloatNetwork) {
  write_all();
  const Outcome outcome = run(kRun + std::string("--jobs 2"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Says("--jobs 2: one job runs all; of layers that are not"));
}

}  // namespace
}  // namespace gemm64::cli_test
