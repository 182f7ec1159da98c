// SPDX-License-Identifier: Apache-2.0
// `run --model`: several outputs, several images, sizes that nothing holds.

#include "tests/cli/onnx_bytes.hpp"
#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::json;

class Network : public Program {
 protected:
  json report() const { return json_of("report.json"); }

  /// The float32 values of a .npy file.
  std::vector<float> values(const std::string& name) const {
    const std::string file = contents(folder_ / name);
    EXPECT_GT(file.size(), 10U) << name;
    if (file.size() <= 10) return {};
    const std::size_t begin = 10 + static_cast<unsigned char>(file[8]) +
                              (static_cast<std::size_t>(static_cast<unsigned char>(file[9])) << 8);
    std::vector<float> numbers((file.size() - begin) / sizeof(float));
    std::memcpy(numbers.data(), file.data() + begin, numbers.size() * sizeof(float));
    return numbers;
  }

  /// x [1, 4] as two rows, then a Linear layer: for three images, these rows would be of several.
  static std::string mixing() {
    return onnx::model({onnx::node("Reshape", {"x", "s"}, "r"),
                        onnx::node("MatMul", {"r", "w"}, "y"), onnx::integers("s", {2, 2}),
                        onnx::floats("w", {2, 3}, {0.5F, -1, 0.25F, 2, 1, -0.75F}),
                        onnx::input("x", {1, 4}), onnx::output("y", {2, 3})});
  }
  static std::string linear() {
    return onnx::model({onnx::node("MatMul", {"x", "w"}, "h"), onnx::node("Relu", {"h"}, "y"),
                        onnx::floats("w", {2, 2}, {1, -2, 3, 4}), onnx::input("x", {1, 2}),
                        onnx::output("h", {1, 2}), onnx::output("y", {1, 2})});
  }
};

TEST_F(Network, ImagesMixedByReshapeRunInTurn) {
  write("m.onnx", mixing());
  std::vector<float> images, expected;
  for (int i = 0; i < 3; ++i) {
    const std::vector<float> image = {1.0F + i, -2, 0.5F * i, 3};
    write_npy("one.npy", "<f4", 1, 4, image);
    images.insert(images.end(), image.begin(), image.end());
    ASSERT_EQ(
        run("run --precision int8 --model m.onnx --input one.npy --array 4 --output y.npy").code,
        0);
    const std::vector<float> y = values("y.npy");
    expected.insert(expected.end(), y.begin(), y.end());
  }
  ASSERT_EQ(expected.size(), 18U);
  write_npy("three.npy", "<f4", 3, 4, images);
  for (const char* batch : {"", " --batch 3"}) {
    const Outcome outcome = run(
        "run --explain --precision int8 --model m.onnx --input three.npy --array 4 --output y.npy "
        "--json report.json" +
        std::string(batch));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(values("y.npy"), expected);
    EXPECT_THAT(outcome.out, Says("The 3 images ran one after the other: ", "the Reshape"));
    const json all = report();
    EXPECT_EQ(all["batch"], 3);
    EXPECT_THAT(all["images_in_turn"].get<std::string>(), Says("cannot become 2x2"));
    ASSERT_EQ(all["layers"].size(), 1U);
    EXPECT_EQ(all["layers"][0]["m"], 6);
    EXPECT_EQ(all["layers"][0]["tiles"], 3);
    EXPECT_EQ(all["quality"]["images"], 6);  // rows of the output
  }
  // So does the path on the host.
  const std::string host = "run --model m.onnx --device reference --precision float32 ";
  ASSERT_EQ(run(host + "--input three.npy --output y.npy").code, 0);
  EXPECT_EQ(values("y.npy").size(), 18U);
  const Outcome dump = run(host + "--input three.npy --dump-activations '*=acts'");
  EXPECT_EQ(dump.code, 2);
  EXPECT_THAT(dump.err, Says("--dump-activations: the 3 images run one after the other"));
}

TEST_F(Network, ReplaysOneImageOfSeveral) {
  write("m.onnx", mixing());
  // The accumulator of the second image's product.
  for (int clock = 870; clock < 960; ++clock) {
    const Outcome outcome = run(
        "run --precision int8 --model m.onnx --batch 3 --array 4 --inject accumulator:0,1,2:9@" +
        std::to_string(clock));
    if (outcome.code == 0) continue;
    if (outcome.code == 2) break;  // past the end
    const json failure = json_of("failure.json")["failure"];
    if (failure["index"] != 1) continue;
    EXPECT_EQ(run("replay failure.json").code, 1);
    return;
  }
  FAIL() << "no fault showed in the second image";
}

TEST_F(Network, OutputsGoToFilesByNameAndToFolders) {
  write("m.onnx", linear());
  write_npy("x.npy", "<f4", 1, 2, std::vector<float>{1, -1});
  const std::string command = "run --model m.onnx --input x.npy --array 4 ";
  ASSERT_EQ(run(command + "--output first.npy --output y=named.npy --output all/").code, 0);
  const std::vector<float> h = values("first.npy");
  ASSERT_EQ(h.size(), 2U);
  EXPECT_LT(h[1], 0);
  EXPECT_EQ(values("all/h.npy"), h);
  EXPECT_EQ(values("named.npy"), (std::vector<float>{0, 0}));
  EXPECT_EQ(values("all/y.npy"), values("named.npy"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "all"), {}), 2);

  const auto refused = [&](const std::string& outputs, const std::string& reason) {
    expect_bad(command + outputs, reason);
  };
  refused("--output z=z.npy", "--output z=z.npy: m.onnx has no such output; its outputs are: h, y");
  refused("--output y=", "--output 'y=': give FILE, NAME=FILE or FOLDER/");
  refused("--output all/ --output h=all/y.npy", "name another");
  EXPECT_EQ(values("all/h.npy"), h);
}

/// A product to which another one is added, for the device as one layer.
class Residual : public Network {
 protected:
  Residual() {
    const auto product = [](const std::string& name, const std::string& x, const std::string& w,
                            const std::string& y) {
      return onnx::message(1, onnx::message(1, x) + onnx::message(1, w) + onnx::message(2, y) +
                                  onnx::message(3, name) + onnx::message(4, "MatMul"));
    };
    std::vector<float> w, x;
    for (int i = 0; i < 64; ++i) w.push_back(static_cast<float>((i * 37 + 11) % 64 - 32) / 64);
    for (int i = 0; i < 32; ++i) x.push_back(static_cast<float>((i * 29 + 5) % 32 - 16) / 8);
    write("net.onnx",
          onnx::model({product("first", "x", "v", "c"), product("second", "c", "w", "d"),
                       onnx::node("Add", {"d", "c"}, "y"), onnx::floats("v", {8, 8}, w),
                       onnx::floats("w", {8, 8}, {w.rbegin(), w.rend()}), onnx::input("x", {4, 8}),
                       onnx::output("y", {4, 8})}));
    write_npy("x.npy", "<f4", 4, 8, x);
    EXPECT_EQ(run("quantize net.onnx --calibrate x.npy -o q.onnx").code, 0);
  }

  std::vector<std::string> dumped(const std::string& options) const {
    const Outcome outcome =
        run("run --model q.onnx --input x.npy --device tlm --array 4 " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, testing::AllOf(Says("VERIFIED"), Lacks("Not written")));
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(folder_ / "dump")) {
      names.push_back(file.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Residual, WhatTheDeviceNeverStoresIsDumpedToo) {
  for (const char* const jobs : {"1", "2"}) {
    SCOPED_TRACE(jobs);
    const std::vector<std::string> names =
        dumped("--dump-activations '*'=dump --json report.json --jobs " + std::string(jobs));
    EXPECT_EQ(report()["layers"][1]["vector_nodes"], json({"the Add"}));
    EXPECT_THAT(names, testing::IsSupersetOf({"first.npy", "second.npy", "the Add.npy"}));
    std::map<std::string, std::string> found;
    for (const std::string& name : names) found[name] = contents(folder_ / "dump" / name);
    fs::remove_all(folder_ / "dump");
    // By itself the second product gives the same.
    EXPECT_EQ(run("run --model q.onnx --input x.npy --device reference --array 4 --results int32 "
                  "--check none --dump-activations '*'=dump")
                  .code,
              4);
    EXPECT_EQ(contents(folder_ / "dump/second.npy"), found["second.npy"]);
    fs::remove_all(folder_ / "dump");
  }
}

TEST_F(Residual, WarnsOfValuesThatAreNoNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> x(32, 0.5F);
  x[3 * 8 + 2] = nan;
  x[3 * 8 + 7] = nan;
  write_npy("nan.npy", "<f4", 4, 8, x);
  const char* const warning = "nan.npy: 2 of 32 values are NaN, the first at [3, 2]";
  for (const char* const how : {"--model q.onnx --device tlm", "--model net.onnx --device tlm",
                                "--model net.onnx --device reference --precision float32"}) {
    const Outcome outcome = run(
        std::string("run --input nan.npy --array 4 --json report.json --allow-host-only ") + how);
    EXPECT_THAT(outcome.out, Says("Warning: ", warning)) << outcome.err;
    EXPECT_THAT(report()["warnings"][0].get<std::string>(), Says(warning));
  }
  EXPECT_THAT(run("run --model q.onnx --input x.npy --device tlm --array 4").out, Lacks("NaN"));
  // No range holds NaN.
  expect_bad("quantize net.onnx --calibrate nan.npy -o n.onnx", warning);
  x[3 * 8 + 2] = x[3 * 8 + 7] = std::numeric_limits<float>::infinity();
  write_npy("inf.npy", "<f4", 4, 8, x);
  expect_bad("quantize net.onnx --calibrate inf.npy -o n.onnx",
             "inf.npy: 2 of 32 values are infinite, the first at [3, 2]");
}

TEST_F(Network, LinksOfADownloadCacheAreFollowed) {
  fs::create_directories(folder_ / "blobs");
  fs::create_directories(folder_ / "snapshots/1");
  write("blobs/aa",
        onnx::model({onnx::node("MatMul", {"x", "w"}, "y"), onnx::outside("w", {2, 2}, "w.bin"),
                     onnx::input("x", {1, 2}), onnx::output("y", {1, 2})}));
  write("blobs/bb", std::string(16, '\0'));
  write("secret", std::string(16, '\0'));
  const fs::path snapshot = folder_ / "snapshots/1";
  fs::create_symlink("../../blobs/aa", snapshot / "m.onnx");
  fs::create_symlink("../../blobs/bb", snapshot / "w.bin");
  const std::string command = "run --model snapshots/1/m.onnx --device tlm --array 4";
  expect(0, command);
  // Data in neither folder stay out of reach.
  fs::remove(snapshot / "w.bin");
  fs::create_symlink("../../secret", snapshot / "w.bin");
  expect_bad(command, "lead out of the model's folder");
}

TEST_F(Network, AFileMayComeThroughAPipe) {
  write("m.onnx", linear());
  for (const char* const line : {"cat m.onnx | $G run --model - --device tlm --array 4",
                                 "$G run - --device tlm --array 4 < m.onnx",
                                 "$G run --model <(cat m.onnx) --device tlm --array 4",
                                 "cat m.onnx | $G analyze -", "cat m.onnx | $G tile - -o t.onnx"}) {
    EXPECT_EQ(shell(std::string(line) + " > out 2> err"), 0) << line << read("err");
  }
  EXPECT_EQ(shell("echo no model | $G analyze - > out 2> err"), 2);
  EXPECT_THAT(read("err"), Says("standard input: is not an ONNX model: the file is text"));
}

TEST_F(Network, FilesThatAreSomethingElseAreNamed) {
  const std::map<std::string, std::string> kinds{
      {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "a Git LFS pointer"},
      {std::string("\x1c\0\0\0TFL3\0\0\0\0\0\0\0\0", 16), "a TensorFlow Lite model"},
      {std::string("\x1c\0\0\0ORTM\0\0\0\0\0\0\0\0", 16), "ONNX Runtime's own format (.ort)"},
      {"", "empty"}};
  for (const auto& [contents, kind] : kinds) {
    write("m.onnx", contents);
    expect_bad("run --model m.onnx --array 4", "m.onnx: is not an ONNX model: the file is ");
    expect_bad("analyze m.onnx", kind);
  }
}

TEST_F(Residual, ReportsWhyItIsNotAProgram) {
  write("d.onnx", onnx::model({onnx::message(1, onnx::message(1, "x") + onnx::message(2, "q") +
                                                    onnx::message(2, "s") + onnx::message(2, "z") +
                                                    onnx::message(4, "DynamicQuantizeLinear")),
                               onnx::node("DequantizeLinear", {"q", "s", "z"}, "y"),
                               onnx::input("x", {1, 2}), onnx::output("y", {1, 2})}));
  const Outcome outcome = run("compile net.onnx -o n.g64 --array 4");
  EXPECT_THAT(outcome.err, Says("net.onnx: has no layer of 8-bit values", "gemm64 quantize"));
  const Outcome dynamic = run("compile d.onnx -o n.g64 --array 4");
  EXPECT_EQ(dynamic.code, 2);
  EXPECT_THAT(dynamic.err, testing::AllOf(Says("is quantized"), Lacks("gemm64 quantize")));
}

TEST_F(Network, HasNoQualityWithoutDeviceLayer) {
  write("m.onnx", onnx::model({onnx::node("Relu", {"x"}, "y"), onnx::input("x", {1, 2}),
                               onnx::output("y", {1, 2})}));
  const Outcome outcome = run("run --model m.onnx --array 4 --json report.json");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, testing::AllOf(Says("nothing was verified"), Lacks("top-1")));
  EXPECT_FALSE(report().contains("quality"));
  EXPECT_EQ(report()["verified"], false);
}

TEST_F(Network, SaysThatALimitEndedTheRun) {
  EXPECT_EQ(shell("ulimit -t 1; $G run --batch 1 > out 2> err"), 2);
  EXPECT_EQ(
      read("err"),
      "gemm64: alexnet: the run was killed; check the limits on memory and processor time (ulimit "
      "-a)\n");
}

TEST_F(Network, RefusesHugeSizesFromShapes) {
  write("m.onnx", linear());
  const std::string program = program_path();
  const auto refused = [&](const std::string& options, const std::string& reason) {
    const Outcome outcome =
        run("info > out 2>&1; ulimit -v 1500000; " + program + " run --model m.onnx " + options);
    expect_bad(outcome, reason);
  };
  refused("--precision int8 --array 4 --batch 1073741824",
          "gemm64: --batch 1073741824: 1073741824x2x2 needs ");
  refused("--precision int8 --array 4 --batch 1073741824",
          "bytes of device memory; the device has 4294967296");
  write("m.onnx", onnx::model({onnx::node("Relu", {"x"}, "y"), onnx::input("x", {1, 100000}),
                               onnx::output("y", {1, 100000})}));
  refused("--device reference --precision float32 --batch 2147483648",
          "--batch 2147483648: m.onnx needs 3,200,000 GiB of memory for its values; this machine "
          "has ");
}

/// The trained network, quantized and compiled, gives what its ONNX file does; for other devices
/// and other sizes it is refused.
TEST_F(Network, ACompiledOneRunsAsItsFileDoes) {
  const std::string images = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
  ASSERT_EQ(run("quantize " GEMM64_TEST_DATA "/fashion_cnn.onnx --calibrate " + images +
                " --calibrate-images 20 -o q.onnx")
                .code,
            0);
  const Outcome compiled = run("compile q.onnx -o q.g64 --array 8 --batch 2 --json compiled.json");
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  const std::string given =
      " --device tlm --array 8 --images 2 --json report.json --input " + images;
  const Outcome found = run("run q.g64 --output found.npy" + given);
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, Says("VERIFIED"));
  const json compiled_one = report();
  ASSERT_EQ(run("run q.onnx --output wanted.npy" + given).code, 0);
  EXPECT_EQ(values("found.npy"), values("wanted.npy"));
  EXPECT_EQ(compiled_one["total"]["cycles"], report()["total"]["cycles"]);
  const json predicted = json::parse(contents(folder_ / "compiled.json"));
  EXPECT_EQ(predicted["total"]["predicted_cycles"], report()["total"]["cycles"]);
  EXPECT_EQ(predicted["total"]["programs"], 1);
  EXPECT_EQ(predicted["options"]["tensor_memory"], false);

  // Compiled for a memory, its maps stay on the chip.
  const std::string memory = " --memory shared --memory-bytes-per-cycle 1";
  const std::string for_memory = "compile q.onnx -o m.g64 --array 8 --batch 2 --json compiled.json";
  ASSERT_EQ(run(for_memory + memory).code, 0);
  const json best = json::parse(contents(folder_ / "compiled.json"));
  EXPECT_EQ(best["options"]["tensor_memory"], true);
  ASSERT_EQ(run("run m.g64 --output found.npy" + given + memory).code, 0);
  EXPECT_EQ(values("found.npy"), values("wanted.npy"));
  EXPECT_EQ(best["total"]["predicted_cycles"], report()["total"]["cycles"]);
  const json kept = report()["total"]["cycles"];
  ASSERT_EQ(run("run q.g64" + given + memory).code, 0);
  EXPECT_LT(kept, report()["total"]["cycles"]);

  // So do those of another design.
  const std::string design =
      " --design accumulator_rows=64,scratchpad_words=4000,tensor_words=3000";
  ASSERT_EQ(
      run("compile q.onnx -o d.g64 --array 8 --batch 2 --json compiled.json" + design + memory)
          .code,
      0);
  const json designed = json::parse(contents(folder_ / "compiled.json"));
  EXPECT_EQ(designed["geometry"]["tensor_words"], 3000);
  EXPECT_EQ(designed["options"]["tensor_memory"], true);
  ASSERT_EQ(run("run d.g64 --output found.npy" + given + memory + design).code, 0);
  EXPECT_EQ(values("found.npy"), values("wanted.npy"));
  EXPECT_EQ(designed["total"]["predicted_cycles"], report()["total"]["cycles"]);
  EXPECT_NE(designed["total"]["predicted_cycles"], best["total"]["predicted_cycles"]);

  EXPECT_EQ(run("analyze q.g64 --array 8").code, 0);
  const auto refused = [&](const std::string& arguments, const char* words) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_THAT(outcome.err, Says(words)) << arguments;
  };
  refused("run q.g64", "give --array 8");
  refused("run d.g64 --device tlm --array 8",
          "give --design scratchpad_words=4000,accumulator_rows=64,tensor_words=3000,");
  refused("run d.g64 --array 8" + design, "device 'rtl' is built with scratchpad_words=9216,");
  refused("run q.g64 --array 8 --convolutions host", "run the ONNX file");
  refused("run q.g64 --array 8 --batch 3", "was compiled for 2 images at once");
  refused("run q.g64 --array 8 --images 1 --input " + images, "compile it with --batch 1");
  refused("run q.g64 --array 8 --input-shape image=1x1x28x28", "--input-shape");
  refused("run lenet --model q.onnx", "excludes --model");
  refused("compile q.g64 -o r.g64", "compiled already");
  refused("compile " GEMM64_TEST_DATA "/fashion_cnn.onnx -o r.g64", "gemm64 quantize");
}

}  // namespace
}  // namespace gemm64::cli_test
