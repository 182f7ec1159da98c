// SPDX-License-Identifier: Apache-2.0
// Einsum: sums of products over named axes.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "host/graph/proto/tensor_data.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"

namespace gemm64 {
namespace host {
namespace {

/// Axes of a term: a letter each; those of an ellipsis are the characters from 1 on, the last
/// one 1.
using Axes = std::string;

struct Equation {
  std::vector<Axes> terms;
  Axes output;
};

Equation read_equation(const NodeContext& node, const Tensors& inputs) {
  const std::string text = attribute(*node.node, "equation", std::string());
  const auto wrong = [&](const std::string& why) {
    return failure(node, fmt::format("equation '{}': {}", printable(text), why));
  };
  std::string clean;
  for (const char c : text) {
    if (c != ' ') clean += c;
  }
  const std::size_t arrow = clean.find("->");
  std::vector<std::string> terms{""};
  for (const char c : clean.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (terms.size() != inputs.size())
    throw wrong(fmt::format("{} terms for {} inputs", terms.size(), inputs.size()));
  std::size_t widest = 0;  // ellipsis
  Equation equation;
  const auto axes_of = [&](const std::string& term, std::size_t hidden) {
    Axes axes;
    for (std::size_t i = 0; i < term.size(); ++i) {
      if (term.compare(i, 3, "...") == 0) {
        for (std::size_t h = hidden; h > 0; --h) axes += static_cast<char>(h);
        i += 2;
      } else if (std::isalpha(static_cast<unsigned char>(term[i])) != 0) {
        axes += term[i];
      } else {
        throw wrong(fmt::format("'{}' is no letter", term[i]));
      }
    }
    return axes;
  };
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t rank = input(node, inputs, i).rank();
    const bool open = terms[i].find("...") != std::string::npos;
    const std::size_t named = axes_of(terms[i], 0).size();
    if (open ? named > rank : named != rank)
      throw wrong(fmt::format("'{}' for {}", terms[i], describe(inputs[i])));
    if (rank - named > 32) throw wrong("too many axes");
    widest = std::max(widest, open ? rank - named : 0);
    equation.terms.push_back(axes_of(terms[i], rank - named));
  }
  if (arrow != std::string::npos) {
    equation.output = axes_of(clean.substr(arrow + 2), widest);
  } else {
    // Without an arrow: the ellipsis, then the letters that stand once, in their order.
    std::map<char, int> seen;
    for (const Axes& axes : equation.terms) {
      for (const char axis : axes) ++seen[axis];
    }
    for (std::size_t h = widest; h > 0; --h) equation.output += static_cast<char>(h);
    for (const auto& [axis, count] : seen) {
      if (axis > 32 && count == 1) equation.output += axis;
    }
  }
  return equation;
}

}  // namespace

Tensors einsum(const NodeContext& node, const Tensors& inputs) {
  const Equation equation = read_equation(node, inputs);
  std::map<char, std::int64_t> sizes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type() != inputs[0].type()) require_same_type(node, inputs[0], inputs[i]);
    for (std::size_t a = 0; a < equation.terms[i].size(); ++a) {
      std::int64_t& size = sizes.try_emplace(equation.terms[i][a], 1).first->second;
      const std::int64_t dim = inputs[i].dim(a);
      if (size != 1 && dim != 1 && size != dim) {
        throw failure(node, fmt::format("an axis is {} of one input and {} of another", size, dim));
      }
      if (size == 1) size = dim;
    }
  }
  // The output's axes first, then those that are summed.
  Axes order = equation.output;
  for (const char axis : order) {
    if (sizes.count(axis) == 0)
      throw failure(node, fmt::format("no input has the output's axis '{}'", axis));
  }
  for (const auto& [axis, size] : sizes) {
    if (order.find(axis) == Axes::npos) order += axis;
  }
  Dims dims, loop;
  for (std::size_t i = 0; i < order.size(); ++i) {
    loop.push_back(sizes[order[i]]);
    if (i < equation.output.size()) dims.push_back(loop.back());
  }
  std::vector<Dims> strides;  // of each input along each axis of the loop
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Dims own = row_major_strides(inputs[i].dims());
    strides.emplace_back(order.size(), 0);
    for (std::size_t a = 0; a < own.size(); ++a) {
      if (inputs[i].dim(a) != 1) strides.back()[order.find(equation.terms[i][a])] += own[a];
    }
  }
  std::int64_t inner = 1;
  for (std::size_t i = equation.output.size(); i < loop.size(); ++i) inner *= loop[i];
  return {visit_numbers(node, inputs[0].type(), [&](auto zero) {
    using T = decltype(zero);
    using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    Tensor result(inputs[0].type(), dims);
    Dims at(order.size(), 0), places(inputs.size(), 0);
    for (std::int64_t i = 0; i < result.elements(); ++i) {
      Sum sum = 0;
      for (std::int64_t j = 0; j < inner; ++j) {
        Sum product = 1;
        for (std::size_t t = 0; t < inputs.size(); ++t) {
          product *= static_cast<Sum>(inputs[t].values<T>()[places[t]]);
        }
        sum += product;
        for (std::size_t a = order.size(); a-- > 0;) {
          const bool wraps = ++at[a] == loop[a];
          for (std::size_t t = 0; t < inputs.size(); ++t) {
            places[t] += wraps ? -(loop[a] - 1) * strides[t][a] : strides[t][a];
          }
          if (!wraps) break;
          at[a] = 0;
        }
      }
      result.mutable_values<T>()[i] = static_cast<T>(sum);
    }
    return result;
  })};
}

}  // namespace host
}  // namespace gemm64
