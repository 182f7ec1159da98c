// SPDX-License-Identifier: Apache-2.0
// How often a command checks a network's graph, counted inside of the program.

#include "host/cli/program.hpp"
#include "host/cli/run_command.hpp"
#include "host/graph/onnx/graph_check.hpp"
#include "host/numerics/npy.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

class GraphChecks : public InFolder {
 protected:
  GraphChecks() {
    for (const int images : {1, 3}) {
      const std::vector<float> pixels(static_cast<std::size_t>(images) * 28 * 28, 0.5F);
      OutputFile file(at(std::to_string(images) + ".npy"), "images");
      write_npy(file, NpyType::Element::kFloat32, {images, 1, 28, 28}, pixels.data());
    }
  }

  /// The checks that a command makes, which must end well.
  static std::uint64_t of(std::vector<std::string> arguments) {
    std::vector<const char*> argv{"gemm64"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    const std::uint64_t before = graphs_checked();
    testing::internal::CaptureStdout();
    const int exit_code = run_program(static_cast<int>(argv.size()), argv.data());
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_EQ(exit_code, 0) << printed;
    return graphs_checked() - before;
  }
  /// `run`, which has a process of its own otherwise.
  static std::uint64_t of_run(const std::string& model, std::vector<std::string> arguments) {
    const std::vector<std::string> all{"--model", model, "--device", "reference"};
    arguments.insert(arguments.begin(), all.begin(), all.end());
    const std::uint64_t before = graphs_checked();
    testing::internal::CaptureStdout();
    NetworkCommand command(parse_network_options(arguments));
    const int exit_code = command.finish(command.run());
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_EQ(exit_code, 0) << printed;
    return graphs_checked() - before;
  }

  const std::string float_ = GEMM64_TEST_DATA "/fashion_cnn.onnx";
  const std::string one_ = at("1.npy"), three_ = at("3.npy");
};

/// The file's, and one of each group that ONNX Runtime hands to the provider.
TEST_F(GraphChecks, AreAsManyWhateverTheInputs) {
  const std::uint64_t checks = of_run(float_, {});
  EXPECT_LE(checks, 4U);
  EXPECT_EQ(of_run(float_, {"--input", three_}), checks);
  EXPECT_EQ(of_run(float_, {"--calibrate", three_, "--input", one_}), checks);
}

TEST_F(GraphChecks, AreNoMoreForACompiledNetwork) {
  const std::string quantized = at("q.onnx"), compiled = at("q.g64");
  of({"quantize", float_, "--calibrate", three_, "-o",
      quantized});  // both in processes of their own
  ASSERT_TRUE(std::filesystem::exists(quantized));
  of({"compile", quantized, "-o", compiled});
  EXPECT_LE(of_run(compiled, {"--input", one_}), of_run(quantized, {"--input", one_}));
}

}  // namespace
}  // namespace gemm64
