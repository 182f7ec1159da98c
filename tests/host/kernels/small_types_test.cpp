// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/small_types.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gemm64 {
namespace {

using onnx::TensorProto;

struct SmallType {
  DataType type;
  unsigned bits;
  unsigned char minus_one, three;  // 1.5 times two where 3 is beyond the range
};

const SmallType kTypes[] = {{TensorProto::FLOAT8E4M3FN, 8, 0xb8, 0x44},
                            {TensorProto::FLOAT8E4M3FNUZ, 8, 0xc0, 0x4c},
                            {TensorProto::FLOAT8E5M2, 8, 0xbc, 0x42},
                            {TensorProto::FLOAT8E5M2FNUZ, 8, 0xc0, 0x46},
                            {TensorProto::FLOAT4E2M1, 4, 0xa, 0x5},
                            {TensorProto::INT4, 4, 0xf, 0x3},
                            {TensorProto::UINT4, 4, 0, 0x3}};

TEST(SmallTypes, HoldTheValuesOfTheirFormats) {
  for (const SmallType& item : kTypes) {
    SCOPED_TRACE(item.type);
    EXPECT_TRUE(is_small_type(item.type));
    EXPECT_EQ(decode_small(item.type, item.three), 3.0F);
    EXPECT_EQ(encode_small(item.type, 3.0, {}), item.three);
    if (item.type == TensorProto::UINT4) continue;  // has no sign
    EXPECT_EQ(decode_small(item.type, item.minus_one), -1.0F);
    EXPECT_EQ(encode_small(item.type, -1.0, {}), item.minus_one);
  }
  EXPECT_EQ(decode_small(TensorProto::UINT4, 0xf), 15.0F);
  EXPECT_EQ(decode_small(TensorProto::INT4, 0x8), -8.0F);
  EXPECT_EQ(decode_small(TensorProto::INT2, 0x3), -1.0F);
  EXPECT_EQ(decode_small(TensorProto::UINT2, 0x3), 3.0F);
  EXPECT_FALSE(is_small_type(TensorProto::INT8));
}

TEST(SmallTypes, GiveEachOfTheirValuesBack) {
  for (const SmallType& item : kTypes) {
    for (unsigned code = 0; code < 1u << item.bits; ++code) {
      const auto bits = static_cast<std::uint8_t>(code);
      const float value = decode_small(item.type, bits);
      if (std::isnan(value) || std::isinf(value)) continue;
      EXPECT_EQ(encode_small(item.type, double{value}, {}), bits) << item.type << ": " << value;
    }
  }
}

}  // namespace
}  // namespace gemm64
