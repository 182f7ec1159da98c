// SPDX-License-Identifier: Apache-2.0
#include "host/compile/vector_node.hpp"

#include <fmt/ranges.h>

#include "host/device/vector_path.hpp"
#include "host/graph/onnx/host_nodes.hpp"
#include "host/kernels/broadcast.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/small_device.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

/// The sizes of two operands, of which the second is smaller where they differ.
struct Form {
  Dims full, other;
};

const std::vector<Form> kForms = {
    {{64, 48}, {64, 48}},            // both of one size
    {{64, 48}, {48}},                // a value for each column, of a matrix
    {{3, 24, 40}, {40}},             // of rows with three axes
    {{2, 3, 12, 40}, {1, 1, 40}},    // of rows with four
    {{3, 24, 40}, {24, 1}},          // a value for each channel, of maps with one axis
    {{1, 24, 7, 9}, {24, 1, 1}},     // of maps
    {{2, 24, 7, 9}, {1, 24, 1, 1}},  // of several images
    {{2, 24, 7, 9}, {2, 24, 1, 1}},  // a value of each image
    {{3, 600, 1, 1}, {600, 1, 1}},   // of maps of one pixel
    {{3, 60, 1, 9}, {1, 60, 1, 1}},
};

/// The results of a node if a layer gives one of its operands, as the element-wise unit computes
/// them.
template <class T>
Tensor by_vector_path(const VectorNode& node, const Tensors& inputs, bool layer_gives_a,
                      const Dims& dims) {
  const auto a = static_cast<std::size_t>(node.a), b = static_cast<std::size_t>(node.b);
  const StoreCommand settings = layer_gives_a ? node.settings : node.swapped();
  const Tensor results = broadcast(inputs[layer_gives_a ? a : b], dims);
  const Tensor operands = broadcast(inputs[layer_gives_a ? b : a], dims);
  Tensor found(results.type(), dims);
  for (std::int64_t i = 0; i < found.elements(); ++i) {
    found.mutable_values<T>()[i] = static_cast<T>(
        vector_result(settings, nullptr, static_cast<std::uint8_t>(results.values<T>()[i]),
                      static_cast<std::uint8_t>(operands.values<T>()[i])));
  }
  return found;
}

class VectorNodeTest : public testing::TestWithParam<const char*> {
 protected:
  /// Compares a node of one form with ONNX Runtime, whichever operand a layer gives.
  template <class T>
  void check(const Form& form, bool small_first) {
    const auto bytes = [this](const Dims& dims) {
      Tensor tensor(data_type_of<T>(), dims);
      std::generate_n(tensor.mutable_values<T>(), tensor.elements(),
                      [this] { return static_cast<T>(random_()); });
      return tensor;
    };
    const float step = 0.0173F;
    const auto scale = [&](float times) { return Tensor::of<float>({}, {factor() * times}); };
    const bool adds = std::string(GetParam()) == "QLinearAdd";
    const Dims& first = small_first ? form.other : form.full;
    const Dims& second = small_first ? form.full : form.other;
    const Tensors inputs = {bytes(first),
                            scale(step),
                            bytes({}),
                            bytes(second),
                            scale(adds ? step : 0.1F),
                            bytes({}),
                            Tensor::of<float>({}, {step}),
                            bytes({})};
    const std::string text =
        fmt::format("y = com.microsoft.{} (a, as, az, b, bs, bz, ys, yz)", GetParam());
    const std::string type = data_type_of<T>() == onnx::TensorProto::INT8 ? "int8" : "uint8";
    onnx::ModelProto proto =
        parse_model(fmt::format("({0}[{1}] a, {0}[{2}] b) => ({0}[1] y) {{{3}}}", type,
                                fmt::join(first, ","), fmt::join(second, ","), text));
    const char* const names[] = {"", "as", "az", "", "bs", "bz", "ys", "yz"};
    for (const std::size_t i : {1U, 2U, 4U, 5U, 6U, 7U}) {
      onnx::TensorProto& constant = *proto.mutable_graph()->add_initializer();
      constant = inputs[i].to_proto();
      constant.set_name(names[i]);
    }
    const OnnxModel model = OnnxModel::from_proto(std::move(proto), "test.onnx");
    std::string why;
    const auto node = read_vector_node(model, 0, small_geometry(), why);
    const std::string what = fmt::format("{} {} and {}", type, first, second);
    ASSERT_TRUE(node.has_value()) << what << ": " << why;
    const Tensor expected =
        HostNodes(model).values({"y"}, {{"a", inputs[0]}, {"b", inputs[3]}}).at("y");
    for (const bool layer_gives_a : {true, false}) {
      if (node->stretched && !layer_gives_a) continue;
      const Tensor found = by_vector_path<T>(*node, inputs, layer_gives_a, expected.dims());
      EXPECT_EQ(values_of<T>(found), values_of<T>(expected))
          << what << ", a layer gives input " << (layer_gives_a ? node->a : node->b);
    }
  }

 private:
  /// Sums with such factors are often halfway between two values, within the rounding of float32.
  float factor() { return static_cast<float>(1 + random_() % 39) * 0.05F; }

  std::mt19937 random_{47};
};

TEST_P(VectorNodeTest, RoundsAsOnnxRuntime) {
  for (int round = 0; round < 8; ++round) {
    for (const Form& form : kForms) {
      for (const bool small_first : {false, true}) {
        check<std::uint8_t>(form, small_first);
        check<std::int8_t>(form, small_first);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, VectorNodeTest, testing::Values("QLinearAdd", "QLinearMul"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace gemm64
