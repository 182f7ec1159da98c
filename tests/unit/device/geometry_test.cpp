// SPDX-License-Identifier: Apache-2.0
#include "host/device/geometry.hpp"

#include "host/device/array_geometry.hpp"
#include "host/device/reference_device.hpp"
#include "host/util/error.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(Geometry, IsReadBackAsTheDeviceWasMade) {
  Geometry made;
  made.n = 16;
  made.stage_rows = 2;
  made.weight_tiles = 4;
  made.scratchpad_words = 1234;
  made.accumulator_rows = 32;
  made.reads = 8;
  made.writes = 4;
  made.commands = 32;
  made.burst_beats = 64;
  made.address_width = 33;
  ReferenceDevice device(made, 4096);
  const Geometry read = read_geometry(device);
  EXPECT_EQ(read.n, 16u);
  EXPECT_EQ(read.stage_rows, 2u);
  EXPECT_EQ(read.weight_tiles, 4u);
  EXPECT_EQ(read.scratchpad_words, 1234u);
  EXPECT_EQ(read.accumulator_rows, 32u);
  EXPECT_EQ(read.reads, 8u);
  EXPECT_EQ(read.writes, 4u);
  EXPECT_EQ(read.commands, 32u);
  EXPECT_EQ(read.burst_beats, 64u);
  EXPECT_EQ(read.address_width, 33u);
}

TEST(Design, IsReadFromKeys) {
  const DesignSizes sizes = read_design("tensor_words=0,weight_tiles=4,accumulator_rows=64");
  EXPECT_EQ(sizes.tensor_words, 0);
  EXPECT_EQ(sizes.weight_tiles, 4);
  EXPECT_EQ(sizes.accumulator_rows, 64);
  EXPECT_EQ(sizes.scratchpad_words, 9216);
  EXPECT_FALSE(read_design("").tensor_words);
  const Geometry made = geometry_of(read_design("scratchpad_words=4080,tensor_words=3148"));
  EXPECT_EQ(design_text(made),
            "scratchpad_words=4080,accumulator_rows=128,tensor_words=3148,weight_tiles=16,"
            "parameter_sets=16");
  EXPECT_EQ(geometry_of(read_design(design_text(made))), made);
}

TEST(Design, NamesWhatIsWrong) {
  const auto refusal = [](const char* text) { return message_of([&] { read_design(text); }); };
  for (const char* const text : {"=", ",", "weight_tiles", "weight_tiles=", "weight_tiles=4,",
                                 "weight_tiles=4x", "weight_tiles=99999999999999999999"}) {
    EXPECT_EQ(refusal(text), std::string("'") + text +
                                 "' is no list of KEY=NUMBER, as "
                                 "accumulator_rows=64,weight_tiles=4");
  }
  EXPECT_EQ(refusal("rows=4"),
            "a design has no size 'rows'; its sizes are scratchpad_words, accumulator_rows, "
            "tensor_words, weight_tiles, parameter_sets");
  EXPECT_EQ(refusal("weight_tiles=4,weight_tiles=4"),
            "'weight_tiles=4,weight_tiles=4' has weight_tiles twice");
}

TEST(Geometry, DerivesThePipelineAndThePeak) {
  EXPECT_EQ(Geometry{}.pipeline(), 64u / 4 + 64 + 1);
  EXPECT_EQ(Geometry{}.macs_per_clock(), 4096u);
  Geometry small;
  small.n = 2;
  small.stage_rows = 2;
  EXPECT_EQ(small.pipeline(), 1u + 2 + 1);
  EXPECT_EQ(small.macs_per_clock(), 4u);
}

// Each limit of a size, and what exceeds it by one.
TEST(Geometry, OfADesignEndsAtTheLimitsOfItsSizes) {
  const auto is_refused = [](DesignSizes sizes) {
    try {
      geometry_of(sizes);
    } catch (const UsageError&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(is_refused({2, 9216, 2}));
  EXPECT_FALSE(is_refused({64, 65000, 1 << 15}));
  for (const std::int64_t rows : {-2, 0, 1, 3, 1 << 16}) EXPECT_TRUE(is_refused({8, 65000, rows}));
  for (const std::int64_t array : {-2, 0, 1, 3, 128}) EXPECT_TRUE(is_refused({array, 9216, 128}));
}

}  // namespace
}  // namespace gemm64
