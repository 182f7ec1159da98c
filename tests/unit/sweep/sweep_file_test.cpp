// SPDX-License-Identifier: Apache-2.0

#include "host/sweep/sweep.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

using testing::StartsWith;

Sweep parse(const std::string& text) { return parse_sweep(text, "s.json"); }

std::string refusal(const std::string& text) {
  return message_of([&] { parse(text); });
}

TEST(SweepFile, HasDefaultDesign) {
  const Sweep sweep = parse(R"({"networks": "alexnet"})");
  EXPECT_FALSE(sweep.runs);
  EXPECT_EQ(sweep.seed, 1U);
  ASSERT_EQ(sweep.size(), 1U);
  EXPECT_TRUE(sweep.networks[0].built_in);
  EXPECT_EQ(sweep.batches, std::vector<std::int64_t>{1});
  const auto& [geometry, memory, lanes] = sweep.designs[0];
  EXPECT_EQ(geometry.n, 64U);
  EXPECT_EQ(geometry.scratchpad_words, 9216U);
  EXPECT_EQ(geometry.accumulator_rows, 128U);
  EXPECT_EQ(memory.latency, 100U);
  EXPECT_EQ(memory.bytes_per_cycle, 0U);
  EXPECT_EQ(memory.sharing, MemorySharing::kIndependent);
  EXPECT_TRUE(lanes);
}

TEST(SweepFile, CrossesListsInOrder) {
  const Sweep sweep = parse(R"({
    "mode": "run", "device": "tlm", "seed": 9,
    "networks": ["2x3x4", "a/net.onnx"], "batches": [1, 5],
    "designs": [{"array": [8, 4], "memory": ["shared", "exclusive"], "memory_latency": [7, 9]},
                {"array": 2, "scratchpad_words": 200, "accumulator_rows": 16,
                 "memory_bytes_per_cycle": 1}]})");
  EXPECT_TRUE(sweep.runs);
  EXPECT_EQ(sweep.device, "tlm");
  EXPECT_EQ(sweep.seed, 9U);
  ASSERT_EQ(sweep.designs.size(), 9U);
  ASSERT_EQ(sweep.size(), 36U);
  EXPECT_EQ(describe(sweep, sweep.point(1)).dump(),
            R"({"mode":"run","device":"tlm","network":"2x3x4","batch":1,"depthwise":"window",)"
            R"("array":8,"scratchpad_words":9216,"accumulator_rows":128,"tensor_words":6144,)"
            R"("weight_tiles":128,"parameter_sets":16,"sram_kib":100.125,"memory":"shared",)"
            R"("memory_bytes_per_cycle":0,"memory_latency":9})");
  EXPECT_EQ(describe(sweep, sweep.point(2))["memory"], "exclusive");
  EXPECT_EQ(describe(sweep, sweep.point(4))["array"], 4);
  EXPECT_EQ(describe(sweep, sweep.point(8))["accumulator_rows"], 16);
  EXPECT_EQ(sweep.point(9).batch, 5);
  EXPECT_EQ(sweep.point(35).network, 1U);
  EXPECT_TRUE(sweep.networks[1].is_file());
  EXPECT_EQ(sweep.networks[0].product->k, 3U);
  EXPECT_THROW(sweep.point(36), std::out_of_range);
  EXPECT_EQ(label(sweep, 8),
            "point 8 (2x3x4, batch 1, array 2, scratchpad_words 200, accumulator_rows 16, "
            "tensor_words 0, memory independent, memory_bytes_per_cycle 1, "
            "memory_latency 100)");
}

TEST(SweepFile, SplitsTheSameMemory) {
  const Sweep sweep = parse(R"({"networks": "2x3x4", "designs": [
    {"tensor_words": [0, 6000], "parameter_sets": [16, 8]},
    {"scratchpad_words": 8192, "weight_tiles": 32, "tensor_words": 5000}]})");
  ASSERT_EQ(sweep.designs.size(), 5U);
  const Geometry& split = sweep.designs[4].geometry;
  EXPECT_EQ(split.weight_tiles, 32U);
  EXPECT_EQ(split.tensor_words, 5000U);
  const auto kib = [&sweep](std::size_t i) { return describe(sweep, sweep.point(i))["sram_kib"]; };
  EXPECT_EQ(kib(0), 801);
  EXPECT_EQ(kib(1), 797);
  EXPECT_EQ(kib(2), 801);
  EXPECT_EQ(kib(4), 801);
}

TEST(SweepFile, CrossesDepthwiseUnits) {
  const Sweep sweep = parse(R"({
    "networks": "2x3x4", "batches": [1, 5], "depthwise": ["array", "window"],
    "designs": {"array": [4, 8]}})");
  ASSERT_EQ(sweep.size(), 8U);
  EXPECT_EQ(label(sweep, 0), "point 0 (2x3x4, batch 1, depthwise array, array 4)");
  EXPECT_EQ(label(sweep, 1), "point 1 (2x3x4, batch 1, depthwise array, array 8)");
  EXPECT_EQ(label(sweep, 2), "point 2 (2x3x4, batch 1, depthwise window, array 4)");
  EXPECT_EQ(label(sweep, 7), "point 7 (2x3x4, batch 5, depthwise window, array 8)");
  EXPECT_FALSE(sweep.designs[1].lanes);
  EXPECT_TRUE(sweep.designs[3].lanes);
}

TEST(SweepFile, NamesKeyValueAndRemedy) {
  const std::pair<const char*, const char*> faults[] = {
      {"{", "s.json: this is no JSON (line 1, byte 2)"},
      {"{\n\"a\": }", "s.json: this is no JSON (line 2, byte 8)"},
      {"[]", "s.json: a sweep is an object, such as"},
      {"{}", "s.json: it has no \"networks\"; give a list"},
      {R"({"networks": "alexnet", "bateches": 1})",
       "s.json: a sweep has no key 'bateches'; its keys are mode, device, seed, quantize, "
       "depthwise, designs, "
       "networks, batches"},
      {R"({"networks": "alexnet", "networks": "lenet"})",
       "s.json: the key \"networks\" is there twice"},
      {R"({"networks": ["lenet", "resnet"]})",
       "s.json: networks[1] is \"resnet\"; it is one of alexnet, lenet, mnist-cnn, an ONNX file"},
      {R"({"networks": []})", "s.json: networks is []; it is a value, or a list of at least one"},
      {R"({"networks": ["1x2x3", "1x2x3"]})",
       "s.json: networks is \"1x2x3\"; and so is an earlier"},
      {R"({"networks": "0x2x3"})", "s.json: networks is \"0x2x3\"; each size is from 1 to"},
      {R"({"networks": "1x2x99999999999999999999999"})", "each size is from 1 to 2147483648"},
      {R"({"networks": 7})", "s.json: networks is 7; it is one of"},
      {R"({"networks": "1x2"})", "s.json: networks is \"1x2\"; it is one of"},
      {R"({"networks": "2147483648x2x3", "batches": [1, 2]})",
       "s.json: 2147483648x2x3 at batch 2: M times the batch may be at most 2147483648"},
      {R"({"networks": "1x2x3", "batches": [4, 0]})",
       "s.json: batches[1] is 0; it is a whole number from 1 to"},
      {R"({"networks": "1x2x3", "batches": 1.5})", "s.json: batches is 1.5; it is a whole number"},
      {R"({"networks": "1x2x3", "mode": "simulate"})",
       "s.json: mode is \"simulate\"; it is \"predict\" or \"run\""},
      {R"({"networks": "1x2x3", "device": "rtl"})",
       "s.json: device is \"rtl\"; it goes with \"mode\": \"run\""},
      {R"({"networks": "1x2x3", "mode": "run", "device": "reference"})",
       "s.json: device is \"reference\"; it is \"rtl\" or \"tlm\""},
      {R"({"networks": "1x2x3", "seed": -1})", "s.json: seed is -1; it is a whole number from 0"},
      {R"({"networks": "1x2x3", "quantize": 1})",
       "s.json: quantize is 1; it is true, which quantizes float files, or false"},
      {R"({"networks": "1x2x3", "depthwise": ["window", "lanes"]})",
       "s.json: depthwise[1] is \"lanes\"; it is \"window\" or \"array\""},
      {R"({"networks": "1x2x3", "designs": 64})", "s.json: designs is 64; it is an object"},
      {R"({"networks": "1x2x3", "designs": [{}, {"latency": 5}]})",
       "s.json: designs[1] has no key 'latency'; its keys are array, scratchpad_words"},
      {R"({"networks": "1x2x3", "designs": {"array": 48}})",
       "s.json: designs.array is 48x48; its size is 2, 4, 8, 16, 32 or 64"},
      {R"({"networks": "1x2x3", "designs": {"array": 128}})", "designs.array is 128x128"},
      {R"({"networks": "1x2x3", "designs": {"scratchpad_words": 100}})",
       "s.json: designs.scratchpad_words is 100; 128 accumulator rows take at least 191"},
      {R"({"networks": "1x2x3", "designs": {"accumulator_rows": 100}})",
       "s.json: designs.accumulator_rows is 100; it is a power of two from 2 to 32768"},
      {R"({"networks": "1x2x3", "designs": {"tensor_words": 9026}})",
       "s.json: designs.tensor_words is 9026; a scratchpad of 9216 words with 128 accumulator rows "
       "has 0 to 9025"},
      {R"({"networks": "1x2x3", "designs": {"weight_tiles": 12}})",
       "s.json: designs.weight_tiles is 12; it is a power of two from 2 to 1024"},
      {R"({"networks": "1x2x3", "designs": {"parameter_sets": 1}})",
       "s.json: designs.parameter_sets is 1; it is a power of two from 2 to 1024"},
      {R"({"networks": "1x2x3", "designs": {"memory": "private"}})",
       "s.json: designs.memory is \"private\"; it is \"independent\", \"shared\", \"exclusive\""},
      {R"({"networks": "1x2x3", "designs": {"memory": "dram:hbm"}})",
       "s.json: designs.memory 'dram:hbm': no DRAM is called 'hbm'; use one of dram:lpddr4"},
      {R"({"networks": "1x2x3",
          "designs": {"memory": ["shared", "dram:ddr4"], "memory_bytes_per_cycle": 12}})",
       "s.json: designs.memory 'dram:ddr4': its pins limit the bytes per cycle"},
      {R"({"networks": "1x2x3", "designs": {"memory_latency": 0}})",
       "s.json: designs.memory_latency is 0; it is a whole number from 1 to 1000000"},
      {R"({"networks": "1x2x3", "designs": {"memory_bytes_per_cycle": "16"}})",
       "s.json: designs.memory_bytes_per_cycle is \"16\"; it is a whole number from 0"}};
  for (const auto& [text, message] : faults) EXPECT_THAT(refusal(text), Says(message)) << text;
  EXPECT_THAT(refusal(std::string(100000, '[')), StartsWith("s.json: it nests more than 8 levels"));
}

TEST(SweepFile, HasAMillionPointsAtMost) {
  std::string text = R"({"networks": "1x2x3", "batches": [1)";
  for (int i = 2; i <= 1001; ++i) text += ", " + std::to_string(i);
  text += R"(], "designs": {"memory_latency": [1)";
  for (int i = 2; i <= 1000; ++i) text += ", " + std::to_string(i);
  EXPECT_EQ(refusal(text + "]}}"),
            "s.json: 1 networks x 1001 batches x 1000 designs are more than 1000000 points");
}

}  // namespace
}  // namespace gemm64
