// SPDX-License-Identifier: Apache-2.0
#include "host/device/requantize.hpp"

#include "host/device/result_format.hpp"
#include "host/numerics/reference.hpp"
#include "tests/test.hpp"

namespace gemm64 {
namespace {

StoreCommand store(ResultCode code, int zero, int low, int high) {
  StoreCommand store;
  store.format = ResultFormat(code).number();
  store.zero = static_cast<std::uint32_t>(zero) & 0xff;
  store.low = static_cast<std::uint32_t>(low) & 0xff;
  store.high = static_cast<std::uint32_t>(high) & 0xff;
  return store;
}

int int8(std::int32_t sum, std::int32_t bias, float scale, int zero = 0) {
  return static_cast<std::int8_t>(requantize(store(ResultCode::kInt8, zero, -128, 127),
                                             static_cast<std::uint32_t>(sum),
                                             static_cast<std::uint32_t>(bias), scale));
}

TEST(Requantize, RoundsHalvesToEven) {
  EXPECT_EQ(int8(1, 0, 0.5F), 0);
  EXPECT_EQ(int8(3, 0, 0.5F), 2);
  EXPECT_EQ(int8(5, 0, 0.5F), 2);
  EXPECT_EQ(int8(-3, 0, 0.5F), -2);
  EXPECT_EQ(int8(1, 4, 0.5F, 10), 12);
}

TEST(Requantize, ClampsWhateverIsOutside) {
  EXPECT_EQ(int8(std::numeric_limits<std::int32_t>::max(), 0, 3e38F), 127);
  EXPECT_EQ(int8(std::numeric_limits<std::int32_t>::min(), 0, 3e38F), -128);
  EXPECT_EQ(int8(127, 1, 1), 127);
  EXPECT_EQ(int8(-100, 0, 1, -100), -128);
  EXPECT_EQ(requantize(store(ResultCode::kUint8, 128, 128, 255), 0xffffff00, 0, 1), 128);
  EXPECT_EQ(requantize(store(ResultCode::kUint8, 128, 0, 200), 500, 0, 1), 200);
}

TEST(Requantize, WrapsTheSumWithItsBias) {
  EXPECT_EQ(int8(std::numeric_limits<std::int32_t>::max(), 1, 1e-8F), -21);
  EXPECT_EQ(int8(std::numeric_limits<std::int32_t>::min(), -1, 1e-8F), 21);
}

TEST(Requantize, TakesInfiniteScaleAsLargest) {
  for (const float scale :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (const float either : {scale, -scale}) {
      EXPECT_EQ(int8(1, 0, either, 3), 127);
      EXPECT_EQ(int8(0, 0, either, 3), 3);
      EXPECT_EQ(int8(-1, 0, either, 3), -128);
    }
  }
}

TEST(Requantize, IgnoresSignAndTakesDenormals) {
  EXPECT_EQ(int8(10, 0, -0.5F), 5);
  EXPECT_EQ(int8(std::numeric_limits<std::int32_t>::max(), 0, 1e-45F, 3), 3);
}

// What other code makes of a million random ones, over all scales.
TEST(Requantize, EqualsIndependentReference) {
  std::mt19937 random(50);
  constexpr int kColumns = 1000;
  for (int round = 0; round < 1000; ++round) {
    const bool is_signed = random() % 2 != 0;
    const int least = is_signed ? -128 : 0;
    const int zero = least + static_cast<int>(random() % 256);
    int low = least + static_cast<int>(random() % 256);
    int high = least + static_cast<int>(random() % 256);
    if (random() % 2 != 0) low = least, high = least + 255;
    if (low > high) std::swap(low, high);
    MatrixI32 sums(1, kColumns);
    std::vector<std::int32_t> bias(kColumns);
    std::vector<float> scales(kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) {
      const auto shift = random() % 32;
      sums(0, static_cast<Eigen::Index>(i)) = static_cast<std::int32_t>(random()) >> shift;
      bias[i] = static_cast<std::int32_t>(random()) >> random() % 32;
      std::uint32_t bits = static_cast<std::uint32_t>(random()) & 0x7fffffff;
      if (bits >= 0x7f800000) bits = 0;  // infinite, or not a number
      // Mostly such that results are inside the bounds.
      if (random() % 4 != 0) bits = (127 - 24 + random() % 24 + shift) << 23 | (bits & 0x7fffff);
      std::memcpy(&scales[i], &bits, sizeof bits);
    }
    const MatrixI32 expected = reference_requantize(sums, bias, scales, zero, low, high);
    const StoreCommand command =
        store(is_signed ? ResultCode::kInt8 : ResultCode::kUint8, zero, low, high);
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::int32_t sum = sums(0, static_cast<Eigen::Index>(i));
      const int found = ResultFormat::of(command.format)
                            ->value(requantize(command, static_cast<std::uint32_t>(sum),
                                               static_cast<std::uint32_t>(bias[i]), scales[i]));
      ASSERT_EQ(found, expected(0, static_cast<Eigen::Index>(i)))
          << sum << " + " << bias[i] << ", scale " << scales[i] << ", zero " << zero;
    }
  }
}

}  // namespace
}  // namespace gemm64
