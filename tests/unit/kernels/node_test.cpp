// SPDX-License-Identifier: Apache-2.0
// ONNX's own tests of its operators and those that PyTorch's layers became: every one that asks for
// nothing but operators that the host executes, in the form of its opset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/execute/executor.hpp"
#include "host/graph/proto/onnx.pb.h"
#include "host/graph/proto/tensor_data.hpp"
#include "tests/says.hpp"
#include "tests/unit/node_tests.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKinds[] = {"node", "pytorch-converted", "pytorch-operator", "simple"};

constexpr const char* kStrings = "its input 'x' holds values of type string";
constexpr const char* kNoTensor = "is not a tensor";
constexpr const char* kAntialias = "(Resize): antialias is not supported";

/// Those that are refused, with a part of the message.
const std::map<std::string, const char*> kRefused = {
    {"node/test_equal_string", kStrings},
    {"node/test_equal_string_broadcast", kStrings},
    {"node/test_identity_opt", kNoTensor},
    {"node/test_identity_sequence", kNoTensor},
    {"node/test_resize_downsample_scales_cubic_antialias", kAntialias},
    {"node/test_resize_downsample_scales_linear_antialias", kAntialias},
    {"node/test_resize_downsample_sizes_cubic_antialias", kAntialias},
    {"node/test_resize_downsample_sizes_linear_antialias", kAntialias},
};

/// Those whose expected values are rounded to four digits.
const std::set<std::string> kRounded = {
    "node/test_averagepool_2d_ceil_last_window_starts_on_pad", "node/test_gridsample_bicubic",
    "node/test_roialign_aligned_false", "node/test_roialign_aligned_true"};

bool is_candidate(const fs::path& folder) {
  const auto model = read_proto<onnx::ModelProto>(folder / "model.onnx");
  std::int64_t opset = 1;
  for (const auto& set : model.opset_import()) {
    if (set.domain().empty()) opset = set.version();
  }
  return std::all_of(model.graph().node().begin(), model.graph().node().end(),
                     [opset](const onnx::NodeProto& node) {
                       const OperatorInfo* info = find_operator(node.domain(), node.op_type());
                       return info != nullptr && info->function != nullptr && opset >= info->since;
                     });
}

/// Their folders below node_tests_folder(), in alphabetical order.
std::vector<std::string> tests(bool refused) {
  std::vector<std::string> names;
  for (const char* kind : kKinds) {
    for (const std::string& name : node_tests_of(kind)) {
      if ((kRefused.count(name) != 0) == refused && is_candidate(node_tests_folder() / name)) {
        names.push_back(name);
      }
    }
  }
  return names;
}

template <class T>
void expect_near(const Tensor& expected, const Tensor& found, double relative) {
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const auto want = static_cast<double>(expected.values<T>()[i]);
    const auto have = static_cast<double>(found.values<T>()[i]);
    if (std::isnan(want) && std::isnan(have)) continue;
    if (want == have) continue;
    ASSERT_NEAR(have, want, 1e-6 + relative * std::abs(want)) << "value " << i;
  }
}

/// Bit-equal, or for floats within what another order of sums changes: of 16-bit floats the last
/// bit, and a few where several nodes round, or one that ONNX describes by several. `relative`: of
/// float32.
void expect_equal(const Tensor& expected, const Tensor& found, bool rounds_once, double relative) {
  ASSERT_EQ(describe(found), describe(expected));
  const double roundings = rounds_once ? 1 : 4;
  switch (expected.type()) {
    case onnx::TensorProto::FLOAT:
      return expect_near<float>(expected, found, relative);
    case onnx::TensorProto::DOUBLE:
      return expect_near<double>(expected, found, 1e-12);
    case onnx::TensorProto::BFLOAT16:
      return expect_near<Eigen::bfloat16>(expected, found, roundings * 0x1p-7);
    case onnx::TensorProto::FLOAT16:
      return expect_near<Eigen::half>(expected, found, roundings * 0x1p-10);
    default:
      EXPECT_EQ(std::memcmp(found.raw(), expected.raw(), expected.bytes()), 0);
  }
}

/// A tensor of a data set. NumPy has no bfloat16: there its bits stand as uint16.
onnx::TensorProto read_tensor(const fs::path& path, const onnx::ValueInfoProto& info) {
  auto tensor = read_proto<onnx::TensorProto>(path);
  if (info.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16) {
    tensor.set_data_type(onnx::TensorProto::BFLOAT16);
  }
  return tensor;
}

/// Runs one of the test's data sets.
void run(const OnnxModel& model, const fs::path& data, double relative) {
  const Executor executor(model);
  // Tensors share their values, so the vector must not move them.
  std::vector<onnx::TensorProto> protos(static_cast<std::size_t>(model.graph().input_size()));
  NamedTensors inputs;
  std::size_t count = 0;
  for (const onnx::ValueInfoProto& info : model.graph().input()) {
    if (!model.is_graph_input(info.name())) continue;
    const fs::path path = data / ("input_" + std::to_string(count) + ".pb");
    if (!fs::exists(path)) continue;  // no tensor
    protos[count] = read_tensor(path, info);
    inputs[info.name()] = Tensor::from_proto(protos[count++]);
  }
  const NamedTensors outputs = executor.run(inputs);
  const bool rounds_once =
      model.graph().node_size() == 1 && model.graph().node(0).op_type() != "Attention";
  for (int i = 0; i < model.graph().output_size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    const onnx::ValueInfoProto& info = model.graph().output(i);
    const auto proto = read_tensor(data / ("output_" + std::to_string(i) + ".pb"), info);
    expect_equal(Tensor::from_proto(proto), outputs.at(info.name()), rounds_once, relative);
  }
}

void run_test(const std::string& name) {
  const fs::path folder = node_tests_folder() / name;
  const OnnxModel model = OnnxModel::load(folder / "model.onnx");
  int sets = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    ++sets;
    run(model, entry.path(), kRounded.count(name) != 0 ? 1e-3 : 1e-5);
  }
  EXPECT_GE(sets, 1);
}

/// "node/test_relu" as "node_relu".
std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  name.erase(name.find("/test_") + 1, 5);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class NodeTest : public testing::TestWithParam<std::string> {};

TEST_P(NodeTest, GivesTheExpectedOutputs) { run_test(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Onnx, NodeTest, testing::ValuesIn(tests(false)), name_of);

class RefusedNodeTest : public testing::TestWithParam<std::string> {};

TEST_P(RefusedNodeTest, IsRefusedByNameWithTheReason) {
  EXPECT_THAT([&] { run_test(GetParam()); }, Fails(kRefused.at(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Onnx, RefusedNodeTest, testing::ValuesIn(tests(true)), name_of);

TEST(NodeTests, AreThereForEveryOperator) {
  std::map<std::string, int> seen;
  for (const std::string& name : tests(false)) {
    const auto model = read_proto<onnx::ModelProto>(node_tests_folder() / name / "model.onnx");
    for (const onnx::NodeProto& node : model.graph().node()) ++seen[node.op_type()];
  }
  for (const OperatorInfo& info : operator_table()) {
    // Those of other domains are compared with ONNX Runtime itself, in tests/onnxruntime.
    if (info.function == nullptr || !info.domain.empty()) continue;
    // ONNX has no test of them; ONNX Runtime is their oracle.
    if (info.name == "GlobalLpPool" || info.name == "SimplifiedLayerNormalization") continue;
    EXPECT_GE(seen[std::string(info.name)], 1) << info.name;
  }
  EXPECT_EQ(tests(true).size(), kRefused.size()) << "a test that is refused is none of ONNX's";
}

/// Kind "node" alone, with no other operators than the host computed before opset 18 was read. (Of
/// onnx 1.20.0 they were 352.)
std::size_t count_first_operators(const std::vector<std::string>& names) {
  static const std::set<std::string> operators = {"Add",      "AveragePool", "BatchNormalization",
                                                  "Cast",     "Clip",        "Concat",
                                                  "Constant", "Conv",        "ConstantOfShape",
                                                  "Dropout",  "Flatten",     "Gather",
                                                  "Gemm",     "Identity",    "GlobalAveragePool",
                                                  "LRN",      "MatMul",      "MaxPool",
                                                  "Mul",      "Pad",         "ReduceMean",
                                                  "Relu",     "Reshape",     "Shape",
                                                  "Sigmoid",  "Slice",       "Softmax",
                                                  "Split",    "Squeeze",     "Sum",
                                                  "Tanh",     "Transpose",   "Unsqueeze"};
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [](const std::string& name) {
        if (name.rfind("node/", 0) != 0) return false;
        const auto model = read_proto<onnx::ModelProto>(node_tests_folder() / name / "model.onnx");
        return std::all_of(
            model.graph().node().begin(), model.graph().node().end(),
            [](const onnx::NodeProto& node) { return operators.count(node.op_type()) != 0; });
      }));
}

TEST(NodeTests, AreAsManyAsTheReadmeSays) {
  // Of onnx 1.23.2, those of whose operators the host computes every one.
  EXPECT_EQ(count_first_operators(tests(false)), 350U) << "pass";
  EXPECT_EQ(count_first_operators(tests(true)), 2U) << "are refused by name";
  EXPECT_EQ(tests(false).size(), 1804U) << "pass";
  EXPECT_EQ(tests(true).size(), 8U) << "are refused by name";
}

}  // namespace
}  // namespace gemm64
