// SPDX-License-Identifier: Apache-2.0
#include "host/session/network_parts.hpp"

#include <gtest/gtest.h>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

TEST(NetworkParts, KeepWhereALayersResultsAreWrong) {
  NetworkRun part;
  LayerReport layer;
  layer.name = "fc1";
  layer.shape = {4, 5, 6};
  layer.counters[counter::kTotalClocks] = 188;
  layer.mismatches = {2, 3, 1, -7, 9, 16};
  part.report.layers = {layer};
  const NetworkRun again = unpack_part(pack_part(part));
  ASSERT_EQ(again.report.layers.size(), 1U);
  const LayerReport& found = again.report.layers[0];
  EXPECT_EQ(found.name, "fc1");
  EXPECT_EQ(found.shape.n, 6U);
  EXPECT_EQ(found.counters, layer.counters);
  EXPECT_EQ(found.mismatches.count, 2U);
  EXPECT_EQ(found.mismatches.first_row, 3);
  EXPECT_EQ(found.mismatches.first_column, 1);
  EXPECT_EQ(found.mismatches.expected, -7);
  EXPECT_EQ(found.mismatches.found, 9);
  EXPECT_EQ(found.mismatches.max_abs_error, 16);
}

TEST(NetworkParts, RefuseBytesThatAreNone) {
  const std::string bytes = pack_part({});
  EXPECT_THROW(unpack_part(bytes.substr(0, bytes.size() / 2)), UsageError);
  EXPECT_THROW(unpack_part("{}"), UsageError);
}

}  // namespace
}  // namespace gemm64
