// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/npy.hpp"

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/object_tensors.hpp"
#include "host/kernels/small_types.hpp"
#include "host/numerics/npy.hpp"
#include "tests/test.hpp"
#include "tests/unit/runtime/tensors.hpp"

namespace gemm64 {
namespace {

namespace fs = std::filesystem;

class TensorFile : public InFolder {
 protected:
  void save(const Tensor& tensor) const {
    OutputFile file(path_);
    save_tensor(file, tensor);
  }

  const std::string path_ = folder_ / "tensor.npy";
};

TEST_F(TensorFile, KeepsFloat16) {
  const std::vector<Eigen::half> values{Eigen::half(1.5F), Eigen::half(-65504.0F),
                                        Eigen::half(6e-8F)};
  save(Tensor::of<Eigen::half>({3}, values));
  EXPECT_EQ(NpyFile(path_).describe(), "float16 of shape (3,)");
  EXPECT_EQ(values_of<Eigen::half>(load_tensor(path_, onnx::TensorProto::FLOAT16)), values);
}

TEST_F(TensorFile, HoldsBfloat16AsFloat32) {
  const std::vector<Eigen::bfloat16> values{Eigen::bfloat16(1.5F), Eigen::bfloat16(-3.0F)};
  save(Tensor::of<Eigen::bfloat16>({2}, values));
  EXPECT_EQ(NpyFile(path_).describe(), "float32 of shape (2,)");
  EXPECT_EQ(values_of<Eigen::bfloat16>(load_tensor(path_, onnx::TensorProto::BFLOAT16)), values);
}

TEST_F(TensorFile, HoldsSmallTypesAsWiderOnes) {
  for (const auto& [type, described] :
       {std::pair{onnx::TensorProto::FLOAT8E4M3FN, "float32 of shape (2, 128)"},
        std::pair{onnx::TensorProto::FLOAT8E5M2, "float32 of shape (2, 128)"},
        std::pair{onnx::TensorProto::INT4, "int8 of shape (2, 8)"},
        std::pair{onnx::TensorProto::UINT2, "uint8 of shape (2, 2)"}}) {
    const int half = 1 << (element_bits(type) - 1);
    Tensor all(type, {2, half});
    for (int i = 0; i < 2 * half; ++i) all.mutable_raw()[i] = static_cast<std::byte>(i);
    testing::internal::CaptureStderr();
    save(all);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), Says("since no .npy file holds"));
    EXPECT_EQ(NpyFile(path_).describe(), described);
    const Tensor found = load_tensor(path_, type);
    for (int i = 0; i < 2 * half; ++i) {
      const float expected = decode_small(type, static_cast<std::uint8_t>(i));
      const float value = decode_small(type, static_cast<std::uint8_t>(found.raw()[i]));
      EXPECT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected))) << i;
    }
  }
}

TEST_F(TensorFile, RejectsValuesOutsideItsType) {
  save(Tensor::of<float>({2}, {1.5F, 1.55F}));
  EXPECT_THAT(message_of([&] { load_tensor(path_, onnx::TensorProto::FLOAT8E4M3FN); }),
              Says("its value 1, 1.55, is no float8e4m3fn; round it first"));
}

TEST_F(TensorFile, KeepsTexts) {
  const std::vector<std::string> texts{"", "clothes", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x91\x9f",
                                       "x y"};
  save(Tensor::of<std::string>({2, 2}, texts));
  EXPECT_EQ(NpyFile(path_).describe(), "text of 7 characters of shape (2, 2)");
  EXPECT_EQ(values_of<std::string>(load_tensor(path_, onnx::TensorProto::STRING)), texts);
  EXPECT_THAT(message_of([&] { load_tensor(path_, onnx::TensorProto::FLOAT); }),
              Says("holds text of 7 characters of shape (2, 2); float32 is needed"));
}

TEST_F(TensorFile, IsOneOfASequence) {
  for (const int i : {0, 1}) {
    OutputFile file(folder_ / (std::to_string(i) + ".npy"));
    save_tensor(file,
                Tensor::of<float>({i + 1}, std::vector<float>(static_cast<std::size_t>(i) + 1)));
  }
  const Tensor sequence = load_sequence(folder_, onnx::TensorProto::FLOAT);
  ASSERT_EQ(sequence.elements(), 2);
  EXPECT_EQ(sequence.values<Tensor>()[1].dims(), (Dims{2}));
}

TEST_F(TensorFile, HoldsEveryIntegerOfNumpy) {
  save(Tensor::of<std::uint16_t>({2}, {1, 65535}));
  EXPECT_EQ(values_of<std::uint16_t>(load_tensor(path_, onnx::TensorProto::UINT16)),
            (std::vector<std::uint16_t>{1, 65535}));
}

}  // namespace
}  // namespace gemm64
