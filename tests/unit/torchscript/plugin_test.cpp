// SPDX-License-Identifier: Apache-2.0
#include "host/torchscript/plugin.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

class TorchScriptPlugin : public InFolder {
 protected:
  std::string file(const std::string& name, const std::string& contents = "PK\3\4model") const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }

  /// The one line in which the plug-in's word about the file, or about the plug-in, ends.
  std::string refusal(const std::string& plugin, const std::string& path,
                      TorchScriptRequest request = {}) const {
    request.path = path;
    const std::string message = message_of([&] { ask_torchscript_plugin(plugin, request); });
    EXPECT_THAT(message, Lacks("\n"));
    return message;
  }
};

TEST_F(TorchScriptPlugin, GivesTheModelAndItsModules) {
  const std::string model(1000, 'm');
  const TorchScriptAnswer answer =
      ask_torchscript_plugin(GEMM64_FAKE_PLUGIN, {file("net.pt", "PK\3\4" + model), {}, false});
  EXPECT_EQ(answer.model, model);
  EXPECT_THAT(answer.modules, Says("Linear"));
}

TEST_F(TorchScriptPlugin, GetsShapesAndWeightsOption) {
  const std::string path = file("tell.pt");
  EXPECT_THAT(refusal(GEMM64_FAKE_PLUGIN, path, {"", {{"", {1, 2}}, {"y", {3}}}, false}),
              Says("tell.pt: [] 1 2, [y] 3, with weights"));
  EXPECT_THAT(refusal(GEMM64_FAKE_PLUGIN, path, {"", {}, true}), Says(": without weights"));
}

TEST_F(TorchScriptPlugin, SaysWhyInOneLine) {
  EXPECT_THAT(refusal(GEMM64_FAKE_PLUGIN, file("lines.pt")), Says("lines.pt: two", "lines"));
  EXPECT_THAT(refusal(GEMM64_FAKE_PLUGIN, file("silent.pt")),
              Says("LibTorch gave up without a word"));
}

TEST_F(TorchScriptPlugin, MayCrashWithoutHarm) {
  EXPECT_THAT(refusal(GEMM64_FAKE_PLUGIN, file("crash.pt")),
              Says("crash.pt: LibTorch crashed over it", "Aborted"));
}

TEST_F(TorchScriptPlugin, SaysNothingItself) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  ask_torchscript_plugin(GEMM64_FAKE_PLUGIN, {file("noise.pt"), {}, false});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(TorchScriptPlugin, OfAnotherVersionIsRefused) {
  EXPECT_THAT(refusal(GEMM64_FAKE_PLUGIN_OF_ANOTHER_VERSION, file("net.pt")),
              testing::AllOf(Says("speaks version 999", "this program version 1",
                                  "make -C scripts/models torchscript"),
                             Lacks("net.pt")));
}

TEST_F(TorchScriptPlugin, WithoutTheSymbolIsRefused) {
  EXPECT_THAT(refusal(GEMM64_FAKE_PLUGIN_WITHOUT_SYMBOL, file("net.pt")),
              Says("is no plug-in of gemm64's"));
}

TEST_F(TorchScriptPlugin, ThatIsNoLibraryIsRefused) {
  EXPECT_THAT(refusal(file("plugin.so", "text"), file("net.pt")),
              testing::AllOf(Says("plugin.so: cannot be loaded"), Lacks("net.pt:")));
}

}  // namespace
}  // namespace gemm64
