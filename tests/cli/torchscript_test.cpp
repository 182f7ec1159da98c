// SPDX-License-Identifier: Apache-2.0
// TorchScript files: without the plug-in, and with one that needs no LibTorch.

#include "tests/cli/onnx_bytes.hpp"
#include "tests/cli/program.hpp"

namespace gemm64::cli_test {
namespace {

using nlohmann::json;

/// The program in a folder of its own, so that no plug-in but a test's is next to it.
class TorchScript : public Program {
 protected:
  TorchScript() : home_(folder_.string() + ".program") {
    fs::create_directories(home_);
    std::error_code other_disk;
    fs::create_hard_link(program_path(), home_ / "gemm64", other_disk);
    if (other_disk) fs::copy_file(program_path(), home_ / "gemm64");
    for (const char* const needed : {"onnxruntime", "libgemm64_ep_local.so"}) {
      fs::create_symlink(fs::path(program_path()).parent_path() / needed, home_ / needed);
    }
    network_ = onnx::model({onnx::node("MatMul", {"x", "w"}, "y"),
                            onnx::floats("w", {2, 3}, {1, 2, 3, 4, 5, 6}), onnx::input("x", {2, 2}),
                            onnx::output("y", {2, 3})});
  }
  ~TorchScript() override { fs::remove_all(home_); }

  void add_plugin(const std::string& folder = ".") const {
    fs::create_directories(home_ / folder);
    fs::copy_file(GEMM64_FAKE_PLUGIN, home_ / folder / "gemm64_torchscript.so");
  }
  void expect_refusal(const std::string& arguments, const std::string& reason) const {
    SCOPED_TRACE(arguments);
    expect_bad(execute(arguments), reason);
  }
  Outcome execute(const std::string& arguments) const {
    return run_program(home_ / "gemm64", arguments);
  }
  json report() const { return json_of("report.json"); }

  fs::path home_;
  std::string network_;
};

TEST_F(TorchScript, NeedsThePlugin) {
  write("net.pt", "PK\3\4" + network_);
  for (const std::string command :
       {"analyze net.pt", "tile net.pt -o t.onnx", "run --model net.pt --device tlm",
        "quantize net.pt --calibrate net.pt -o q.onnx"}) {
    expect_refusal(command,
                   "net.pt: TorchScript files need the plug-in gemm64_torchscript.so, which is "
                   "neither next to the program nor named by GEMM64_TORCHSCRIPT; make -C "
                   "scripts/models torchscript "
                   "builds it");
  }
  EXPECT_FALSE(fs::exists(folder_ / "t.onnx"));
}

TEST_F(TorchScript, IsAnalyzedTiledAndRunLikeOnnx) {
  add_plugin();
  write("net.pt", "PK\3\4" + network_);
  write("net.onnx", network_);
  const Outcome analyzed = execute("analyze net.pt --json report.json --modules 'f*'");
  EXPECT_EQ(analyzed.code, 0) << analyzed.err;
  EXPECT_THAT(analyzed.out, Says("by module", "Linear", "2x3"));
  const json modules = report();
  EXPECT_EQ(modules["total"]["macs"], 12);
  EXPECT_EQ(modules["modules"]["leaf_bytes"], 24);
  EXPECT_EQ(modules["modules"]["list"].size(), 1U);
  EXPECT_EQ(modules["modules"]["list"][0]["name"], "fc");
  EXPECT_EQ(execute("tile net.pt -o tiled.onnx").code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "tiled.onnx"));
  for (const std::string kind : {"pt", "onnx"}) {
    const Outcome outcome = execute("run --model net." + kind + " --precision float32 --output " +
                                    kind + ".npy --device tlm");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }
  EXPECT_NE(contents(folder_ / "pt.npy"), "");
  EXPECT_EQ(contents(folder_ / "pt.npy"), contents(folder_ / "onnx.npy"));
}

TEST_F(TorchScript, FindsAnInstalledPlugin) {
  add_plugin("lib/gemm64");
  fs::create_directories(home_ / "bin");
  fs::rename(home_ / "gemm64", home_ / "bin" / "gemm64");
  write("net.pt", "PK\3\4" + network_);
  EXPECT_EQ(run_program(home_ / "bin" / "gemm64", "analyze net.pt").code, 0);
}

TEST_F(TorchScript, GetsShapesFromOptionsAndArrays) {
  add_plugin();
  write("tell.pt", "PK\3\4");
  expect_refusal("analyze tell.pt --input-shape x=1x3x8x8",
                 "tell.pt: [x] 1 3 8 8, without weights");
  expect_refusal("tile tell.pt -o t.onnx --input-shape x=1x2", "tell.pt: [x] 1 2, with weights");
  write_npy<float>("in.npy", "<f4", 5, 2, std::vector<float>(10));
  const std::string run = "run --device tlm --model tell.pt ";
  expect_refusal(run + "--input in.npy", "tell.pt: [] 1 2, with weights");
  expect_refusal(run + "--input y=in.npy", "tell.pt: [y] 1 2, with weights");
  expect_refusal(run + "--input in.npy --batch 5", "[] 5 2, with weights");
  expect_refusal(run + "--input in.npy --input-shape x=7x2", "tell.pt: [x] 7 2, with weights");
  const std::string quantize = "quantize tell.pt -o q.onnx ";
  expect_refusal(quantize + "--calibrate in.npy", "tell.pt: [] 1 2, with weights");
  expect_refusal(quantize + "--calibrate y=in.npy", "tell.pt: [y] 1 2, with weights");
  expect_refusal(quantize + "--calibrate in.npy --input-shape x=7x2",
                 "tell.pt: [x] 7 2, with weights");
}

TEST_F(TorchScript, PlugInIsWhereTheEnvironmentSays) {
  write("net.pt", "PK\3\4" + network_);
  const std::string program = (home_ / "gemm64").string();
  EXPECT_EQ(
      run_program("GEMM64_TORCHSCRIPT=" GEMM64_FAKE_PLUGIN " " + program, "analyze net.pt").code,
      0);
  EXPECT_THAT(run_program("GEMM64_TORCHSCRIPT=./none.so " + program, "analyze net.pt").err,
              Says("none.so: cannot be loaded"));
}

TEST_F(TorchScript, RefusesWhatIsNone) {
  add_plugin();
  write("pickle.pt", std::string("\x80\2}q") + '\0' + ".");
  write("text.pth", "hello\n");
  write("empty.pt", "");
  write("crash.pt", "PK\3\4");
  write("nothing.pt", "PK\3\4");
  write("net.onnx", network_);
  expect_refusal("analyze pickle.pt", "pickle.pt: is no TorchScript: the file is a Python pickle");
  expect_refusal("analyze text.pth", "text.pth: is no TorchScript: the file is text");
  expect_refusal("tile empty.pt -o t.onnx", "empty.pt: is no TorchScript: the file is empty");
  expect_refusal("analyze missing.pt", "missing.pt: no such file");
  expect_refusal("analyze crash.pt", "crash.pt: LibTorch crashed over it");
  expect_refusal("analyze nothing.pt", "plug-in");
  expect_refusal("analyze net.onnx --modules '*'", "--modules: only TorchScript files");
}

}  // namespace
}  // namespace gemm64::cli_test
