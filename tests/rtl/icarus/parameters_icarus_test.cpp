// SPDX-License-Identifier: Apache-2.0
// Parameters that cannot work end the elaboration, with words; those that can do not.

#include "tests/rtl/icarus/icarus.hpp"
#include "tests/test.hpp"

namespace gemm64::icarus_test {
namespace {

struct Parameters {
  std::string values;   // NAME=value, separated by blanks
  std::string refusal;  // a part of the message; empty: they work
};

TEST(Parameters, RejectedAtElaborationIfInvalid) {
  const std::vector<Parameters> cases{
      {"N=1", "N_must_be"},
      {"N=6", "N_must_be"},
      {"N=256", "N_must_be"},
      {"N=8 STAGE_ROWS=3", "STAGE_ROWS_must_be"},
      {"N=64 STAGE_ROWS=16", "STAGE_ROWS_must_be"},
      {"N=8 STAGE_ROWS=0", "STAGE_ROWS_must_be"},
      {"N=4 STAGE_ROWS=8", "STAGE_ROWS_must_be"},
      {"N=64 SUM_WIDTH=21", "SUM_WIDTH_must_be"},
      {"N=2 SUM_WIDTH=16", "SUM_WIDTH_must_be"},
      {"N=8 SUM_WIDTH=0", "SUM_WIDTH_must_be"},
      {"N=8 SUM_WIDTH=33", "SUM_WIDTH_must_be"},
      {"N=8 SELF_CHECK=3", "SELF_CHECK_must_be"},
      {"N=8 ACCUMULATOR_ROWS=96", "ACCUMULATOR_ROWS_must_be"},
      {"N=8 ACCUMULATOR_ROWS=1", "ACCUMULATOR_ROWS_must_be"},
      {"N=8 ACCUMULATOR_ROWS=65536", "ACCUMULATOR_ROWS_must_be"},
      {"N=8 SCRATCHPAD_WORDS=190", "SCRATCHPAD_WORDS_must_be"},
      {"N=8 SCRATCHPAD_WORDS=400 TENSOR_WORDS=210", "TENSOR_WORDS_must_be"},
      {"N=8 SCRATCHPAD_WORDS=400 TENSOR_WORDS=209", ""},
      {"N=64 LOG_WEIGHT_WORDS=6", "LOG_WEIGHT_WORDS_must"},
      {"N=8 LOG_WEIGHT_WORDS=17", "LOG_WEIGHT_WORDS_must"},
      {"N=8 LOG_READS=0", "LOG_READS_and"},
      {"N=8 LOG_WRITES=8", "LOG_READS_and"},
      {"N=8 LOG_COMMANDS=0", "LOG_COMMANDS_must"},
      {"N=8 LOG_PARAMETER_SETS=0", "LOG_PARAMETER_SETS_must"},
      {"N=8 LOG_PARAMETER_SETS=11", "LOG_PARAMETER_SETS_must"},
      {"N=8 ADDRESS_WIDTH=64", "ADDRESS_WIDTH_must"},
      {"N=8 ADDRESS_WIDTH=23", "ADDRESS_WIDTH_must"},
      {"N=8 STAGE_ROWS=8 ACCUMULATOR_ROWS=16 SCRATCHPAD_WORDS=79 LOG_WEIGHT_WORDS=4", ""},
      {"N=4 STAGE_ROWS=1 LOG_READS=1 LOG_WRITES=1 LOG_COMMANDS=1 ADDRESS_WIDTH=24", ""},
      {"N=2 STAGE_ROWS=2 ADDRESS_WIDTH=63 LOG_WEIGHT_WORDS=16", ""},
      {"N=32 ACCUMULATOR_ROWS=256", ""},
      {"N=2 LOG_PARAMETER_SETS=1", ""},
      {"N=64 SUM_WIDTH=22", ""},
      {"N=8 SUM_WIDTH=32 CLOCK_ENABLES=0", ""},
      {"N=2 STAGE_ROWS=1 SELF_CHECK=1", ""},
      {"N=8 SUM_WIDTH=32 SELF_CHECK=2", ""},
  };
  for (const Parameters& parameters : cases) {
    SCOPED_TRACE(parameters.values);
    std::string said;
    const bool elaborates = elaborate(parameters.values, said);
    EXPECT_EQ(elaborates, parameters.refusal.empty()) << said;
    EXPECT_THAT(said, Says(parameters.refusal));
  }
}

}  // namespace
}  // namespace gemm64::icarus_test
