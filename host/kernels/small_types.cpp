// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/small_types.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace gemm64 {
namespace {

using onnx::TensorProto;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::uint8_t kPowerNan = 0xff;
constexpr int kPowerBias = 127;

/// A sign, an exponent and a mantissa.
struct FloatForm {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;       // the highest exponent is infinity and NaN
  bool nan_is_minus_zero;  // ... or -0 is the only NaN; else, with 8 bits, all ones are

  int sign_bit() const { return exponent_bits + mantissa_bits; }
};

const std::map<DataType, FloatForm>& float_forms() {
  static const std::map<DataType, FloatForm> forms{
      {TensorProto::FLOAT8E4M3FN, {4, 3, 7, false, false}},
      {TensorProto::FLOAT8E4M3FNUZ, {4, 3, 8, false, true}},
      {TensorProto::FLOAT8E5M2, {5, 2, 15, true, false}},
      {TensorProto::FLOAT8E5M2FNUZ, {5, 2, 16, false, true}},
      {TensorProto::FLOAT4E2M1, {2, 1, 1, false, false}}};
  return forms;
}

const FloatForm* form_of(DataType type) {
  const auto found = float_forms().find(type);
  return found == float_forms().end() ? nullptr : &found->second;
}

float decode_float(const FloatForm& form, unsigned bits) {
  const bool negative = (bits >> form.sign_bit()) != 0;
  const unsigned magnitude = bits & ((1U << form.sign_bit()) - 1);
  const auto exponent = static_cast<int>(magnitude >> form.mantissa_bits);
  const auto mantissa = static_cast<int>(magnitude & ((1U << form.mantissa_bits) - 1));
  if (form.nan_is_minus_zero && negative && magnitude == 0) return kNan;
  if (form.has_infinity && exponent == (1 << form.exponent_bits) - 1) {
    return mantissa != 0 ? kNan : negative ? -kInfinity : kInfinity;
  }
  const bool all_ones = magnitude == (1U << form.sign_bit()) - 1;
  if (!form.has_infinity && !form.nan_is_minus_zero && form.sign_bit() == 7 && all_ones) {
    return kNan;
  }
  const float value =
      exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - form.bias - form.mantissa_bits)
                    : std::ldexp(static_cast<float>(mantissa + (1 << form.mantissa_bits)),
                                 exponent - form.bias - form.mantissa_bits);
  return negative ? -value : value;
}

/// All finite values from 0 up: index and bits are the same.
const std::vector<double>& values_of(DataType type) {
  static const std::map<DataType, std::vector<double>> all = [] {
    std::map<DataType, std::vector<double>> values;
    for (const auto& [one, form] : float_forms()) {
      for (unsigned bits = 0; bits < 1U << form.sign_bit(); ++bits) {
        const float value = decode_float(form, bits);
        if (!std::isfinite(value)) break;
        values[one].push_back(static_cast<double>(value));
      }
    }
    return values;
  }();
  return all.at(type);
}

std::uint8_t encode_float(DataType type, const FloatForm& form, double value, bool saturate) {
  const std::vector<double>& values = values_of(type);
  const unsigned sign = std::signbit(value) ? 1U << form.sign_bit() : 0;
  const auto largest = static_cast<unsigned>(values.size() - 1);
  const bool is_four_bit = form.sign_bit() == 3;
  const unsigned nan = form.nan_is_minus_zero ? 0x80 : sign | (form.has_infinity ? 0x7e : 0x7f);
  // Four bits hold no NaN: -0 stands for it, as elsewhere.
  if (std::isnan(value)) return static_cast<std::uint8_t>(is_four_bit ? 0x8 : nan);
  const double magnitude = std::abs(value);
  // The next value that there would be: where it is the nearest, the result is beyond the range.
  const double beyond = 2 * values[largest] - values[largest - 1];
  const auto above = std::lower_bound(values.begin(), values.end(), magnitude);
  auto bits = static_cast<unsigned>(above - values.begin());
  if (bits != 0) {
    const double high = bits <= largest ? values[bits] : beyond;
    const double low = values[bits - 1];
    const double middle = (low + high) / 2;
    if (magnitude < middle || (magnitude == middle && bits % 2 != 0)) --bits;
  }
  if (bits > largest) {
    if (saturate || is_four_bit) {
      bits = largest;
    } else {
      return static_cast<std::uint8_t>(form.has_infinity ? sign | (largest + 1) : nan);
    }
  }
  if (form.nan_is_minus_zero && bits == 0) return 0;
  return static_cast<std::uint8_t>(sign | bits);
}

/// Powers of two have no sign: that of the value is left out.
std::uint8_t encode_power(double value, const SmallRounding& rounding) {
  if (std::isnan(value)) return kPowerNan;
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return rounding.saturate ? kPowerNan - 1 : kPowerNan;
  if (magnitude == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent) * 2;  // from 1 to below 2
  --exponent;
  const bool up = rounding.power == PowerRounding::kUp        ? fraction > 1
                  : rounding.power == PowerRounding::kNearest ? fraction >= 1.5
                                                              : false;
  exponent += up ? 1 : 0;
  if (exponent > kPowerBias) return rounding.saturate ? kPowerNan - 1 : kPowerNan;
  return static_cast<std::uint8_t>(std::max(exponent, -kPowerBias) + kPowerBias);
}

struct IntegerForm {
  unsigned bits;
  bool is_signed;
};

const IntegerForm* integer_form_of(DataType type) {
  static const std::map<DataType, IntegerForm> forms{{TensorProto::INT4, {4, true}},
                                                     {TensorProto::UINT4, {4, false}},
                                                     {TensorProto::INT2, {2, true}},
                                                     {TensorProto::UINT2, {2, false}}};
  const auto found = forms.find(type);
  return found == forms.end() ? nullptr : &found->second;
}

}  // namespace

bool is_small_type(DataType type) {
  return type == TensorProto::FLOAT8E8M0 || form_of(type) != nullptr ||
         integer_form_of(type) != nullptr;
}

float decode_small(DataType type, std::uint8_t bits) {
  if (type == TensorProto::FLOAT8E8M0) {
    return bits == kPowerNan ? kNan : std::ldexp(1.0F, int{bits} - kPowerBias);
  }
  if (const IntegerForm* form = integer_form_of(type)) {
    const bool negative = form->is_signed && (bits >> (form->bits - 1)) != 0;
    return static_cast<float>(int{bits} - (negative ? 1 << form->bits : 0));
  }
  return decode_float(*form_of(type), bits);
}

std::uint8_t encode_small(DataType type, double value, const SmallRounding& rounding) {
  if (type == TensorProto::FLOAT8E8M0) return encode_power(value, rounding);
  if (const IntegerForm* form = integer_form_of(type)) {
    constexpr double kMax = 9e18;
    const double cut = std::isnan(value) ? 0.0 : std::clamp(std::trunc(value), -kMax, kMax);
    return static_cast<std::uint8_t>(static_cast<std::uint64_t>(static_cast<std::int64_t>(cut)) &
                                     ((1U << form->bits) - 1));
  }
  return encode_float(type, *form_of(type), value, rounding.saturate);
}

}  // namespace gemm64
