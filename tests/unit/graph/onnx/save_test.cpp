// SPDX-License-Identifier: Apache-2.0
#include "host/graph/onnx/save.hpp"

#include <unistd.h>

#include "tests/test.hpp"
#include "tests/unit/onnx_text.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class SaveModel : public InFolder {};

TEST_F(SaveModel, WritesWhatCanBeReadAgain) {
  const onnx::ModelProto model =
      parse_model("(float[2,3] x, float[3,4] w) => (float[2,4] y) {y = MatMul(x, w)}", {"w"});
  OutputFile file(folder_ / "model.onnx");
  const std::uint64_t written = save_model(model, file);
  EXPECT_EQ(written, fs::file_size(folder_ / "model.onnx"));
  EXPECT_EQ(files(), 1u);
  const OnnxModel again = OnnxModel::load(folder_ / "model.onnx");
  EXPECT_EQ(again.proto().SerializeAsString(), model.SerializeAsString());
}

TEST_F(SaveModel, WritesNothingThatTheCheckerRefuses) {
  const onnx::ModelProto model = parse_model("(float[2] x) => (float[2] y) {y = Relu(nowhere)}");
  {
    OutputFile file(folder_ / "model.onnx");
    EXPECT_THROW(save_model(model, file), UsageError);
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(SaveModel, KeepsOldFileIfRefused) {
  std::ofstream(folder_ / "model.onnx") << "old";
  const onnx::ModelProto model = parse_model("(float[2] x) => (float[2] y) {y = Relu(nowhere)}");
  {
    OutputFile file(folder_ / "model.onnx");
    EXPECT_THROW(save_model(model, file), UsageError);
  }
  EXPECT_EQ(fs::file_size(folder_ / "model.onnx"), 3u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(SaveModel, SaysWhereTheDiskIsFull) {
  if (!fs::exists("/dev/full")) FAIL() << "this test needs /dev/full";
  OutputFile file(folder_ / "model.onnx");
  fs::remove(file.temporary());
  fs::create_symlink("/dev/full", file.temporary());
  const onnx::ModelProto model = parse_model("(float[2] x) => (float[2] y) {y = Relu(x)}");
  EXPECT_THAT([&] { save_model(model, file); },
              Fails<OutputError>("is lost: No space left on device", "model.onnx"));
}

TEST(RequireModelFits, RefusesTooLargeModels) {
  EXPECT_NO_THROW(require_model_fits((std::uint64_t{1} << 31) - 1, "big.onnx"));
  EXPECT_EQ(message_of([&] { require_model_fits(std::uint64_t{1} << 31, "big.onnx"); }),
            "big.onnx: the model takes 2,147,483,648 bytes; an ONNX file in one piece holds "
            "at most 2,147,483,647");
}

}  // namespace
}  // namespace gemm64
