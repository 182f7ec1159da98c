// SPDX-License-Identifier: Apache-2.0
// The nearest names to one that does not exist.
#include "host/cli/suggestion.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Suggestion, IsTheNearestName) {
  const std::vector<std::string> names{"run", "report", "replay", "sweep"};
  EXPECT_THAT(nearest("rum", names), ElementsAre("run"));
  EXPECT_THAT(nearest("urn", names), ElementsAre("run")) << "neighbors swapped";
  EXPECT_THAT(nearest("sweeps", names), ElementsAre("sweep"));
  EXPECT_THAT(nearest("rep", names), ElementsAre("replay", "report")) << "the start of a name";
  EXPECT_THAT(nearest("x", names), IsEmpty());
  EXPECT_THAT(nearest("quantize", names), IsEmpty());
}

}  // namespace
}  // namespace gemm64
