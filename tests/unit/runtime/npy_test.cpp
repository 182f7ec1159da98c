// SPDX-License-Identifier: Apache-2.0
#include "host/runtime/npy.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "host/numerics/npy.hpp"
#include "tests/folder.hpp"
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

TEST_F(TensorFile, HoldsEveryIntegerOfNumpy) {
  save(Tensor::of<std::uint16_t>({2}, {1, 65535}));
  EXPECT_EQ(values_of<std::uint16_t>(load_tensor(path_, onnx::TensorProto::UINT16)),
            (std::vector<std::uint16_t>{1, 65535}));
}

}  // namespace
}  // namespace gemm64
