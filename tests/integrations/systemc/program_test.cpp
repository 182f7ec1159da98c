// SPDX-License-Identifier: Apache-2.0
// `gemm64 cosim` and `gemm64 firmware` as a user meets them.
#include "tests/cli/program.hpp"

#include "tests/unit/check/timeline_file.hpp"

namespace gemm64::cli_test {
namespace {

TEST_F(Program, CosimRunsAProductOnSevenSides) {
  const fs::path json = folder_ / "cosim.json";
  expect(0, "cosim 5 20 12 --array 4 --memory shared --memory-latency 7 --json " + json.string(),
         "AGREE: 5x20x12 on 7 sides.");
  const auto report = nlohmann::json::parse(contents(json));
  EXPECT_EQ(report["agree"], true);
  ASSERT_EQ(report["sides"].size(), 7u);
  EXPECT_EQ(report["sides"][0]["side"], "reference");
  for (std::size_t i = 2; i < 7; ++i) {
    EXPECT_EQ(report["sides"][i]["clocks"], report["sides"][1]["clocks"]);
  }
  EXPECT_EQ(run("cosim 3 70 9 --array 8 --memory-stalls 0.3 --accumulate host").code, 0);
  expect(0, "cosim 9 20 12 --array 8 --layers 5", "AGREE: 5 layers of 9x20x12 on 7 sides.");
}

TEST_F(Program, CosimRefusesWhatItDoesNotUnderstand) {
  expect_refused("cosim 5 20", "sizes");
  expect_refused("cosim 5 20 0", "sizes");
  expect_refused("cosim 5 20 12 --device rtl", "gemm64 cosim --help");
}

TEST_F(Program, FirmwareRunsAlexNetsLinearLayersOnTlm) {
  const fs::path json = folder_ / "firmware.json";
  const fs::path timeline = folder_ / "timeline.json";
  expect(0,
         "firmware --device tlm --batch 2 --json " + json.string() + " --timeline " +
             timeline.string(),
         "firmware: 3 of 3 jobs done", "VERIFIED");
  const auto report = nlohmann::json::parse(contents(json));
  // The next job's commands are fetched while one runs.
  EXPECT_EQ(report["modes"][0]["busy_clocks"], 918'497);
  EXPECT_EQ(report["modes"][1]["busy_clocks"], 918'701);
  EXPECT_LT(report["modes"][0]["waiting_share"], 0.001);
  EXPECT_GT(report["modes"][1]["waiting_share"], 0.1);
  EXPECT_EQ(report["modes"][1]["interrupts"].size(), 3u);
  EXPECT_EQ(report["modes"][2]["interrupts"].size(), 1u);
  EXPECT_EQ(report["modes"][2]["doorbells"].size(), 1u);
  EXPECT_LT(report["modes"][2]["busy_clocks"], report["modes"][0]["busy_clocks"]);
  const std::string events = contents(timeline);
  const TimelineFile file(timeline);
  for (const auto& [name, track] : file.tracks) {
    if (track.empty()) continue;
    EXPECT_LE(track.back().end, file.json["otherData"]["clocks"].get<std::uint64_t>() + 1000)
        << name;
  }
  EXPECT_EQ(file.tracks.count("compute"), 0u);  // only the RTL shows what its engines do
  for (const char* name : {"crc32", "interrupt_handler", "gemm64_submit", "\"interrupt\"",
                           "write accelerator", "\"works\""}) {
    EXPECT_THAT(events, Says(name));
  }
}

TEST_F(Program, FirmwareOnRtlShowsItsEngines) {
  const fs::path json = folder_ / "firmware.json", timeline = folder_ / "timeline.json";
  expect(0, "firmware --batch 1 --json " + json.string() + " --timeline " + timeline.string());
  const auto report = nlohmann::json::parse(contents(json));
  const TimelineFile file(timeline);
  ASSERT_EQ(file.count("layers", "layer"), 3u);
  EXPECT_EQ(file.tracks.at("layers")[1].name, "classifier.4");
  EXPECT_EQ(file.counters(true)[counter::kTotalClocks], report["modes"][1]["busy_clocks"]);

  // As a picture.
  const auto draw = [&](const std::string& from, const std::string& arguments) {
    return std::system(("python3 " GEMM64_SOURCE "/scripts/codegen/timeline-picture.py " + from +
                        " -o " + (folder_ / "t.svg").string() + arguments + " 2> /dev/null")
                           .c_str());
  };
  EXPECT_EQ(draw(timeline.string(), " --window '0:20000:The <start>' --leave-out bursts"), 0);
  const std::string svg = contents(folder_ / "t.svg");
  for (const char* part : {"The &lt;start&gt;", ">compute<", ">MATMUL", "</svg>"}) {
    EXPECT_THAT(svg, Says(part));
  }
  EXPECT_THAT(svg, Lacks("bursts"));
  EXPECT_NE(draw(timeline.string(), " --window 9:9"), 0);
  EXPECT_NE(draw(json.string(), ""), 0);
}

TEST_F(Program, FirmwareClassifiesImagesAsRunDoes) {
  const fs::path json = folder_ / "network.json", scores = folder_ / "scores.npy";
  const std::string images = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
  const std::string network = " --model " GEMM64_SOURCE
                              "/tests/data/fashion_cnn.onnx --calibrate " +
                              images + " --calibrate-images 3 --input " + images + " --images 3";
  const Outcome outcome = run("firmware --device tlm" + network + " --json " + json.string());
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, Says("firmware: 8 of 8 jobs done", "VERIFIED: 8 layers in one program"));
  const auto report = nlohmann::json::parse(contents(json));
  EXPECT_EQ(report["layers"], 8);
  EXPECT_EQ(report["modes"][0]["doorbells"].size(), 1u);
  EXPECT_EQ(report["modes"][0]["interrupts"].size(), 1u);
  ASSERT_EQ(report["classes"].size(), 3u);

  const fs::path direct_json = folder_ / "direct.json";
  expect(0, "run --device tlm" + network + " --output " + scores.string() + " --json " +
                direct_json.string());
  EXPECT_EQ(report["modes"][0]["busy_clocks"],
            nlohmann::json::parse(contents(direct_json))["total"]["cycles"]);
  const std::string file = contents(scores);
  std::vector<float> values(30);  // the last bytes of the file
  ASSERT_GT(file.size(), values.size() * sizeof(float));
  std::memcpy(values.data(), file.data() + file.size() - values.size() * sizeof(float),
              values.size() * sizeof(float));
  for (std::size_t image = 0; image < 3; ++image) {
    const auto row = values.begin() + static_cast<std::ptrdiff_t>(10 * image);
    const auto best = std::max_element(row, row + 10) - row;
    EXPECT_EQ(report["classes"][image], best);
    EXPECT_THAT(outcome.out,
                Says("image " + std::to_string(image) + ": class " + std::to_string(best) + "\n"));
  }
}

TEST_F(Program, FirmwareRunsACompiledNetworkAsRunDoes) {
  const std::string inputs = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz";
  ASSERT_EQ(run("compile " GEMM64_SOURCE "/tests/data/fashion_cnn.onnx -o q.g64 --array 8 "
                "--batch 2 --calibrate " +
                inputs + " --calibrate-images 3")
                .code,
            0);
  const std::string given = " q.g64 --array 8 --input " + inputs + " --images 2 --device ";
  expect(0, "run --json run.json" + given + "tlm");
  const auto cycles = json_of("run.json")["total"]["cycles"];
  for (const std::string device : {"tlm", "rtl"}) {
    expect(0, "firmware --json firmware.json" + given + device, "all counters", "VERIFIED");
    EXPECT_EQ(json_of("firmware.json")["modes"][0]["busy_clocks"], cycles) << device;
  }
  expect_bad("firmware q.g64", "give --array 8");
  // With pools between them, layers are programs.
  ASSERT_EQ(run("compile " GEMM64_SOURCE "/tests/data/fashion_cnn.onnx -o r.g64 --array 8 "
                "--depthwise array --calibrate " +
                inputs + " --calibrate-images 3")
                .code,
            0);
  expect_bad("firmware r.g64 --array 8", "'/3/MaxPool': MaxPool gives '");
}

TEST_F(Program, FirmwareRefusesOtherNetworks) {
  expect_refused("firmware --model " GEMM64_SOURCE "/tests/data/fashion_cnn.onnx",
                 "has no layer of 8-bit values");
  expect_refused("firmware --input x.npy", "--model");
  expect_refused("firmware --preprocess raw", "--model");
}

TEST_F(Program, FirmwareEndsWithOneLine) {
  expect_refused("firmware --device tlm --elf /proc/self/exe",
                 "firmware must be for 64-bit RISC-V");
  expect_refused("firmware --device reference", "rtl or tlm");
  const Outcome spins = run("firmware --device tlm --batch 1 --elf " GEMM64_TEST_PROGRAMS
                            "/SPIN.elf --max-instructions 100000");
  EXPECT_EQ(spins.code, 1);
  EXPECT_THAT(spins.err, Says("has not ended after", "(spins)"));
  const Outcome traps =
      run("firmware --device tlm --batch 1 --elf " GEMM64_TEST_PROGRAMS "/TRAP.elf");
  EXPECT_EQ(traps.code, 1);
  EXPECT_THAT(traps.err, Says("illegal instruction (mcause 2) at pc"));
}

}  // namespace
}  // namespace gemm64::cli_test
