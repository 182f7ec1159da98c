// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "host/graph/onnx/shape_rules.hpp"
#include "host/graph/proto/tensor_data.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace shapes {

namespace {

/// A list that older opsets give as an attribute and newer ones as input `i`.
Dims list_or_input(const RuleNode& node, const char* name, int i) {
  return node.has_attribute(name) ? node.list(name) : node.needed_integers(i);
}

std::int64_t elements_of(const RuleNode& node, const Dims& dims) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) {
    const auto product = checked_product(elements, dim);
    node.require(product.has_value(), fmt::format("{} values are too many", dims_text(dims)));
    elements = *product;
  }
  return elements;
}

}  // namespace

void reshape(RuleNode& node) {
  const Dims x = node.dims(0);
  const Dims asked = list_or_input(node, "shape", 1);
  const bool zero_means_zero = node.integer("allowzero", 0) != 0;
  Dims result = asked;
  std::int64_t known = 1;
  std::size_t open = result.size();
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 0 && !zero_means_zero) {
      node.require(i < x.size(), fmt::format("{} cannot become {}: there is no dimension {} to "
                                             "keep",
                                             dims_text(x), dims_text(asked), i));
      result[i] = x[i];
    }
    if (result[i] == -1) {
      node.require(open == result.size(), fmt::format("{} cannot become {}: two dimensions are "
                                                      "open",
                                                      dims_text(x), dims_text(asked)));
      open = i;
      continue;
    }
    const auto product = checked_product(known, result[i]);
    node.require(product.has_value(),
                 fmt::format("{} cannot become {}", dims_text(x), dims_text(asked)));
    known = *product;
  }
  const std::int64_t elements = elements_of(node, x);
  if (open < result.size()) {
    node.require(known != 0 && elements % known == 0,
                 fmt::format("{} cannot become {}: {} values are not a multiple of {}",
                             dims_text(x), dims_text(asked), elements, known));
    result[open] = elements / known;
  } else {
    node.require(elements == known, fmt::format("{} cannot become {}: {} values are not {}",
                                                dims_text(x), dims_text(asked), elements, known));
  }
  node.set(0, node.input(0).data_type, result);
}

void flatten(RuleNode& node) {
  const Dims x = node.dims(0);
  const std::int64_t rank = static_cast<std::int64_t>(x.size());
  std::int64_t axis = node.integer("axis", 1);
  node.require(axis >= -rank && axis <= rank,
               fmt::format("axis {} of a tensor of {}", axis,
                           counted(static_cast<std::uint64_t>(rank), "dimension")));
  if (axis < 0) axis += rank;
  const auto middle = x.begin() + axis;
  node.set(0, node.input(0).data_type,
           {elements_of(node, Dims(x.begin(), middle)), elements_of(node, Dims(middle, x.end()))});
}

void squeeze(RuleNode& node) {
  const Dims x = node.dims(0);
  const bool all = !node.has(1) && !node.has_attribute("axes");
  std::vector<bool> removed(x.size());
  if (all) {
    for (std::size_t i = 0; i < x.size(); ++i) removed[i] = x[i] == 1;
  } else {
    for (const std::int64_t axis : list_or_input(node, "axes", 1)) {
      const std::size_t i = node.axis(axis, x.size());
      node.require(x[i] == 1, fmt::format("axis {} of {} is not 1", i, dims_text(x)));
      removed[i] = true;
    }
  }
  Dims result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!removed[i]) result.push_back(x[i]);
  }
  node.set(0, node.input(0).data_type, result);
}

void unsqueeze(RuleNode& node) {
  const Dims x = node.dims(0);
  const Dims axes = list_or_input(node, "axes", 1);
  node.require(axes.size() <= 4096, "too many axes");
  std::vector<bool> added(x.size() + axes.size());
  for (const std::int64_t axis : axes) {
    const std::size_t i = node.axis(axis, added.size());
    node.require(!added[i], fmt::format("axis {} is named twice", i));
    added[i] = true;
  }
  Dims result;
  auto next = x.begin();
  for (const bool one : added) result.push_back(one ? 1 : *next++);
  node.set(0, node.input(0).data_type, result);
}

void transpose(RuleNode& node) {
  const Dims x = node.dims(0);
  Dims order(x.size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = node.list("perm", order);
  Dims sorted = order;
  std::sort(sorted.begin(), sorted.end());
  Dims all(x.size());
  std::iota(all.begin(), all.end(), 0);
  node.require(sorted == all,
               fmt::format("perm does not name each of {} dimensions once", x.size()));
  Dims result;
  for (const std::int64_t i : order) result.push_back(x[static_cast<std::size_t>(i)]);
  node.set(0, node.input(0).data_type, result);
}

void concat(RuleNode& node) {
  Dims result = node.dims(0);
  const std::size_t axis = node.axis(node.integer("axis", 1), result.size());
  for (int i = 1; i < node.inputs(); ++i) {
    const Dims& x = node.dims(i);
    bool fits = x.size() == result.size();
    for (std::size_t d = 0; fits && d < x.size(); ++d) fits = d == axis || x[d] == result[d];
    node.require(fits && x[axis] <= (std::int64_t{1} << 62) - result[axis],
                 fmt::format("{} cannot be concatenated with {} along axis {}", dims_text(x),
                             dims_text(result), axis));
    result[axis] += x[axis];
  }
  node.set(0, node.input(0).data_type, result);
}

/// QLinearConcat: Y's scale and zero point, then each part with its own.
void quantized_concat(RuleNode& node) {
  Dims result = node.dims(2);
  const std::size_t axis = node.axis(node.integer("axis", 1), result.size());
  for (int i = 5; i < node.inputs(); i += 3) {
    const Dims& x = node.dims(i);
    bool fits = x.size() == result.size();
    for (std::size_t d = 0; fits && d < x.size(); ++d) fits = d == axis || x[d] == result[d];
    node.require(fits && x[axis] <= (std::int64_t{1} << 62) - result[axis],
                 fmt::format("{} cannot be concatenated with {} along axis {}", dims_text(x),
                             dims_text(result), axis));
    result[axis] += x[axis];
  }
  node.set(0, node.input(2).data_type, result);
}

void split(RuleNode& node) {
  const Dims x = node.dims(0);
  const int type = node.input(0).data_type;
  const std::size_t axis = node.axis(node.integer("axis", 0), x.size());
  const std::int64_t parts = node.outputs();
  Dims sizes;
  if (node.has_attribute("split") || node.has(1)) {
    sizes = list_or_input(node, "split", 1);
  } else {
    // Since opset 18 the last part may be smaller.
    const bool uneven = node.opset() >= 18;
    const std::int64_t part = parts > 0 ? (x[axis] + parts - 1) / parts : 0;
    node.require(
        parts > 0 && (uneven ? part * (parts - 1) <= x[axis] : x[axis] % parts == 0),
        fmt::format("axis {} of {} cannot be split into {} even parts", axis, dims_text(x), parts));
    sizes.assign(static_cast<std::size_t>(parts), part);
    sizes.back() = x[axis] - part * (parts - 1);
  }
  std::int64_t sum = 0;
  bool fits = static_cast<std::int64_t>(sizes.size()) == parts;
  for (const std::int64_t size : sizes) {
    fits = fits && size >= 0 && size <= x[axis] - sum;
    if (fits) sum += size;
  }
  node.require(fits && sum == x[axis],
               fmt::format("its parts do not add up to axis {} of {}", axis, dims_text(x)));
  for (int i = 0; i < node.outputs(); ++i) {
    Dims part = x;
    part[axis] = sizes[static_cast<std::size_t>(i)];
    node.set(i, type, part);
  }
}

void slice(RuleNode& node) {
  const Dims x = node.dims(0);
  const bool old = node.opset() < 10;
  const Dims starts = old ? node.list("starts") : node.needed_integers(1);
  const Dims ends = old ? node.list("ends") : node.needed_integers(2);
  Dims axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (old) axes = node.list("axes", axes);
  if (!old && node.has(3)) axes = node.needed_integers(3);
  const Dims steps =
      !old && node.has(4) ? node.needed_integers(4) : Dims(starts.size(), std::int64_t{1});
  node.require(
      ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
      "starts, ends, axes and steps differ in number");
  Dims result = x;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = node.axis(axes[i], x.size());
    const std::int64_t size = x[axis];
    const std::int64_t step = steps[i];
    node.require(step != 0, "a step of 0");
    // Sizes are below 2^62, and ends come as extreme as 64 bits allow: cut before adding.
    const auto position = [size](std::int64_t at, std::int64_t least, std::int64_t most) {
      if (at < 0) at = at < -size ? -1 : at + size;
      return std::clamp(at, least, most);
    };
    std::int64_t count = 0;
    if (step > 0) {
      const std::int64_t begin = position(starts[i], 0, size);
      const std::int64_t end = position(ends[i], 0, size);
      if (end > begin) count = (end - begin - 1) / step + 1;
    } else if (size > 0) {
      // Backwards, a start before the first value is the first value; an end there takes it too.
      const std::int64_t begin = position(starts[i], 0, size - 1);
      const std::int64_t end = position(ends[i], -1, size - 1);
      if (begin > end) count = (begin - end - 1) / -std::max(step, -(std::int64_t{1} << 62)) + 1;
    }
    result[axis] = count;
  }
  node.set(0, node.input(0).data_type, result);
}

void pad(RuleNode& node) {
  const Dims x = node.dims(0);
  Dims pads;
  if (node.opset() >= 11) {
    pads = node.needed_integers(1);
  } else {
    pads = node.list(node.opset() >= 2 ? "pads" : "paddings");
  }
  Dims axes(x.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has(3)) axes = node.needed_integers(3);
  node.require(pads.size() == 2 * axes.size(),
               fmt::format("{} pads for {} dimensions, {} are needed", pads.size(), axes.size(),
                           2 * axes.size()));
  Dims result = x;
  for (std::size_t i = 0; i < pads.size(); ++i) {
    constexpr std::int64_t kMax = std::int64_t{1} << 61;
    std::int64_t& dim = result[node.axis(axes[i % axes.size()], x.size())];
    node.require(pads[i] >= -kMax && pads[i] <= kMax && dim <= kMax,
                 fmt::format("a pad of {}", pads[i]));
    dim += pads[i];
  }
  for (const std::int64_t dim : result) {
    node.require(dim >= 0,
                 fmt::format("negative pads take more than there is of {}", dims_text(x)));
  }
  node.set(0, node.input(0).data_type, result);
}

void gather(RuleNode& node) {
  const Dims x = node.dims(0);
  const Dims& indices = node.dims(1);
  const auto axis = static_cast<std::ptrdiff_t>(node.axis(node.integer("axis", 0), x.size()));
  if (const auto* known = node.integers(1)) {
    const std::int64_t size = x[static_cast<std::size_t>(axis)];
    for (const std::int64_t index : *known) {
      node.require(index >= -size && index < size,
                   fmt::format("index {} of {} values", index, size));
    }
  }
  Dims result(x.begin(), x.begin() + axis);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), x.begin() + axis + 1, x.end());
  node.set(0, node.input(0).data_type, result);
}

void gather_elements(RuleNode& node) {
  const Dims& indices = node.dims(1);
  node.set(0, node.input(0).data_type, indices);
}

void gather_nd(RuleNode& node) {
  const Dims x = node.dims(0);
  const Dims indices = node.dims(1);
  const std::int64_t batch = node.integer("batch_dims", 0);
  const auto rank = static_cast<std::int64_t>(x.size());
  const bool fits = !indices.empty() && batch >= 0 && batch <= rank && indices.back() >= 1 &&
                    indices.back() <= rank - batch;
  node.require(fits, fmt::format("indices of {} do not fit an input of {}", dims_text(indices),
                                 dims_text(x)));
  Dims result(indices.begin(), indices.end() - 1);
  result.insert(result.end(), x.begin() + batch + indices.back(), x.end());
  node.set(0, node.input(0).data_type, result);
}

void expand(RuleNode& node) {
  const Dims& x = node.dims(0);
  const Dims& asked = node.needed_integers(1);
  for (const std::int64_t dim : asked) node.require(dim >= 0, "it asks for a negative size");
  const Dims result = broadcast(node, x, asked);
  node.set(0, node.input(0).data_type, result);
}

void tile(RuleNode& node) {
  Dims result = node.dims(0);
  Dims repeats(result.size(), 1);
  if (node.opset() < 6) {
    const Dims& count = node.needed_integers(1);
    const Dims& axis = node.needed_integers(2);
    node.require(count.size() == 1 && axis.size() == 1, "it needs one count and one axis");
    repeats[node.axis(axis[0], result.size())] = count[0];
  } else {
    repeats = node.needed_integers(1);
    node.require(repeats.size() == result.size(),
                 fmt::format("{} repeats for {} dimensions", repeats.size(), result.size()));
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto product = checked_product(result[i], repeats[i]);
    node.require(product.has_value(), fmt::format("{} repeated {} times", result[i], repeats[i]));
    result[i] = *product;
  }
  node.set(0, node.input(0).data_type, result);
}

void depth_to_space(RuleNode& node) {
  Dims x = node.dims(0);
  const std::int64_t block = node.integer("blocksize", 0);
  const bool fits = x.size() == 4 && block >= 1 && block <= 4096 && x[1] % (block * block) == 0;
  node.require(fits, fmt::format("blocks of {} do not fit an input of {}", block, dims_text(x)));
  x[1] /= block * block;
  for (std::size_t i = 2; i < 4; ++i) {
    const auto product = checked_product(x[i], block);
    node.require(product.has_value(), "its output is too large");
    x[i] = *product;
  }
  node.set(0, node.input(0).data_type, x);
}

void space_to_depth(RuleNode& node) {
  Dims x = node.dims(0);
  const std::int64_t block = node.integer("blocksize", 0);
  const bool fits =
      x.size() == 4 && block >= 1 && block <= 4096 && x[2] % block == 0 && x[3] % block == 0;
  node.require(fits, fmt::format("blocks of {} do not fit an input of {}", block, dims_text(x)));
  const auto channels = checked_product(x[1], block * block);
  node.require(channels.has_value(), "its output is too large");
  node.set(0, node.input(0).data_type, {x[0], *channels, x[2] / block, x[3] / block});
}

namespace {

/// The sizes asked for along `axes`; a policy may keep their ratio.
Dims resized(const RuleNode& node, const Dims& x, const Dims& axes, const Dims& sizes) {
  node.require(sizes.size() == axes.size(),
               fmt::format("{} sizes for {} dimensions", sizes.size(), axes.size()));
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  Dims result = x;
  double common = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& dim = result[node.axis(axes[i], x.size())];
    const double ratio = static_cast<double>(sizes[i]) / static_cast<double>(dim);
    const bool smaller = policy == "not_larger" ? ratio < common : ratio > common;
    if (i == 0 || smaller) common = ratio;
    if (policy == "stretch") dim = sizes[i];
  }
  if (policy == "stretch") return result;
  for (const std::int64_t axis : axes) {
    std::int64_t& dim = result[node.axis(axis, x.size())];
    const double size = std::floor(common * static_cast<double>(dim) + 0.5);
    node.require(size >= 0 && size < 0x1p61, fmt::format("a scale of {}", common));
    dim = static_cast<std::int64_t>(size);
  }
  return result;
}

}  // namespace

/// Resize, and Upsample before it.
void resize(RuleNode& node) {
  const Dims x = node.dims(0);
  const int type = node.input(0).data_type;
  const bool upsample = node.proto().op_type() == "Upsample";
  const bool new_form = !upsample && node.opset() >= 11;
  Dims axes(x.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = node.list("axes", axes);
  if (new_form && node.has(3)) {
    node.set(0, type, resized(node, x, axes, node.needed_integers(3)));
    return;
  }
  std::vector<float> scales;
  if (upsample && node.opset() < 9) {
    for (const onnx::AttributeProto& attribute : node.proto().attribute()) {
      if (attribute.name() == "scales") {
        scales.assign(attribute.floats().begin(), attribute.floats().end());
      }
    }
  } else {
    scales = node.needed_floats(new_form ? 2 : 1);
  }
  node.require(scales.size() == axes.size(),
               fmt::format("{} scales for {} dimensions", scales.size(), axes.size()));
  Dims result = x;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    std::int64_t& dim = result[node.axis(axes[i], x.size())];
    const double size = std::floor(static_cast<double>(dim) * static_cast<double>(scales[i]));
    node.require(scales[i] > 0 && size < 0x1p61, fmt::format("a scale of {}", scales[i]));
    dim = static_cast<std::int64_t>(size);
  }
  node.set(0, type, result);
}

}  // namespace shapes
}  // namespace gemm64
