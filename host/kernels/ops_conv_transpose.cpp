// SPDX-License-Identifier: Apache-2.0
// ConvTranspose: each value of the input is multiplied into a window of the output, by a product
// and a walk that adds up where windows overlap. Of float32 in ONNX Runtime's order: the bias last.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "host/kernels/float_product.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"
#include "host/numerics/matrix.hpp"

namespace gemm64 {
namespace host {
namespace {

struct Scatter {
  Dims kernel, strides, dilations, begin, output;
};

Dims sizes(const NodeContext& node, const char* name, std::size_t count, std::int64_t otherwise,
           std::int64_t least) {
  constexpr std::int64_t kMax = std::int64_t{1} << 30;
  const Dims values = attribute(*node.node, name, Dims(count, otherwise));
  bool fits = values.size() == count;
  for (const std::int64_t value : values) fits = fits && value >= least && value <= kMax;
  if (!fits) {
    throw failure(node, fmt::format("{} is {}; {} numbers of at least {} are needed", name,
                                    dims_text(values), count, least));
  }
  return values;
}

Scatter make_scatter(const NodeContext& node, const Dims& spatial, const Dims& kernel) {
  const std::size_t axes = kernel.size();
  Scatter scatter{kernel, sizes(node, "strides", axes, 1, 1), sizes(node, "dilations", axes, 1, 1),
                  Dims(axes), Dims(axes)};
  const Dims pads = sizes(node, "pads", 2 * axes, 0, 0);
  const Dims extra = sizes(node, "output_padding", axes, 0, 0);
  const std::string automatic = attribute(*node.node, "auto_pad", std::string("NOTSET"));
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  const bool given = find_attribute(node, "output_shape") != nullptr;
  Dims wanted = given ? sizes(node, "output_shape", axes, 0, 1) : Dims(axes);
  for (std::size_t i = 0; i < axes; ++i) {
    // All that windows touch.
    const std::int64_t whole = scatter.strides[i] * (spatial[i] - 1) + extra[i] +
                               (kernel[i] - 1) * scatter.dilations[i] + 1;
    if (!given && same) wanted[i] = spatial[i] * scatter.strides[i];
    if (given || same) {
      const std::int64_t cut = std::max<std::int64_t>(whole - wanted[i], 0);
      // What is odd goes to the end with SAME_UPPER, else to the beginning.
      scatter.begin[i] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
      scatter.output[i] = wanted[i];
    } else {
      const bool padded = automatic == "NOTSET";
      scatter.begin[i] = padded ? pads[i] : 0;
      scatter.output[i] = whole - scatter.begin[i] - (padded ? pads[axes + i] : 0);
    }
    if (scatter.output[i] < 1) {
      throw failure(
          node, fmt::format("its padding leaves {} values of axis {}", scatter.output[i], i + 2));
    }
  }
  return scatter;
}

/// Counts through `dims`, the last fastest; false after the end.
bool next(const Dims& dims, Dims& at) {
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    if (++at[axis] < dims[axis]) return true;
    at[axis] = 0;
  }
  return false;
}

/// Adds the values that tap `tap` of the kernel makes, one for each position of the input, to a
/// plane of the output.
template <class T>
void add_tap(const Scatter& scatter, const Dims& spatial, const Dims& tap, const T* from, T* to) {
  Dims at(spatial.size(), 0);
  std::int64_t position = 0;
  do {
    std::int64_t place = 0;
    bool inside = true;
    for (std::size_t i = 0; i < spatial.size(); ++i) {
      const std::int64_t x =
          at[i] * scatter.strides[i] + tap[i] * scatter.dilations[i] - scatter.begin[i];
      inside = inside && x >= 0 && x < scatter.output[i];
      place = place * scatter.output[i] + x;
    }
    if (inside) to[place] += from[position];
    ++position;
  } while (next(spatial, at));
}

std::int64_t product(const Dims& dims) {
  std::int64_t result = 1;
  for (const std::int64_t dim : dims) result *= dim;
  return result;
}

struct Sizes {
  std::int64_t m, n, k;
};

/// weights [k, m] transposed, times values [k, n].
template <class T>
Matrix<T> products_of(const T* values, const T* weights, const Sizes& sizes) {
  const auto [m, n, k] = sizes;
  if constexpr (std::is_same_v<T, float>) {
    Matrix<T> products(m, n);
    multiply({m, n, k, {weights, m, true}, {values, n}}, products.data());
    return products;
  } else {
    using Map = Eigen::Map<const Matrix<T>>;
    return Map(weights, k, m).transpose() * Map(values, k, n);
  }
}

template <class T>
Tensor conv_transpose_of(const NodeContext& node, const Tensor& x, const Tensor& weights,
                         const Tensor& bias, std::int64_t groups) {
  const Dims spatial(x.dims().begin() + 2, x.dims().end());
  const Dims kernel(weights.dims().begin() + 2, weights.dims().end());
  const Scatter scatter = make_scatter(node, spatial, kernel);
  const std::int64_t inputs = x.dim(1) / groups;
  const std::int64_t outputs = weights.dim(1);
  Dims dims{x.dim(0), outputs * groups};
  dims.insert(dims.end(), scatter.output.begin(), scatter.output.end());
  Tensor result(x.type(), dims);
  const std::int64_t plane = product(scatter.output);
  const std::int64_t positions = product(spatial);
  const std::int64_t taps = product(kernel);
  std::fill_n(result.mutable_values<T>(), result.elements(), T{0});
  for (std::int64_t image = 0; positions != 0 && image < x.dim(0); ++image) {
    for (std::int64_t group = 0; group < groups; ++group) {
      const Matrix<T> products =
          products_of(x.values<T>() + (image * groups + group) * inputs * positions,
                      weights.values<T>() + group * inputs * outputs * taps,
                      {outputs * taps, positions, inputs});
      for (std::int64_t output = 0; output < outputs; ++output) {
        T* to = result.mutable_values<T>() + ((image * groups + group) * outputs + output) * plane;
        Dims tap(kernel.size(), 0);
        std::int64_t row = output * taps;
        do {
          add_tap(scatter, spatial, tap, products.data() + row++ * positions, to);
        } while (next(kernel, tap));
      }
    }
  }
  for (std::int64_t i = 0; bias.present() && i < result.elements(); ++i) {
    result.mutable_values<T>()[i] += bias.values<T>()[i / plane % dims[1]];
  }
  return result;
}

}  // namespace

Tensors conv_transpose(const NodeContext& node, const Tensors& inputs) {
  const Tensor& x = input(node, inputs, 0);
  const Tensor& weights = input(node, inputs, 1);
  const Tensor& bias = optional_input(inputs, 2);
  const std::int64_t groups = attribute(*node.node, "group", std::int64_t{1});
  require_same_type(node, x, weights);
  if (bias.present()) require_same_type(node, x, bias);
  const bool fits = x.rank() >= 3 && weights.rank() == x.rank() && groups >= 1 &&
                    x.dim(1) % groups == 0 && weights.dim(0) == x.dim(1) &&
                    weights.elements() != 0 &&
                    (!bias.present() || bias.dims() == Dims{weights.dim(1) * groups});
  if (!fits) {
    throw failure(node, fmt::format("weights of {} in {} groups do not fit {}", describe(weights),
                                    groups, describe(x)));
  }
  return {visit_floats(node, x.type(), [&](auto zero) {
    return conv_transpose_of<decltype(zero)>(node, x, weights, bias, groups);
  })};
}

}  // namespace host
}  // namespace gemm64
