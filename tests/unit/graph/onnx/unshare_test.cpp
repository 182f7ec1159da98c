// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/unshare.hpp"

#include <map>
#include <set>

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

constexpr const char* kNetwork =
    "(float[1] s, uint8[2,3] x, int8[3,3] w, int8 z, uint8 u) => (uint8[2,3] y) {"
    "a = QLinearMatMul(x, s, u, w, s, z, s, u) "
    "b = QLinearMatMul(a, s, u, w, s, z, s, u) "
    "y = QLinearMatMul(b, s, u, w, s, z, s, u)}";

TEST(UnshareInt8, GivesEachReaderItsOwn) {
  onnx::ModelProto model = parse_model(kNetwork, {"s", "w", "z", "u"});
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.add_initializer()->set_name("w.2");  // a name that is in use
  unshare_int8(graph, {});
  std::map<std::string, const onnx::TensorProto*> constants;
  for (const onnx::TensorProto& tensor : graph.initializer()) constants[tensor.name()] = &tensor;
  std::multiset<std::string> readers;
  for (const onnx::NodeProto& node : graph.node()) {
    readers.insert(node.input().begin(), node.input().end());
    for (int i : {3, 5}) {
      const onnx::TensorProto& own = *constants.at(node.input(i));
      const onnx::TensorProto& first = *constants.at(i == 3 ? "w" : "z");
      EXPECT_EQ(readers.count(own.name()), 1U) << own.name();
      EXPECT_EQ(own.data_type(), onnx::TensorProto::INT8);
      EXPECT_EQ(own.SerializeAsString().size() - own.name().size(),
                first.SerializeAsString().size() - first.name().size());
    }
    EXPECT_EQ(node.input(2), "u");  // those of other types stay
  }
}

TEST(UnshareInt8, CopiesHaveTheDataOfWeights) {
  onnx::ModelProto model = parse_model(kNetwork, {"s", "w", "z", "u"});
  onnx::GraphProto& graph = *model.mutable_graph();
  const onnx::TensorProto weight = graph.initializer(1);
  ASSERT_EQ(weight.name(), "w");
  graph.mutable_initializer(1)->clear_int32_data();
  unshare_int8(graph, {&weight});
  EXPECT_EQ(graph.initializer(1).int32_data_size(), 0);
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (tensor.name() == "w" || tensor.name().front() != 'w') continue;
    EXPECT_EQ(tensor.int32_data_size(), weight.int32_data_size());
  }
}

TEST(UnshareInt8, ReachesBodies) {
  onnx::ModelProto outer = parse_model("(bool c) => (uint8[2,3] y) {y = If(c)}");
  onnx::AttributeProto& body = *outer.mutable_graph()->mutable_node(0)->add_attribute();
  body.set_name("then_branch");
  body.set_type(onnx::AttributeProto::GRAPH);
  *body.mutable_g() = parse_model(kNetwork, {"s", "w", "z", "u"}).graph();
  unshare_int8(*outer.mutable_graph(), {});
  const onnx::GraphProto& inner = outer.graph().node(0).attribute(0).g();
  EXPECT_EQ(inner.initializer_size(), 8);
  EXPECT_NE(inner.node(0).input(5), inner.node(1).input(5));
}

}  // namespace
}  // namespace gemm64
