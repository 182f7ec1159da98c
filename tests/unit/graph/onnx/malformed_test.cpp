// SPDX-License-Identifier: Apache-2.0
// The kept corpus of files that must be refused, each with the message that expected.txt has.

#include "host/analysis/analysis.hpp"
#include "tests/test.hpp"
#include "tests/unit/onnx_data.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> expected_messages() {
  std::map<std::string, std::string> messages;
  std::ifstream file(test_data() / "malformed" / "expected.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    messages[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return messages;
}

std::string refusal(const fs::path& path) {
  return message_of([&path] {
    ImportOptions options;
    options.shapes_only = true;
    analyze(OnnxModel::load(path, options), Geometry(), {});
  });
}

TEST(Malformed, IsRefusedInOneLine) {
  const std::map<std::string, std::string> messages = expected_messages();
  EXPECT_GT(messages.size(), 70U);
  for (const auto& [name, message] : messages) {
    const std::string error = refusal(test_data() / "malformed" / name);
    EXPECT_THAT(error, Says(message)) << name;
    EXPECT_THAT(error, testing::AllOf(Says(name + ": "), Lacks("\n")));
    EXPECT_LT(error.size(), 700U) << name;
    for (const char c : error) EXPECT_FALSE(c >= 0 && c < 0x20) << name;
  }
}

TEST(Malformed, CorpusEqualsExpectations) {
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(test_data() / "malformed")) {
    if (entry.path().extension() == ".onnx") files.insert(entry.path().filename());
  }
  std::set<std::string> expected;
  for (const auto& entry : expected_messages()) expected.insert(entry.first);
  EXPECT_EQ(files, expected);
}

TEST(Truncated, IsRefusedOrCompleteAtEveryLength) {
  std::ifstream file(test_data() / "alexnet.onnx", std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_GT(whole.size(), 1000U);
  ImportOptions options;
  options.shapes_only = true;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string error = message_of(
        [&] { OnnxModel::from_bytes(std::string_view(whole).substr(0, size), "cut", options); });
    EXPECT_NE(error, "") << size;
  }
  EXPECT_EQ(message_of([&] { OnnxModel::from_bytes(whole, "whole", options); }), "");
}

}  // namespace
}  // namespace gemm64
