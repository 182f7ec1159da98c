// SPDX-License-Identifier: Apache-2.0
// What the tables of commands say, against what this file says by hand.
#include "host/device/commands.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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

TEST(CommandFacts, TellTheEngine) {
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

TEST(CommandFacts, TellWhatLiesAtTheAddress) {
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

TEST(CommandFacts, TellReadsFromWrites) {
  for (const Opcode opcode :
       {Opcode::kLoadWeights, Opcode::kLoadActivations, Opcode::kLoadParameters}) {
    EXPECT_TRUE(reads(command(opcode)) && !writes(command(opcode))) << name(opcode);
  }
  EXPECT_TRUE(writes(command(Opcode::kStore)) && !reads(command(Opcode::kStore)));
  EXPECT_TRUE(writes(command(Opcode::kFence, flag::kSnapshot)));
  EXPECT_TRUE(is_store(command(Opcode::kStore)));
  EXPECT_FALSE(is_store(command(Opcode::kFence, flag::kSnapshot)));
}

// Each field's value, after each other, and the bound that it breaks.
TEST(Bounds, AreToldByTheFieldThatBreaksThem) {
  Geometry geometry;
  geometry.accumulator_rows = 7;
  Command load = command(Opcode::kLoadActivations);
  load.rows = load.count = load.passes = load.blocks = 1;
  EXPECT_EQ(broken_bound(load, geometry, false), nullptr);
  load.rows = 8;
  EXPECT_STREQ(broken_bound(load, geometry, false)->name, "ROWS");
  load.flags = flag::kWindow;
  load.capacity = 8;
  EXPECT_EQ(broken_bound(load, geometry, false), nullptr);
  EXPECT_EQ(broken_bound(load, geometry, true), nullptr);
  load.slot = 8;
  EXPECT_STREQ(broken_bound(load, geometry, true)->name, "SLOT");
  load.flags = 0;
  EXPECT_EQ(broken_bound(load, geometry, true), nullptr);
}

TEST(Bounds, OfSignedFieldsTakeNegativeValues) {
  const Geometry geometry;
  Command matmul = command(Opcode::kMatmul, flag::kWindow);
  matmul.blocks = 1;
  for (const auto& [row, holds] : std::vector<std::pair<std::int32_t, bool>>{
           {-131073, false}, {-131072, true}, {-1, true}, {131071, true}, {131072, false}}) {
    matmul.in_row = static_cast<std::uint32_t>(row);
    EXPECT_EQ(broken_bound(matmul, geometry, true) == nullptr, holds) << row;
  }
}

}  // namespace
}  // namespace gemm64
