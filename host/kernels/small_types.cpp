// SPDX-License-Identifier: Apache-2.0
#include "host/kernels/small_types.hpp"

#include <cmath>
#include <limits>
#include <map>

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

}  // namespace gemm64
