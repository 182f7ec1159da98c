// SPDX-License-Identifier: Apache-2.0
// Types and shapes by ONNX Runtime: what it is asked, and what it must not do to the program.
#include <sys/resource.h>

#include "host/kernels/tensor.hpp"
#include "host/ort/analysis.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

onnx::ModelProto with_domain(const std::string& graph) {
  onnx::ModelProto proto = parse_model(graph);
  onnx::OperatorSetIdProto& opset = *proto.add_opset_import();
  opset.set_domain("com.example");
  opset.set_version(1);
  return proto;
}

TEST(Inference, LeavesOutOperatorsOfOtherDomains) {
  onnx::ModelProto proto = with_domain(
      "(float[2,3] x) => (float[] z) {y = com.example.Twice(x) a = Relu(y) z = Neg(x)}");
  const OnnxModel model = OnnxModel::from_proto(proto, "test.onnx");
  EXPECT_FALSE(model.type("a"));
  EXPECT_THAT(model.why_unknown("a"), Says("com.example.Twice"));
  EXPECT_EQ(model.type("z")->dims, (Dims{2, 3}));
  onnx::ValueInfoProto& declared = *proto.mutable_graph()->add_value_info();
  declared = proto.graph().input(0);
  declared.set_name("y");
  EXPECT_EQ(OnnxModel::from_proto(proto, "test.onnx").type("a")->dims, (Dims{2, 3}));
}

TEST(Inference, GoesOnAfterNodesWithoutAKernel) {
  const OnnxModel model =
      load_text("(bfloat16[3,3] x, float[4] z) => (bfloat16[3,3] y) {y = MatMul(x, x) w = Neg(z)}");
  EXPECT_EQ(model.type("y")->dims, (Dims{3, 3}));  // as declared
  EXPECT_EQ(model.type("w")->dims, (Dims{4}));
}

TEST(Inference, KnowsSizesOfRoundedUpPools) {
  const OnnxModel model = load_text(
      "(float[1,1,5] x) => (float[1,1,N] y) {"
      "a = MaxPool<kernel_shape=[2], strides=[2], pads=[1,1], ceil_mode=1>(x)"
      "y = MaxPool<kernel_shape=[2], strides=[2], pads=[1,1], ceil_mode=1>(a)}");
  EXPECT_EQ(model.type("a")->dims, (Dims{1, 1, 3}));
  EXPECT_EQ(model.type("y")->dims, (Dims{1, 1, 2}));
}

TEST(Inference, RefusesQuotientsThatOverflow) {
  EXPECT_THAT(message_of([] {
                load_text(
                    "(float[2] x) => (float[2] y) <int64[1] a = {-9223372036854775808},"
                    " int64[1] b = {-1}> {q = Div(a, b) y = Relu(x)}");
              }),
              Says("test.onnx: ", "quotient"));
}

TEST(Inference, BoundsTheMemoryOfConstants) {
  const OnnxModel model = load_text(
      "(float[2] x) => (float[2] y) <int64[2] s = {65536, 16384}>"
      " {c = ConstantOfShape(s) y = Relu(x)}");  // of 4 GiB
  EXPECT_EQ(model.type("c")->dims, (Dims{65536, 16384}));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 3 << 20);  // KiB
}

TEST(Inference, IsDoneOnceForANetwork) {
  const OnnxModel model = load_graph("resnet50");
  const std::uint64_t before = ort::analyses();
  onnx::ModelProto proto = model.proto();
  const OnnxModel same = model.rewritten(proto);
  EXPECT_EQ(ort::analyses(), before);
  ImportOptions two;
  two.batch = 2;
  EXPECT_EQ(model.rewritten(proto, two).type("output")->dims, (Dims{2, 1000}));
  EXPECT_EQ(ort::analyses(), before + 1);
}

}  // namespace
}  // namespace gemm64
