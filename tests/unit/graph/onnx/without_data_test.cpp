// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/without_data.hpp"

#include "host/graph/onnx/networks.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

TEST(WithoutData, DropsValuesOfInitializers) {
  onnx::ModelProto model = make_network("mnist-cnn", 2, 1);
  model.set_producer_version("7");
  // Fields that are not listed in onnx.proto.
  model.GetReflection()->MutableUnknownFields(&model)->AddVarint(900, 5);
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.GetReflection()->MutableUnknownFields(&graph)->AddVarint(901, 6);
  const onnx::ModelProto found = without_data(model);
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) tensor.clear_raw_data();
  EXPECT_EQ(found.SerializeAsString(), model.SerializeAsString());
  EXPECT_GT(graph.initializer_size(), 0);
}

}  // namespace
}  // namespace gemm64
