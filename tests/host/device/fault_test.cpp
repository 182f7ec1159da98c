// SPDX-License-Identifier: Apache-2.0
#include "host/device/fault.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/error.hpp"

namespace gemm64 {
namespace {

std::string complaint(const std::string& text) {
  try {
    const Fault fault = parse_fault(text);
    check_fault(fault, Geometry());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Fault, IsReadAndWrittenInTheSameForm) {
  for (const char* text :
       {"weight:3,17:7@600", "activation:63,0:0@0", "partial-sum:15,63:31@18446744073709551615",
        "accumulator:1,127,5:31@12", "hang:weights@1", "hang:data@2", "hang:results@3"}) {
    EXPECT_EQ(to_string(parse_fault(text)), text);
    EXPECT_EQ(complaint(text), "");
  }
}

TEST(Fault, KnowsItsFields) {
  const Fault fault = parse_fault("accumulator:1,12,40:5@640");
  EXPECT_EQ(fault.kind, Fault::Kind::kAccumulator);
  EXPECT_EQ(fault.bank, 1u);
  EXPECT_EQ(fault.row, 12u);
  EXPECT_EQ(fault.column, 40u);
  EXPECT_EQ(fault.bit, 5u);
  EXPECT_EQ(fault.clock, 640u);
  EXPECT_EQ(in_words(fault), "bit 5 of the accumulator's bank 1, row 12, column 40");
}

TEST(Fault, OfAnotherFormIsRefusedWithTheForms) {
  for (const char* text : {"", "weight", "weight:1,2:3", "weight:1:2@3", "weight:1,2,3:4@5",
                           "weight:1,2:3@", "weight:1,2:@4", "weight:-1,2:3@4", "weight:1,2:3@4x",
                           "weights:1,2:3@4", "accumulator:1,2:3@4", "hang@5", "hang:memory@5",
                           "hang:weights:1@5", "weight:1,2:3@99999999999999999999"}) {
    EXPECT_THAT(complaint(text),
                testing::HasSubstr(std::string("--inject ") + text + ": give weight:ROW,COLUMN"))
        << text;
  }
}

TEST(Fault, InAPlaceThatDoesNotExistIsRefusedWithThosethatDo) {
  using testing::HasSubstr;
  EXPECT_THAT(complaint("weight:64,0:0@1"), HasSubstr("row 64; this accelerator has 0 to 63"));
  EXPECT_THAT(complaint("activation:0,64:0@1"),
              HasSubstr("column 64; this accelerator has 0 to 63"));
  EXPECT_THAT(complaint("weight:0,0:8@1"), HasSubstr("bit 8; this accelerator has 0 to 7"));
  EXPECT_THAT(complaint("partial-sum:16,0:0@1"),
              HasSubstr("stage 16; this accelerator has 0 to 15"));
  EXPECT_THAT(complaint("partial-sum:0,0:32@1"), HasSubstr("bit 32; this accelerator has 0 to 31"));
  EXPECT_THAT(complaint("accumulator:2,0,0:0@1"), HasSubstr("bank 2; this accelerator has 0 to 1"));
  EXPECT_THAT(complaint("accumulator:0,128,0:0@1"),
              HasSubstr("row 128; this accelerator has 0 to 127"));
}

}  // namespace
}  // namespace gemm64
