// SPDX-License-Identifier: Apache-2.0
// Attention by exact sums of integers, against ONNX Runtime's own QAttention.
#include "host/runtime/integer_node.hpp"

#include "host/kernels/integer_product.hpp"
#include "host/numerics/reference.hpp"
#include "tests/unit/onnx_text.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

template <class T>
Tensor random_integers(const Dims& dims, int low, int high, std::mt19937& random) {
  Tensor tensor(data_type_of<T>(), dims);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const auto range = static_cast<unsigned>(high - low + 1);
    tensor.mutable_values<T>()[i] = static_cast<T>(low + static_cast<int>(random() % range));
  }
  return tensor;
}

Tensor fractions(const Dims& dims, std::mt19937& random) {
  Tensor tensor = random_floats(dims, random);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.mutable_values<float>()[i] /= 8;
  return tensor;
}

/// Two sequences of three tokens of five numbers, two heads of four.
class QuantizedAttention : public testing::Test {
 protected:
  /// The node's outputs here and in ONNX Runtime.
  void check(const std::string& attributes, std::int64_t scales = 1, bool masked = false,
             std::int64_t past = 0) {
    SCOPED_TRACE(attributes);
    HostNodes::Values given{
        {"x", random_integers<std::uint8_t>({2, 3, 5}, 0, 255, random_)},
        // Small enough that no sum of two products saturates where ONNX Runtime has no VNNI.
        {"w", random_integers<std::int8_t>({5, 24}, -60, 60, random_)},
        {"b", fractions({24}, random_)},
        {"xs", floats({}, {0.02F})},
        {"ws", scales == 1 ? floats({}, {0.01F}) : fractions({scales}, random_)},
        {"xz", random_integers<std::uint8_t>({}, 119, 119, random_)},
        {"wz", random_integers<std::int8_t>({}, 0, 0, random_)}};
    std::string mask, before, outputs = "y";
    if (masked) {
      given["mask"] = random_integers<std::int32_t>({2, 3 + past}, 0, 1, random_);
      mask = "mask";
    }
    if (past != 0) {
      given["past"] = fractions({2, 2, 2, past, 4}, random_);
      before = ", past";
      outputs = "y, present";
    }
    const std::string graph = fmt::format(
        "(uint8[2,3,5] x, int8[5,24] w, float[24] b, float xs, float{} ws, int32[2,T] mask, "
        "uint8 xz, int8 wz, float[2,2,2,P,4] past) => (float[2,3,8] y) "
        "{{{} = com.microsoft.QAttention <num_heads = 2{}> (x, w, b, xs, ws, {}, xz, wz{})}}",
        scales == 1 ? "" : fmt::format("[{}]", scales), outputs, attributes, mask, before);
    const OnnxModel model = load_text(graph);
    const HostNodes nodes(model);
    const onnx::NodeProto& node = model.graph().node(0);
    const IntegerProduct product = reference_gemm;
    const NodeContext context{&node, "attention", model.opset(), &product};
    Tensors inputs;
    for (const std::string& name : node.input()) {
      inputs.push_back(name.empty() ? Tensor() : given.at(name));
    }
    const Tensors found = compute_integer_node(context, inputs, nodes);
    std::vector<std::string> names(node.output().begin(), node.output().end());
    const auto expected = nodes.values(names, given);
    ASSERT_EQ(found.size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Tensor& wanted = expected.at(names[i]);
      ASSERT_EQ(found[i].dims(), wanted.dims());
      for (std::int64_t at = 0; at < wanted.elements(); ++at) {
        ASSERT_NEAR(found[i].values<float>()[at], wanted.values<float>()[at], 1e-4) << names[i];
      }
    }
    results_.push_back(values_of<float>(found[0]));
  }

  std::mt19937 random_{1};
  std::vector<std::vector<float>> results_;
};

TEST_F(QuantizedAttention, TakesEachAttribute) {
  for (const char* const attributes :
       {"", ", unidirectional = 1", ", mask_filter_value = -2.5", ", scale = 3.0"}) {
    random_.seed(1);
    check(attributes, 1, true);
  }
  for (int other = 1; other < 4; ++other) EXPECT_NE(results_[0], results_[other]);
}

TEST_F(QuantizedAttention, TakesScalesOfColumns) { check("", 24); }

TEST_F(QuantizedAttention, TakesWhatCameBefore) { check(", unidirectional = 1", 1, false, 2); }

TEST_F(QuantizedAttention, RefusesOtherScales) { EXPECT_THROW(check("", 7), UsageError); }

}  // namespace
}  // namespace gemm64
