// SPDX-License-Identifier: Apache-2.0
// What the self-test finds: every bit of the array that is stuck.
#include "host/runtime/self_test.hpp"

#include "tests/system/system.hpp"

namespace gemm64::system_test {
namespace {

constexpr int kN = 4;
constexpr unsigned kSumBits = 18;  // of a partial sum: 16 + log2 N

SelfTest test_with(std::optional<Fault> fault, bool self_check = false) {
  RtlOptions options = Rig::options(kN);
  options.debug = true;
  options.self_check = self_check;
  const std::unique_ptr<RtlDevice> device = make_rtl_device(options);
  if (fault) device->inject(*fault);
  Driver driver(*device);
  return self_test(*device, driver);
}

TEST(SelfTest, PassesInAFewThousandCycles) {
  for (const bool self_check : {false, true}) {
    const SelfTest test = test_with({}, self_check);
    EXPECT_TRUE(test.passed()) << in_words(test);
    EXPECT_EQ(test.sums, 1024u);
    EXPECT_LT(test.cycles, 4000u);
    EXPECT_THAT(in_words(test), Says("PASSED", "1,024 sums"));
  }
}

TEST(StuckBit, IsWrittenWithItsValue) {
  const Fault fault = parse_fault("weight:0,3:7=1@350");
  EXPECT_EQ(fault.stuck, true);
  EXPECT_EQ(to_string(fault), "weight:0,3:7=1@350");
  EXPECT_EQ(in_words(fault), "bit 7 of the weight at row 0, column 3, stuck at 1");
  for (const char* wrong : {"weight:0,3:7=2@350", "accumulator:0,0,0:1=1@350"}) {
    EXPECT_THAT(message_of<UsageError>([&] { parse_fault(wrong); }), Says(wrong, "BIT@CLOCK"));
  }
}

class StuckBits : public testing::TestWithParam<Fault::Kind> {};

TEST_P(StuckBits, AreAllFound) {
  Fault fault;
  fault.kind = GetParam();
  const bool sums = fault.kind == Fault::Kind::kPartialSum;
  unsigned tried = 0;
  for (fault.row = 0; fault.row < (sums ? 1 : kN); ++fault.row) {
    for (fault.column = 0; fault.column < kN; ++fault.column) {
      for (fault.bit = 0; fault.bit < (sums ? kSumBits : 8); ++fault.bit) {
        for (const bool value : {false, true}) {
          fault.stuck = value;
          const SelfTest test = test_with(fault);
          EXPECT_FALSE(test.passed()) << to_string(fault);
          ++tried;
        }
      }
    }
  }
  EXPECT_EQ(tried, sums ? 144u : 256u);
}

INSTANTIATE_TEST_SUITE_P(OfTheArray, StuckBits,
                         testing::Values(Fault::Kind::kWeight, Fault::Kind::kActivation,
                                         Fault::Kind::kPartialSum),
                         [](const auto& test) {
                           std::string word = name(test.param);
                           word.erase(std::remove(word.begin(), word.end(), '-'), word.end());
                           return word;
                         });

// The checksum stops the first run, and the second one, too.
TEST(SelfTest, WithSelfCheckEndsWithItsError) {
  Fault fault;
  fault.kind = Fault::Kind::kWeight;
  fault.row = 2;
  fault.column = 1;
  fault.bit = 4;
  fault.stuck = true;
  const SelfTest test = test_with(fault, true);
  EXPECT_FALSE(test.passed());
  EXPECT_THAT(in_words(test), Says("FAILED", "CHECKSUM at command", "ran the first time"));
}

}  // namespace
}  // namespace gemm64::system_test
