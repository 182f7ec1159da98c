// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/network_output.hpp"

#include "host/runtime/npy.hpp"
#include "host/util/lost_outputs.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/run_on_cpu.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;
using testing::UnorderedElementsAre;

class NetworkOutput : public InFolder {
 protected:
  static OnnxModel model(const std::string& second = "b") {
    onnx::ModelProto proto =
        parse_model("(float[1] x) => (float[1] a, float[1] b) {a = Relu(x) b = Neg(x)}");
    proto.mutable_graph()->mutable_node(1)->set_output(0, second);
    proto.mutable_graph()->mutable_output(1)->set_name(second);
    return OnnxModel::from_proto(std::move(proto), "test.onnx");
  }

  /// Runs the model on 3 and returns the files there are then.
  std::vector<std::string> run(const OnnxModel& model, const std::vector<std::string>& texts) {
    ClaimedFiles claimed;
    NetworkOutputs outputs(texts, claimed);
    outputs.open(model, claimed);
    outputs.write(run_on_cpu(model, {{"x", floats({1}, {3})}}));
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder_).string());
    }
    return names;
  }

  float value(const std::string& name) const {
    return load_tensor(folder_ / name, onnx::TensorProto::FLOAT).values<float>()[0];
  }

  std::string refusal(const std::vector<std::string>& texts, const std::string& second = "b") {
    const std::string message = message_of([&] { run(model(second), texts); });
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      EXPECT_TRUE(entry.is_directory()) << entry << " is left";
    }
    return message;
  }
};

TEST_F(NetworkOutput, IsTheFirstInAFileWithoutAName) {
  EXPECT_THAT(run(model(), {at("y.npy")}), UnorderedElementsAre("y.npy"));
  EXPECT_EQ(value("y.npy"), 3);
}

TEST_F(NetworkOutput, GoesToTheFileOfItsName) {
  EXPECT_THAT(run(model(), {"b=" + at("1.npy"), "a=" + at("2.npy")}),
              UnorderedElementsAre("1.npy", "2.npy"));
  EXPECT_EQ(value("1.npy"), -3);
  EXPECT_EQ(value("2.npy"), 3);
}

TEST_F(NetworkOutput, GoesToAFolderWithAllOthers) {
  EXPECT_THAT(run(model(), {folder_.string()}), UnorderedElementsAre("a.npy", "b.npy"));
  EXPECT_EQ(value("b.npy"), -3);
}

TEST_F(NetworkOutput, MakesTheFolderThatASlashEnds) {
  EXPECT_THAT(run(model("/fc/out"), {at("new/deep/")}),
              UnorderedElementsAre("new/deep/a.npy", "new/deep/_fc_out.npy"));
}

TEST_F(NetworkOutput, IsRefusedWhereThereIsNone) {
  EXPECT_THAT(refusal({"c=" + at("c.npy")}),
              Says("test.onnx has no such output; its outputs are: a, b"));
  EXPECT_THAT(refusal({"=c.npy"}), Says("give FILE, NAME=FILE or FOLDER/"));
  EXPECT_THAT(refusal({at("y.npy"), at("z.npy")}), Says("give NAME=FILE for another"));
  EXPECT_THAT(refusal({"/dev/null/x/"}), Says("is no folder"));
}

TEST_F(NetworkOutput, OverwritesNoOtherFile) {
  EXPECT_THAT(refusal({"a=" + at("y.npy"), "b=" + at("./y.npy")}), Says("name another"));
  EXPECT_THAT(refusal({"a=" + at("b.npy"), at("")}), Says("name another"));
  // Both would be a.npy's neighbour "_.npy".
  EXPECT_THAT(refusal({at("_.npy"), at("")}, "/"), Says("name another"));
}

TEST_F(NetworkOutput, IsWrittenThoughAnotherIsLost) {
  ClaimedFiles claimed;
  NetworkOutputs outputs({"a=/dev/full", "b=" + at("b.npy")}, claimed);
  const OnnxModel two = model();
  outputs.open(two, claimed);
  testing::internal::CaptureStderr();
  outputs.write({{"a", floats({1}, {1})}, {"b", floats({1}, {2})}});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Says("/dev/full"));
  EXPECT_TRUE(is_lost("/dev/full"));
  EXPECT_EQ(value("b.npy"), 2);
}

TEST_F(NetworkOutput, IsWidenedForNumPy) {
  ClaimedFiles claimed;
  NetworkOutputs outputs({"a=" + at("a.npy"), "b=" + at("b.npy")}, claimed);
  const OnnxModel two = model();
  outputs.open(two, claimed);
  Tensor small(onnx::TensorProto::FLOAT8E4M3FN, {1}), tiny(onnx::TensorProto::INT4, {1});
  small.mutable_raw()[0] = std::byte{0x3c};  // 1.5
  tiny.mutable_raw()[0] = std::byte{0x0d};   // -3
  testing::internal::CaptureStderr();
  outputs.write({{"a", small}, {"b", tiny}});
  const std::string reported = testing::internal::GetCapturedStderr();
  EXPECT_THAT(reported, Says("a.npy holds float32, since no .npy file holds float8e4m3fn",
                             "b.npy holds int8, since no .npy file holds int4"));
  EXPECT_FALSE(is_lost(at("a.npy")));
  EXPECT_EQ(value("a.npy"), 1.5F);
  EXPECT_EQ(load_tensor(at("b.npy"), onnx::TensorProto::INT8).values<std::int8_t>()[0], -3);
}

}  // namespace
}  // namespace gemm64
