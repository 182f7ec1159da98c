// SPDX-License-Identifier: Apache-2.0
// What the tables of commands say, against what this file says by hand.
#include "host/device/commands.hpp"

#include "host/device/command_rules.hpp"
#include "host/device/depthwise.hpp"
#include "host/util/float_bits.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

Command command(Opcode opcode, std::uint32_t flags = 0) {
  Command command;
  command.opcode = opcode;
  command.flags = flags;
  return command;
}

TEST(CommandFacts, HoldForEveryOpcode) {
  for (const OpcodeEntry& entry : kOpcodes) {
    ASSERT_NE(fact_of(entry.value), nullptr) << entry.name;
    EXPECT_EQ(fact_of(entry.value)->opcode, entry.value);
  }
  EXPECT_EQ(fact_of(static_cast<Opcode>(0)), nullptr);
  EXPECT_EQ(fact_of(static_cast<Opcode>(255)), nullptr);
  EXPECT_FALSE(engine_of(command(static_cast<Opcode>(255))));
  EXPECT_FALSE(has_address(command(static_cast<Opcode>(255))));
}

TEST(CommandFacts, NameTheEngine) {
  EXPECT_EQ(engine_of(command(Opcode::kLoadWeights)), Engine::kWeights);
  EXPECT_EQ(engine_of(command(Opcode::kLoadActivations)), Engine::kActivations);
  EXPECT_EQ(engine_of(command(Opcode::kLoadParameters)), Engine::kParameters);
  EXPECT_EQ(engine_of(command(Opcode::kMatmul)), Engine::kCompute);
  EXPECT_EQ(engine_of(command(Opcode::kSetWindow)), Engine::kCompute);
  EXPECT_EQ(engine_of(command(Opcode::kStore)), Engine::kResults);
  EXPECT_EQ(engine_of(command(Opcode::kFence, flag::kSnapshot)), Engine::kResults);
  EXPECT_FALSE(engine_of(command(Opcode::kFence)));
  EXPECT_FALSE(engine_of(command(Opcode::kFinish)));
}

TEST(CommandFacts, NameDataAtAddress) {
  EXPECT_EQ(operand_of(command(Opcode::kLoadWeights)), Operand::kWeights);
  EXPECT_EQ(operand_of(command(Opcode::kLoadActivations)), Operand::kActivations);
  EXPECT_EQ(operand_of(command(Opcode::kLoadParameters)), Operand::kParameters);
  EXPECT_EQ(operand_of(command(Opcode::kStore)), Operand::kResults);
  EXPECT_EQ(operand_of(command(Opcode::kFence, flag::kSnapshot)), Operand::kCounters);
  for (const Opcode opcode :
       {Opcode::kMatmul, Opcode::kSetWindow, Opcode::kFinish, Opcode::kFence}) {
    EXPECT_FALSE(has_address(command(opcode))) << name(opcode);
    EXPECT_FALSE(reads(command(opcode)) || writes(command(opcode))) << name(opcode);
  }
}

TEST(CommandFacts, SeparateReadsFromWrites) {
  for (const Opcode opcode :
       {Opcode::kLoadWeights, Opcode::kLoadActivations, Opcode::kLoadParameters}) {
    EXPECT_TRUE(reads(command(opcode)) && !writes(command(opcode))) << name(opcode);
  }
  EXPECT_TRUE(writes(command(Opcode::kStore)) && !reads(command(Opcode::kStore)));
  EXPECT_TRUE(writes(command(Opcode::kFence, flag::kSnapshot)));
  EXPECT_TRUE(is_store(command(Opcode::kStore)));
  EXPECT_FALSE(is_store(command(Opcode::kFence, flag::kSnapshot)));
}

// Each field's value in turn, and the rule that it breaks.
TEST(CommandRules, NameTheFieldThatBreaksThem) {
  Geometry geometry;
  geometry.accumulator_rows = 7;
  Command load = command(Opcode::kLoadActivations);
  load.rows = load.count = load.passes = load.blocks = 1;
  EXPECT_EQ(rule_refusal(load, geometry), "");
  load.rows = 8;
  EXPECT_EQ(rule_refusal(load, geometry),
            "ROWS is 8; without WINDOW it must be at most ACCUMULATOR_ROWS, 7");
  EXPECT_EQ(rule_refusal(load, geometry, false), "") << "it is refused at once";
  load.flags = flag::kWindow;
  load.capacity = 8;
  EXPECT_EQ(rule_refusal(load, geometry), "");
  load.slot = 8;
  EXPECT_EQ(rule_refusal(load, geometry), "SLOT is 8; with WINDOW it must be below CAPACITY, 8");
  EXPECT_EQ(rule_refusal(load, geometry, true), "") << "it is refused later";
  load.slot = 0;
  load.place = geometry.scratchpad_words;
  EXPECT_EQ(rule_refusal(load, geometry),
            "PLACE + COUNT * CAPACITY is 9224; with WINDOW it must be at most SCRATCHPAD_WORDS, "
            "9216");
}

TEST(CommandRules, OfSignedFieldsTakeNegativeValues) {
  const Geometry geometry;
  Command matmul = command(Opcode::kMatmul, flag::kWindow | flag::kAccumulate);
  matmul.rows = matmul.count = matmul.passes = matmul.blocks = 1;
  for (const auto& [row, holds] : std::vector<std::pair<std::int32_t, bool>>{
           {-131073, false}, {-131072, true}, {-1, true}, {131071, true}, {131072, false}}) {
    matmul.in_row = static_cast<std::uint32_t>(row);
    EXPECT_EQ(broken_rule(matmul, geometry) == nullptr, holds) << row;
  }
}

TEST(CommandRules, OfFloatsCompareNumbers) {
  const Geometry geometry;
  Command store = command(Opcode::kStore, flag::kVector);
  store.rows = store.count = store.blocks = store.format = store.add = 1;
  store.result_scale = store.operand_scale = bits_of(1);
  EXPECT_EQ(rule_refusal(store, geometry), "");
  store.offset = bits_of(-0x1p-32F);
  EXPECT_THAT(rule_refusal(store, geometry), Says("OFFSET is -", "a multiple of 2^-31"));
  store.offset = bits_of(-16384);
  EXPECT_THAT(rule_refusal(store, geometry), Says("OFFSET is 16384", "below 2^14"));
  store.offset = 0;
  store.result_scale = bits_of(-1);
  EXPECT_THAT(rule_refusal(store, geometry),
              Says("RESULT_SCALE is -1", "with VECTOR and with ADD"));
}

TEST(CommandRules, OfStepsCompareProducts) {
  DepthwiseCommand depthwise;
  depthwise.rows = depthwise.count = depthwise.passes = 1;
  depthwise.kernel_height = 3;
  depthwise.stride_height = depthwise.stride_width = 1;
  depthwise.dilation_height = depthwise.dilation_width = 1;
  depthwise.pad_top = depthwise.pad_left = 1;
  depthwise.height = depthwise.out_height = 4;
  depthwise.width = depthwise.out_width = 6;
  set_steps(depthwise);
  EXPECT_EQ(rule_refusal(depthwise, Geometry()), "");
  ++depthwise.lead;
  EXPECT_THAT(rule_refusal(depthwise, Geometry()), Says("LEAD is 8", "- PAD_LEFT, 7"));
  depthwise.kernel_height = 4;
  EXPECT_EQ(rule_refusal(depthwise, Geometry()), "KERNEL_HEIGHT is 4; it must be one of 3, 5, 7");
}

}  // namespace
}  // namespace gemm64
