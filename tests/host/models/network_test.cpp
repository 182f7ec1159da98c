// SPDX-License-Identifier: Apache-2.0
#include "host/models/network.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "host/error.hpp"

namespace gemm64 {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MakeWorkload, ListsTheKnownNetworksWhenGivenAnother) {
  const std::string error = error_of([] { make_workload("alexnat", 1, 1); });
  EXPECT_NE(error.find("'alexnat'"), std::string::npos) << error;
  EXPECT_NE(error.find("known are: alexnet"), std::string::npos) << error;
}

TEST(MakeWorkload, MakesEveryNetworkItSaysItKnows) {
  for (const std::string& name : known_networks()) {
    const Workload workload = make_workload(name, 1, 1);
    EXPECT_EQ(workload.model, name);
    EXPECT_EQ(workload.input.rows(), 1);
    ASSERT_FALSE(workload.layers.empty());
    EXPECT_EQ(workload.input.cols(), workload.layers.front().weights.cols());
  }
}

TEST(MakeWorkload, RejectsABatchOfZeroOrBeyondTheData) {
  for (const std::size_t batch : {std::size_t{0}, std::size_t{10001}}) {
    const std::string error = error_of([&] { make_workload("alexnet", batch, 1); });
    EXPECT_NE(error.find("1 to 10000"), std::string::npos) << error;
  }
}

TEST(MakeWorkload, LooksForTheDataInTheFolderItIsGiven) {
  const std::string error = error_of([] { make_workload("alexnet", 1, 1, "/nonexistent/folder"); });
  EXPECT_NE(error.find("/nonexistent/folder/t10k-images-idx3-ubyte.gz"), std::string::npos)
      << error;
  EXPECT_NE(error.find("dataset-fashion-mnist"), std::string::npos) << error;
}

}  // namespace
}  // namespace gemm64
