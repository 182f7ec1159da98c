// SPDX-License-Identifier: Apache-2.0
#include "host/util/claimed_files.hpp"

#include "tests/test.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class Claims : public InFolder {
 protected:
  Claims() {
    fs::create_directories(folder_ / "sub");
    std::ofstream(folder_ / "m.onnx") << "model";
  }

  void expect_refused(const std::string& first, const std::string& second) {
    ClaimedFiles files;
    files.output("--csv", first);
    EXPECT_THAT([&] { files.output("--json", second); }, Fails("the file that --csv goes to"));
  }
};

TEST_F(Claims, AnInputIsNoOutput) {
  ClaimedFiles files;
  files.input("the model", at("m.onnx"));
  files.output("--csv", at("x.csv"));
  EXPECT_THAT([&] { files.output("--json", at("m.onnx")); },
              Fails("m.onnx: is the file that the model is read from; name another"));
  EXPECT_THAT([&] { files.input("--a", at("x.csv")); }, Fails("the file that --csv would write"));
}

TEST_F(Claims, TwoOutputsAreTwoFiles) {
  expect_refused(at("new"), at("new"));
  expect_refused(at("new"), at("sub/../new"));
  expect_refused(at("new"), folder_ / "." / "new");
  expect_refused("-", "-");
  expect_refused("-", "/dev/stdout");
}

TEST_F(Claims, LinksAreSeenThrough) {
  fs::create_symlink("m.onnx", folder_ / "soft");
  fs::create_hard_link(folder_ / "m.onnx", folder_ / "hard");
  fs::create_symlink("not_yet", folder_ / "dangling");
  fs::create_directory_symlink("sub", folder_ / "folder");
  expect_refused(at("m.onnx"), at("soft"));
  expect_refused(at("m.onnx"), at("hard"));
  expect_refused(at("not_yet"), at("dangling"));
  expect_refused(at("sub/x"), at("folder/x"));
}

TEST_F(Claims, DevicesMayBeSharedAndInputsReadTwice) {
  ClaimedFiles files;
  files.output("--json", "/dev/null");
  files.output("--csv", "/dev/null");
  files.input("--a", at("m.onnx"));
  files.input("--b", at("m.onnx"));
  files.output("--plot", "");
  files.output("--trace", "");
  files.input("--c", "-");
  EXPECT_THROW(files.input("--d", "-"), UsageError);
}

}  // namespace
}  // namespace gemm64
