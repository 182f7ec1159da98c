// SPDX-License-Identifier: Apache-2.0
#include "host/device/requantize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/device/result_format.hpp"

namespace gemm64 {

std::uint8_t requantize(const StoreCommand& store, std::uint32_t sum, std::uint32_t bias,
                        float scale) {
  const ResultFormat format = ResultFormat::of(store.format).value();
  const float biased = static_cast<float>(static_cast<std::int32_t>(sum + bias));
  // What is infinite or NaN counts as the largest finite scale.
  const float size = std::fmin(std::fabs(scale), std::numeric_limits<float>::max());
  // No sum follows the product, so no compiler can make one multiply-add of them. What is past
  // every bound stays so when it is cut to what an int holds.
  const float steps = std::nearbyint(biased * size);
  const int whole = static_cast<int>(std::max(-1024.0F, std::min(1024.0F, steps)));
  const int value = whole + format.value(store.zero);
  return static_cast<std::uint8_t>(
      std::max(format.value(store.low), std::min(format.value(store.high), value)));
}

}  // namespace gemm64
