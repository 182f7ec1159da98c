// SPDX-License-Identifier: Apache-2.0
#include "host/device/vector_path.hpp"

#include <algorithm>
#include <cmath>

#include "host/device/result_format.hpp"
#include "host/util/float_bits.hpp"

namespace gemm64 {
void VectorSettings::begin(const StoreCommand& store) {
  used_ = is_vector(store);
  last_ = store;
  if (used_ && store.keep == 0) store_ = store;
}

std::uint32_t VectorSettings::table_words(std::uint32_t n) const {
  return used_ && last_.keep == 0 && store_.table != 0 ? gemm64::table_words(n) : 0;
}

std::uint32_t VectorSettings::tile_words() const {
  if (!used_ || (store_.add == 0 && store_.multiply == 0)) return 0;
  return store_.broadcast != 0 ? 1 : last_.rows;
}

std::uint8_t vector_result(const StoreCommand& settings,
                           const std::array<std::uint8_t, kTableBytes>* table, std::uint8_t result,
                           std::uint8_t operand) {
  if (settings.table != 0 && table != nullptr) result = (*table)[result];
  const auto moved = [](std::uint32_t moves, int byte) {
    return static_cast<std::uint8_t>(moves != 0 ? byte ^ 0x80 : byte);
  };
  operand = moved(settings.operand_moved, operand);
  if (settings.add == 0 && settings.multiply == 0) return moved(settings.result_moved, result);
  const ResultFormat format = ResultFormat::of(settings.format).value();
  int a = format.value(result), b = format.value(operand);
  const float scale = from_bits(settings.operand_scale), offset = from_bits(settings.offset);
  float sum;
  if (settings.add != 0) {
    if (settings.swap != 0) std::swap(a, b);
    const float from_operand = std::fma(static_cast<float>(b), scale, offset);
    sum = std::fma(static_cast<float>(a), from_bits(settings.result_scale), from_operand);
  } else {
    const int product =
        (a - format.value(settings.result_zero)) * (b - format.value(settings.operand_zero));
    // Two operations, each rounded: no compiler may make one of them.
    const volatile float scaled = static_cast<float>(product) * scale;
    sum = scaled + offset;
  }
  const int whole = static_cast<int>(std::nearbyint(std::clamp(sum, -1024.0F, 1024.0F)));
  return moved(settings.result_moved, std::clamp(whole, format.value(settings.function_min),
                                                 format.value(settings.function_max)));
}

std::pair<std::uint32_t, std::uint32_t> vector_lanes(const StoreCommand& settings,
                                                     std::uint32_t n) {
  const std::uint32_t first = settings.first_lane;
  return {first, settings.lanes == 0 ? n : first + settings.lanes};
}

}  // namespace gemm64
