// SPDX-License-Identifier: Apache-2.0
// Conv, MaxPool and AveragePool against their definition, written down as a loop over everything.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>

#include "host/kernels/window.hpp"
#include "host/util/error.hpp"
#include "tests/unit/execute/run_node.hpp"

namespace gemm64 {
namespace {

struct Shape {
  Dims input;  // spatial
  Dims kernel, strides, dilations, begin, end;

  std::int64_t output(std::size_t axis) const {
    const std::int64_t reach = (kernel[axis] - 1) * dilations[axis] + 1;
    return (input[axis] + begin[axis] + end[axis] - reach) / strides[axis] + 1;
  }
  std::string attributes() const {
    Dims pads = begin;
    pads.insert(pads.end(), end.begin(), end.end());
    return fmt::format("kernel_shape = [{}], strides = [{}], dilations = [{}], pads = [{}]",
                       fmt::join(kernel, ", "), fmt::join(strides, ", "),
                       fmt::join(dilations, ", "), fmt::join(pads, ", "));
  }
};

Shape random_shape(std::size_t axes, std::mt19937& random, bool dilated) {
  const auto draw = [&](int low, int high) {
    return low + static_cast<std::int64_t>(random() % static_cast<unsigned>(high - low + 1));
  };
  Shape shape;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    shape.kernel.push_back(draw(1, 4));
    shape.strides.push_back(draw(1, 3));
    shape.dilations.push_back(dilated ? draw(1, 3) : 1);
    // Less than the kernel, so that no window is empty.
    shape.begin.push_back(draw(0, static_cast<int>(shape.kernel[axis]) - 1));
    shape.end.push_back(draw(0, static_cast<int>(shape.kernel[axis]) - 1));
    const std::int64_t reach = (shape.kernel[axis] - 1) * shape.dilations[axis] + 1;
    shape.input.push_back(reach + draw(0, 6));
  }
  return shape;
}

/// Calls body(index) for each index below `dims`, in row-major order.
void for_each(const Dims& dims, const std::function<void(const Dims&)>& body) {
  const std::int64_t count =
      std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t i = 0; i < count; ++i) {
    Dims index(dims.size());
    std::int64_t rest = i;
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      index[axis] = rest % dims[axis];
      rest /= dims[axis];
    }
    body(index);
  }
}

/// The offset in the input under tap `tap` of window `at`; -1 in the padding.
std::int64_t offset_of(const Shape& shape, const Dims& at, const Dims& tap) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    const std::int64_t position =
        at[axis] * shape.strides[axis] - shape.begin[axis] + tap[axis] * shape.dilations[axis];
    if (position < 0 || position >= shape.input[axis]) return -1;
    offset = offset * shape.input[axis] + position;
  }
  return offset;
}

Dims outputs_of(const Shape& shape) {
  Dims dims;
  for (std::size_t axis = 0; axis < shape.input.size(); ++axis) dims.push_back(shape.output(axis));
  return dims;
}

Dims batch_of(std::int64_t images, std::int64_t channels, const Dims& spatial) {
  Dims dims{images, channels};
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return dims;
}

std::int64_t product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

class Windows : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Axes, Windows, testing::Values(1U, 2U, 3U));

TEST_P(Windows, ConvIsItsDefinition) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const Shape shape = random_shape(GetParam(), random, true);
    const std::int64_t groups = 1 + seed % 3;
    const std::int64_t in = 1 + seed % 2, out = 1 + seed % 4;  // channels of each group
    const Tensor x = random_floats(batch_of(2, groups * in, shape.input), random);
    const Tensor w = random_floats(batch_of(groups * out, in, shape.kernel), random);
    const Tensor bias = seed % 2 == 0 ? random_floats({groups * out}, random) : Tensor();

    const Tensor y =
        run_node(fmt::format("y = Conv <group = {}, {}> (x, w, b)", groups, shape.attributes()),
                 {x, w, bias})[0];
    const Dims outputs = outputs_of(shape);
    ASSERT_EQ(y.dims(), batch_of(2, groups * out, outputs));
    const std::int64_t plane = product(shape.input), window = product(shape.kernel);
    const float* found = y.values<float>();
    for_each({2, groups * out}, [&](const Dims& map) {
      for_each(outputs, [&](const Dims& at) {
        float sum = bias.present() ? bias.values<float>()[map[1]] : 0;
        for (std::int64_t c = 0; c < in; ++c) {
          const std::int64_t channel = map[0] * groups * in + map[1] / out * in + c;
          std::int64_t tap_number = 0;
          for_each(shape.kernel, [&](const Dims& tap) {
            const std::int64_t offset = offset_of(shape, at, tap);
            const float weight = w.values<float>()[(map[1] * in + c) * window + tap_number++];
            if (offset >= 0) sum += weight * x.values<float>()[channel * plane + offset];
          });
        }
        EXPECT_EQ(*found++, sum);
      });
    });
    if (HasFailure()) return;
  }
}

TEST_P(Windows, MaxPoolIsItsDefinitionAndSaysWhere) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const Shape shape = random_shape(GetParam(), random, true);
    const Tensor x = random_floats(batch_of(2, 3, shape.input), random);
    const std::string node = fmt::format("MaxPool <{}> (x)", shape.attributes());
    const Tensors both = run_node("y, places = " + node, {x});
    EXPECT_EQ(values_of<float>(run_node("y = " + node, {x})[0]), values_of<float>(both[0]));
    const Dims outputs = outputs_of(shape);
    ASSERT_EQ(both[0].dims(), batch_of(2, 3, outputs));
    const float* found = both[0].values<float>();
    const std::int64_t* places = both[1].values<std::int64_t>();
    for (std::int64_t map = 0; map < 6; ++map) {
      const float* plane = x.values<float>() + map * product(shape.input);
      for_each(outputs, [&](const Dims& at) {
        std::int64_t place = -1;
        for_each(shape.kernel, [&](const Dims& tap) {
          const std::int64_t offset = offset_of(shape, at, tap);
          if (offset >= 0 && (place < 0 || plane[offset] > plane[place])) place = offset;
        });
        // Every window of these reaches the input, unless dilation steps over it.
        if (place < 0) {
          EXPECT_EQ(*found, -std::numeric_limits<float>::infinity());
        } else {
          EXPECT_EQ(*found, plane[place]);
          EXPECT_EQ(*places, map * product(shape.input) + place);
        }
        ++found;
        ++places;
      });
    }
    if (HasFailure()) return;
  }
}

TEST_P(Windows, AveragePoolIsItsDefinition) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    const Shape shape = random_shape(GetParam(), random, false);
    const bool with_padding = seed % 2 == 0;
    const Tensor x = random_floats(batch_of(1, 2, shape.input), random);
    const Tensor y = run_node(fmt::format("y = AveragePool <count_include_pad = {}, {}> (x)",
                                          with_padding ? 1 : 0, shape.attributes()),
                              {x})[0];
    const Dims outputs = outputs_of(shape);
    ASSERT_EQ(y.dims(), batch_of(1, 2, outputs));
    const float* found = y.values<float>();
    for (std::int64_t map = 0; map < 2; ++map) {
      const float* plane = x.values<float>() + map * product(shape.input);
      for_each(outputs, [&](const Dims& at) {
        double sum = 0;
        std::int64_t count = 0;
        for_each(shape.kernel, [&](const Dims& tap) {
          const std::int64_t offset = offset_of(shape, at, tap);
          if (offset >= 0) sum += static_cast<double>(plane[offset]);
          if (offset >= 0 || with_padding) ++count;
        });
        EXPECT_NEAR(*found++, sum / static_cast<double>(count), 1e-5);
      });
    }
    if (HasFailure()) return;
  }
}

Dims pooled(const std::string& attributes, std::int64_t size) {
  std::mt19937 random(1);
  const Tensor x = random_floats({1, 1, size}, random);
  return run_node(fmt::format("y = MaxPool <{}> (x)", attributes), {x})[0].dims();
}

TEST(CeilMode, CountsAWindowThatIsOnlyBegun) {
  EXPECT_EQ(pooled("kernel_shape = [3], strides = [2]", 6), (Dims{1, 1, 2}));
  EXPECT_EQ(pooled("kernel_shape = [3], strides = [2], ceil_mode = 1", 6), (Dims{1, 1, 3}));
}

// Three windows by the division; the third would start behind the last value.
TEST(CeilMode, LeavesOutAWindowThatStartsInThePadding) {
  const std::string attributes = "kernel_shape = [2], strides = [3], pads = [0, 1], ceil_mode = 1";
  EXPECT_EQ(pooled(attributes, 4), (Dims{1, 1, 2}));
  EXPECT_EQ(pooled(attributes, 3), (Dims{1, 1, 1}));
}

TEST(CeilMode, DividesByWhatIsInsideThePaddedInput) {
  const Tensor y = run_node(
      "y = AveragePool <kernel_shape = [3], strides = [2], pads = [1, 0], ceil_mode = 1, "
      "count_include_pad = 1> (x)",
      {floats({1, 1, 5}, {1, 2, 3, 4, 5})})[0];
  EXPECT_EQ(values_of<float>(y), (std::vector<float>{1, 3, 4.5F}));  // (0+1+2)/3, 9/3, (4+5)/2
}

TEST(AutoPad, PutsTheOddValueWhereItSays) {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4});
  const Tensor w = floats({1, 1, 2}, {1, 10});
  EXPECT_EQ(values_of<float>(run_node("y = Conv <auto_pad = \"SAME_UPPER\"> (x, w)", {x, w})[0]),
            (std::vector<float>{21, 32, 43, 4}));
  EXPECT_EQ(values_of<float>(run_node("y = Conv <auto_pad = \"SAME_LOWER\"> (x, w)", {x, w})[0]),
            (std::vector<float>{10, 21, 32, 43}));
  EXPECT_EQ(values_of<float>(run_node("y = Conv <auto_pad = \"VALID\"> (x, w)", {x, w})[0]),
            (std::vector<float>{21, 32, 43}));
}

TEST(MaxPool, CountsColumnByColumnWhereAsked) {
  const Tensor x = floats({1, 1, 2, 3}, {0, 0, 9, 0, 0, 0});
  const std::string attributes = "kernel_shape = [2, 3]";
  const auto place = [&](const char* more) {
    return *run_node(fmt::format("y, i = MaxPool <{}{}> (x)", attributes, more), {x})[1]
                .values<std::int64_t>();
  };
  EXPECT_EQ(place(""), 2);
  EXPECT_EQ(place(", storage_order = 1"), 4);
}

TEST(Windows, RefuseAttributesThatDoNotFit) {
  const Tensor x = floats({1, 1, 4}, {1, 2, 3, 4});
  for (const char* attributes :
       {"kernel_shape = [5]", "kernel_shape = [2, 2]", "kernel_shape = [0]",
        "kernel_shape = [2], strides = [0]", "kernel_shape = [2], pads = [1]",
        "kernel_shape = [2], pads = [-1, 0]", "kernel_shape = [2], auto_pad = \"SAME\"",
        "kernel_shape = [9223372036854775807]",
        "kernel_shape = [2], dilations = [9223372036854775807]",
        "kernel_shape = [2], pads = [9223372036854775807, 9223372036854775807]"}) {
    EXPECT_THROW(run_node(fmt::format("y = MaxPool <{}> (x)", attributes), {x}), UsageError)
        << attributes;
  }
  EXPECT_THROW(run_node("y = Conv (x, w)", {x, floats({1, 2, 1}, {1, 1})}), UsageError);
  EXPECT_THROW(run_node("y = Conv <group = 2> (x, w)", {x, floats({1, 1, 1}, {1})}), UsageError);
  EXPECT_THROW(run_node("y = Conv (x, w, b)", {x, floats({1, 1, 1}, {1}), floats({2}, {1, 1})}),
               UsageError);
}

}  // namespace
}  // namespace gemm64
