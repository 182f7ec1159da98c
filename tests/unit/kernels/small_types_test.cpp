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
  unsigned char minus_one, three, largest;
  float largest_value;
  unsigned char nan, minus_nan;  // of integers 0
};

const SmallType kTypes[] = {{TensorProto::FLOAT8E4M3FN, 8, 0xb8, 0x44, 0x7e, 448, 0x7f, 0xff},
                            {TensorProto::FLOAT8E4M3FNUZ, 8, 0xc0, 0x4c, 0x7f, 240, 0x80, 0x80},
                            {TensorProto::FLOAT8E5M2, 8, 0xbc, 0x42, 0x7b, 57344, 0x7e, 0xfe},
                            {TensorProto::FLOAT8E5M2FNUZ, 8, 0xc0, 0x46, 0x7f, 57344, 0x80, 0x80},
                            {TensorProto::FLOAT4E2M1, 4, 0xa, 0x5, 0x7, 6, 0x8, 0x8},
                            {TensorProto::INT4, 4, 0xf, 0x3, 0x7, 7, 0, 0},
                            {TensorProto::UINT4, 4, 0, 0x3, 0xf, 15, 0, 0}};

TEST(SmallTypes, HoldTheValuesOfTheirFormats) {
  for (const SmallType& item : kTypes) {
    SCOPED_TRACE(item.type);
    EXPECT_TRUE(is_small_type(item.type));
    EXPECT_EQ(decode_small(item.type, item.three), 3.0F);
    EXPECT_EQ(encode_small(item.type, 3.0, {}), item.three);
    EXPECT_EQ(decode_small(item.type, item.largest), item.largest_value);
    EXPECT_EQ(encode_small(item.type, double{item.largest_value}, {}), item.largest);
    EXPECT_EQ(encode_small(item.type, std::nan(""), {}), item.nan);
    EXPECT_EQ(encode_small(item.type, -std::nan(""), {}), item.minus_nan);
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
