// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/dump.hpp"

#include "host/runtime/npy.hpp"
#include "host/util/lost_outputs.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

class Dump : public InFolder {
 protected:
  static OnnxModel model(const std::string& first, const std::string& second) {
    onnx::ModelProto proto =
        parse_model("(float[2] x) => (float[1] b) {y = Relu(x) a, b = Split(y)}");
    proto.mutable_graph()->mutable_node(0)->set_name(first);
    proto.mutable_graph()->mutable_node(1)->set_name(second);
    return OnnxModel::from_proto(std::move(proto), "test.onnx");
  }

  static NamedNodes nodes(const OnnxModel& model) {
    NamedNodes nodes;
    for (int i = 0; i < model.graph().node_size(); ++i) {
      nodes.emplace_back(&model.graph().node(i), node_label(model.graph().node(i), i));
    }
    return nodes;
  }

  std::vector<std::string> files(const OnnxModel& model,
                                 const std::vector<std::string>& specifications) {
    ActivationDump dump(specifications, nodes(model));
    dump.write(model.graph().node(0), {floats({2}, {0, 4})});
    dump.write(model.graph().node(1), {floats({1}, {0}), floats({1}, {4})});
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder_).string());
    }
    return names;
  }

  std::string refusal(const OnnxModel& model, const std::vector<std::string>& specifications) {
    return message_of([&] { ActivationDump(specifications, nodes(model)); });
  }
};

TEST_F(Dump, WritesTheOutputsOfNodesThatMatch) {
  EXPECT_THAT(files(model("/features/relu", "/split"), {"*=" + folder_.string()}),
              UnorderedElementsAre("_features_relu.npy", "_split.npy", "_split.1.npy"));
  const Tensor relu = load_tensor(folder_ / "_features_relu.npy", onnx::TensorProto::FLOAT);
  EXPECT_EQ(relu.dims(), (Dims{2}));
  EXPECT_EQ(values_of<float>(relu), (std::vector<float>{0, 4}));
  EXPECT_EQ(values_of<float>(load_tensor(folder_ / "_split.1.npy", onnx::TensorProto::FLOAT)),
            (std::vector<float>{4}));
}

TEST_F(Dump, KnowsItsFilesBefore) {
  const OnnxModel plain = model("relu", "split");
  const ActivationDump dump({"*=" + folder_.string()}, nodes(plain));
  EXPECT_THAT(dump.files(), UnorderedElementsAre(folder_ / "relu.npy", folder_ / "split.npy",
                                                 folder_ / "split.1.npy"));
}

TEST_F(Dump, GoesOnWithoutAFileThatIsLost) {
  fs::create_directories(folder_ / "relu.npy");  // a folder where the file should be
  testing::internal::CaptureStderr();
  EXPECT_THAT(files(model("relu", "split"), {"*=" + folder_.string()}),
              UnorderedElementsAre("split.npy", "split.1.npy"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Says("relu.npy: cannot be written"));
  EXPECT_TRUE(is_lost(folder_ / "relu.npy"));
}

TEST_F(Dump, ChoosesByPattern) {
  EXPECT_THAT(files(model("/features/relu", "/split"), {"/feat*=" + (folder_ / "one").string(),
                                                        "*relu=" + (folder_ / "two").string()}),
              UnorderedElementsAre("one/_features_relu.npy", "two/_features_relu.npy"));
}

TEST_F(Dump, KnowsWhetherANodeIsAskedFor) {
  EXPECT_TRUE(is_dumped({"conv=a", "/feat*=b"}, "/features/relu"));
  EXPECT_TRUE(is_dumped({"conv=a"}, "conv"));
  EXPECT_FALSE(is_dumped({"conv=a", "/feat*=b"}, "conv1"));
  EXPECT_FALSE(is_dumped({"=conv"}, "conv"));
  EXPECT_FALSE(is_dumped({}, "conv"));
}

TEST_F(Dump, CallsNodesWithoutANameByTheirNumber) {
  EXPECT_THAT(files(model("", ""), {"Relu number 0=" + folder_.string()}),
              UnorderedElementsAre("Relu number 0.npy"));
}

TEST_F(Dump, RefusesUnwritableFilesFirst) {
  const OnnxModel plain = model("relu", "split");
  for (const char* const specification : {"relu", "relu=", "=folder", "="}) {
    EXPECT_THAT(refusal(plain, {specification}), Says("PATTERN=FOLDER")) << specification;
  }
  EXPECT_THAT(refusal(plain, {"conv*=" + folder_.string()}), Says("no node's name matches"));
  EXPECT_THAT(refusal(plain, {"relu=/dev/null/x"}), Says("is not a folder"));
  EXPECT_THAT(refusal(model("a/b", "a_b"), {"*=" + folder_.string()}),
              Says("nodes a/b and a_b would both be a_b.npy"));
}

}  // namespace
}  // namespace gemm64
