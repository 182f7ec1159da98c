// SPDX-License-Identifier: Apache-2.0
#include "host/device/fault.hpp"

#include "host/device/registers.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

std::string complaint(const std::string& text) {
  return message_of([&] {
    const Fault fault = parse_fault(text);
    check_fault(fault, Geometry());
  });
}

TEST(Fault, IsReadAndWrittenInTheSameForm) {
  for (const char* text : {"weight:3,17:7@600",
                           "activation:63,0:0@0",
                           "partial-sum:15,63:31@18446744073709551615",
                           "accumulator:1,127,5:31@12",
                           "hang:weights@1",
                           "hang:data@2",
                           "hang:results@3",
                           "result:63:7@5",
                           "command:15:31@6",
                           "bias:63:31@10",
                           "scale:0:0@11",
                           "operand:63:7@12",
                           "table:255:0@13",
                           "vector:63:6@14",
                           "lane-weight:1,48,63:7@15",
                           "lane-value:6,0,5:0@16",
                           "lane-sum:63:21@17",
                           "lane-line:5,127,63:7@18",
                           "scratchpad:9215,63:0@19",
                           "stored-weight:1023,63:7@20",
                           "stored-bias:15,63:31@21",
                           "stored-scale:0,0:0@22",
                           "stored-operand:511,63:7@23",
                           "register:RING_TAIL:15@7",
                           "register:CONTROL:1@8",
                           "lost:weights.ar@1",
                           "lost:data.r@2",
                           "lost:results.w@3",
                           "repeated:results.b@4",
                           "repeated:results.aw@5",
                           "repeated:weights.r@6",
                           "lost:data.ar@7",
                           "slverr:data@8",
                           "decerr:results@9"}) {
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

TEST(Fault, IsDescribed) {
  const auto words = [](const char* text) { return in_words(parse_fault(text)); };
  EXPECT_EQ(words("result:12:3@1"), "bit 3 of byte 12 in the next beat of results");
  EXPECT_EQ(words("command:4:31@1"), "bit 31 of word 4 in the next command fetched");
  EXPECT_EQ(words("bias:3:31@1"), "bit 31 of column 3's bias in the next set of parameters");
  EXPECT_EQ(words("scale:3:0@1"), "bit 0 of column 3's scale in the next set of parameters");
  EXPECT_EQ(words("operand:3:0@1"), "bit 0 of byte 3 in the next word of second operands");
  EXPECT_EQ(words("table:200:7@1"), "bit 7 of entry 200 in the element-wise unit's table");
  EXPECT_EQ(words("vector:5:1@1"), "bit 1 of lane 5's rounded sum in the element-wise unit");
  EXPECT_EQ(words("lane-weight:1,8,5:7@1"), "bit 7 of lane 5's weight at tap 8, half 1");
  EXPECT_EQ(words("lane-value:2,1,5:0@1"),
            "bit 0 of lane 5's value at row 2, column 1 of the window");
  EXPECT_EQ(words("lane-sum:5:21@1"), "bit 21 of lane 5's depthwise sum");
  EXPECT_EQ(words("lane-line:3,17,5:0@1"), "bit 0 of lane 5's value at column 17 of line memory 3");
  EXPECT_EQ(words("scratchpad:70,5:2@1"), "bit 2 of the scratchpad's word 70, column 5");
  EXPECT_EQ(words("stored-weight:70,5:2@1"), "bit 2 of the weight buffer's word 70, row 5");
  EXPECT_EQ(words("stored-scale:3,5:31@1"),
            "bit 31 of column 5's scale in set 3 of the parameter buffer");
  EXPECT_EQ(words("stored-operand:9,5:2@1"), "bit 2 of the operand buffer's word 9, lane 5");
  EXPECT_EQ(words("register:RING_MASK:3@1"), "bit 3 of the register RING_MASK");
  EXPECT_EQ(words("lost:data.r@1"), "the next handshake on data.r is lost");
  EXPECT_EQ(words("repeated:results.b@1"), "the next handshake on results.b comes twice");
  EXPECT_EQ(words("slverr:data@1"), "the next burst on the data port is answered with SLVERR");
  EXPECT_EQ(words("decerr:results@1"),
            "the next burst on the results port is answered with DECERR");
}

TEST(Fault, CanBePutInEveryWritableRegister) {
  std::vector<std::string> writable, known;
  for (const Register& r : kRegisters) {
    if (r.access != Access::kReadOnly) writable.push_back(r.name);
  }
  for (const FaultRegister& r : kFaultRegisters) known.push_back(r.name);
  EXPECT_THAT(known, testing::UnorderedElementsAreArray(writable));
}

TEST(Fault, CanBePutInWordsOfTheTensorMemory) {
  const Geometry with = Geometry().with_tensor_memory();
  ASSERT_LT(with.scratchpad_words, 9215U);
  EXPECT_NO_THROW(check_fault(parse_fault("scratchpad:9215,63:0@19"), with));
  EXPECT_THAT([&] { check_fault(parse_fault("scratchpad:9216,0:0@1"), with); },
              Fails("word 9216; this accelerator has 0 to 9215"));
}

TEST(Fault, HasANameForEveryKind) {
  for (std::size_t i = 0; i < kFaultKinds.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kFaultKinds[i].kind), i);
    EXPECT_THAT(kFaultForms, Says(name(kFaultKinds[i].kind)));
  }
}

TEST(Fault, OfAnotherFormIsRefusedWithTheForms) {
  for (const char* text : {"",
                           "weight",
                           "weight:1,2:3",
                           "weight:1:2@3",
                           "weight:1,2,3:4@5",
                           "weight:1,2:3@",
                           "weight:1,2:@4",
                           "weight:-1,2:3@4",
                           "weight:1,2:3@4x",
                           "weights:1,2:3@4",
                           "accumulator:1,2:3@4",
                           "hang@5",
                           "hang:memory@5",
                           "hang:weights:1@5",
                           "weight:1,2:3@99999999999999999999",
                           "result:1,2:3@4",
                           "result:3@4",
                           "command:1@2",
                           "register:ID:0@1",
                           "register:3:0@1",
                           "lost:weights@1",
                           "lost:weights.b@1",
                           "repeated:data.w@1",
                           "slverr:memory@1",
                           "decerr:data.r@1",
                           "slverr:data:0@1"}) {
    EXPECT_THAT(complaint(text),
                testing::AnyOf(Says(std::string("--inject ") + text + ": use "),
                               Says(": no fault is called ", "use one of weight, activation, ")))
        << text;
    EXPECT_LT(complaint(text).size(), 400U) << text;
  }
}

TEST(Fault, NamesPlacesIfItHasNone) {
  EXPECT_THAT(complaint("weight:64,0:0@1"), Says("row 64; this accelerator has 0 to 63"));
  EXPECT_THAT(complaint("activation:0,64:0@1"), Says("column 64; this accelerator has 0 to 63"));
  EXPECT_THAT(complaint("weight:0,0:8@1"), Says("bit 8; this accelerator has 0 to 7"));
  EXPECT_THAT(complaint("partial-sum:16,0:0@1"), Says("stage 16; this accelerator has 0 to 15"));
  EXPECT_THAT(complaint("partial-sum:0,0:32@1"), Says("bit 32; this accelerator has 0 to 31"));
  EXPECT_THAT(complaint("accumulator:2,0,0:0@1"), Says("bank 2; this accelerator has 0 to 1"));
  EXPECT_THAT(complaint("result:64:0@1"), Says("byte 64; this accelerator has 0 to 63"));
  EXPECT_THAT(complaint("result:0:8@1"), Says("bit 8; this accelerator has 0 to 7"));
  EXPECT_THAT(complaint("command:16:0@1"), Says("word 16; this accelerator has 0 to 15"));
  EXPECT_THAT(complaint("register:CONTROL:2@1"), Says("bit 2; this accelerator has 0 to 1"));
  EXPECT_THAT(complaint("register:RING_TAIL:16@1"), Says("bit 16; this accelerator has 0 to 15"));
  EXPECT_THAT(complaint("lane-line:6,0,0:0@1"), Says("line 6; this accelerator has 0 to 5"));
  EXPECT_THAT(complaint("lane-line:0,128,0:0@1"),
              Says("column 128; this accelerator has 0 to 127"));
  EXPECT_THAT(complaint("lane-line:0,0,64:0@1"), Says("lane 64; this accelerator has 0 to 63"));
  EXPECT_THAT(complaint("lane-line:0,0,0:8@1"), Says("bit 8; this accelerator has 0 to 7"));
  EXPECT_THAT(complaint("scratchpad:9216,0:0@1"),
              Says("word 9216; this accelerator has 0 to 9215"));
  EXPECT_THAT(complaint("stored-weight:1024,0:0@1"),
              Says("word 1024; this accelerator has 0 to 1023"));
  EXPECT_THAT(complaint("stored-bias:16,0:0@1"), Says("set 16; this accelerator has 0 to 15"));
  EXPECT_THAT(complaint("stored-operand:512,0:0@1"),
              Says("word 512; this accelerator has 0 to 511"));
  EXPECT_THAT(complaint("stored-operand:0,0:8@1"), Says("bit 8; this accelerator has 0 to 7"));
  EXPECT_THAT(complaint("scratchpad:0,64:0@1"), Says("column 64; this accelerator has 0 to 63"));
  EXPECT_THAT(complaint("scratchpad:0,0:8@1"), Says("bit 8; this accelerator has 0 to 7"));
  EXPECT_THAT(complaint("accumulator:0,128,0:0@1"), Says("row 128; this accelerator has 0 to 127"));
}

}  // namespace
}  // namespace gemm64
