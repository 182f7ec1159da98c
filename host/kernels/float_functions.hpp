// SPDX-License-Identifier: Apache-2.0
// The functions of one float32 that networks ask for, with the bits that ONNX Runtime 1.31 gives on
// x86-64 with AVX-512. Each is a polynomial, or a quotient of two, in a fixed order of fused
// operations; none is rounded correctly. Where a kernel of ONNX Runtime goes another way for some
// elements of a tensor, float_kernels does too.
//
// Sources: the coefficients are those of Eigen (tanh, logistic) and of N. Juffa's exp and erf, as
// ONNX Runtime's library MLAS lists them (onnxruntime/core/mlas/lib: compute.cpp, erf.cpp,
// logistic.cpp, tanh.cpp); the order of operations is that of its kernels for FMA and AVX-512.
//
// What includes this is compiled with -ffp-contract=off: products and sums are fused where std::fma
// says it.
#pragma once

#include <cmath>
#include <cstdint>

#include "host/util/float_bits.hpp"

namespace gemm64 {
namespace float_functions {

/// Horner's rule with fused operations, from the highest power down.
template <class... Coefficients>
inline float polynomial(float x, float highest, Coefficients... others) {
  float sum = highest;
  ((sum = std::fma(sum, x, others)), ...);
  return sum;
}

/// Within bounds; not a number stays.
inline float clamped(float x, float low, float high) {
  const float above = x < low ? low : x;
  return above > high ? high : above;
}

/// n of x = n ln 2 + rest with |rest| at most ln 2 / 2, still with the bias whose sum rounds to an
/// integer.
constexpr float kRoundingBias = 12582912.0F;  // 1.5 * 2^23

struct Reduced {
  float biased;  ///< n + kRoundingBias
  float rest;
};

inline Reduced reduced(float x) {
  const float biased = std::fma(x, 1.44269504088896341F, kRoundingBias);
  const float n = biased - kRoundingBias;
  return {biased, std::fma(n, -1.42860677e-6F, std::fma(n, -6.93145752e-1F, x))};
}

/// y times 2^n, rounded once; n from -150 to 129, biased as above.
inline float scaled(float y, float biased) {
  const auto n = static_cast<std::int32_t>(bits_of(biased) - bits_of(kRoundingBias));
  const std::int32_t first = n < -100 ? -64 : n > 100 ? 64 : 0;
  const auto power = [](std::int32_t e) {
    return from_bits((static_cast<std::uint32_t>(e) + 127U) << 23U);
  };
  return y * power(first) * power(n - first);
}

/// e^x; 0 below -103.97.
inline float exp(float x) {
  const Reduced r = reduced(clamped(x, -103.9720840454F, 89.0F));
  return scaled(polynomial(r.rest, 0x1.694p-10F, 0x1.125edcp-7F, 0x1.555b5ap-5F, 0x1.55545p-3F,
                           0x1.fffff6p-2F, 1.0F, 1.0F),
                r.biased);
}

/// 1 / (1 + e^-x).
inline float logistic(float value) {
  const float x = clamped(value, -18.0F, 18.0F);
  const float square = x * x;
  const float p =
      x * polynomial(square, 4.37031012579801e-11F, 1.15627324459942e-07F, 6.08574864600143e-05F,
                     8.51377133304701e-03F, 2.48287947061529e-01F);
  const float q =
      polynomial(square, 6.10247389755681e-13F, 5.76102136993427e-09F, 6.29106785017040e-06F,
                 1.70198817374094e-03F, 1.16817656904453e-01F, 9.93151921023180e-01F);
  const float y = p / q + 0.5F;
  return y < 0.0F ? 0.0F : y;
}

inline float tanh(float value) {
  const float x = clamped(value, -9.0F, 9.0F);
  const float square = x * x;
  const float p =
      x * polynomial(square, -2.76076847742355e-16F, 2.00018790482477e-13F, -8.60467152213735e-11F,
                     5.12229709037114e-08F, 1.48572235717979e-05F, 6.37261928875436e-04F,
                     4.89352455891786e-03F);
  const float q = polynomial(square, 1.19825839466702e-06F, 1.18534705686654e-04F,
                             2.26843463243900e-03F, 4.89352518554385e-03F);
  return p / q;
}

inline float erf(float value) {
  const float size = std::fabs(value);
  const float x = size > 3.925F ? 3.925F : size;
  const float square = x * x;
  const float near = std::fma(polynomial(square, -5.99104969e-4F, 4.99339588e-3F, -2.67667342e-2F,
                                         1.12818025e-1F, -3.76124859e-1F, 1.28379151e-1F),
                              x, x);
  const float exponent =
      std::fma(polynomial(x, 1.72948930e-5F, -3.83208680e-4F, 3.88393435e-3F, -2.42545605e-2F,
                          1.06777847e-1F, 6.34846687e-1F, 1.28717512e-1F),
               x, x);
  const Reduced r = reduced(-exponent);
  const float far = 1.0F - scaled(polynomial(r.rest, 1.38319808e-3F, 8.37550033e-3F, 4.16689515e-2F,
                                             1.66664466e-1F, 4.99999851e-1F, 1.0F, 1.0F),
                                  r.biased);
  return std::copysign(x > 0.921875F ? far : near, value);
}

/// x (1 + erf(x / sqrt 2)) / 2.
inline float gelu(float x) { return 0.5F * x * (erf(x * 0.70710678118654752F) + 1.0F); }

/// The same by the hyperbolic tangent.
inline float tanh_gelu(float x) {
  constexpr float kRootOfTwoByPi = 0.7978845608028654F;
  constexpr float kCubic = 0.035677408136300125F;  // 0.044715 of it
  return 0.5F * x * (tanh(x * (kCubic * x * x + kRootOfTwoByPi)) + 1.0F);
}

/// x times the logistic function of alpha x.
inline float quick_gelu(float x, float alpha) { return x * logistic(alpha * x); }

}  // namespace float_functions
}  // namespace gemm64
