// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/blocked_linear.hpp"

#include <fmt/format.h>

#include <vector>

namespace gemm64 {
namespace {

constexpr std::int64_t kPadTakesInputs = 11;      // opset from which pads are no attribute
constexpr std::int64_t kSliceTakesInputs = 10;    // the same for starts, ends and axes
constexpr std::int64_t kSplitCountsOutputs = 18;  // opset from which equal parts are asked for

/// Blocks by row and column, as names of values.
using Grid = std::vector<std::vector<std::string>>;

class BlockedLinear {
 public:
  BlockedLinear(GraphBuilder& graph, const LinearSite& layer, const std::string& prefix,
                std::int64_t opset)
      : graph_(graph),
        layer_(layer),
        prefix_(prefix),
        opset_(opset),
        flat_(layer.a_dims.size() > 2 && layer.m.blocks() > 1),
        last_axis_(flat_ ? 1 : static_cast<std::int64_t>(layer.a_dims.size()) - 1) {}

  void append() {
    const Grid a = cut_a();
    const Grid b = cut_b();
    std::string value = slice(products(a, b));
    if (flat_) {
      std::vector<std::int64_t> dims = layer_.a_dims;
      dims.back() = layer_.n.size;
      value = reshape(value, "unflatten", dims);
    }
    if (layer_.alpha != 1) value = scale(value, "alpha", layer_.alpha);
    if (!layer_.c.empty()) {
      const std::string c = layer_.beta == 1 ? layer_.c : scale(layer_.c, "beta", layer_.beta);
      step("Add", "bias", {value, c});
    }
    last_->set_output(0, layer_.output);
  }

 private:
  /// A node with one output of the same name.
  std::string step(const std::string& op_type, const std::string& name,
                   const std::vector<std::string>& inputs) {
    last_ = &graph_.add_node(op_type, prefix_ + name, inputs, {prefix_ + name});
    return prefix_ + name;
  }

  std::string transpose(const std::string& value, const std::string& name) {
    step("Transpose", name, {value});
    set_attribute(*last_, "perm", std::vector<std::int64_t>{1, 0});
    return last_->output(0);
  }

  std::string reshape(const std::string& value, const std::string& name,
                      const std::vector<std::int64_t>& dims) {
    return step("Reshape", name, {value, graph_.add_integers(prefix_ + name + "_shape", dims)});
  }

  std::string scale(const std::string& value, const std::string& name, float factor) {
    const std::string scalar = graph_.add_scalar(prefix_ + name, layer_.data_type, factor);
    return step("Mul", name + "_times", {scalar, value});
  }

  std::string concat(const std::vector<std::string>& values, const std::string& name,
                     std::int64_t axis) {
    if (values.size() == 1) return values.front();
    step("Concat", name, values);
    set_attribute(*last_, "axis", axis);
    return last_->output(0);
  }

  /// Zeros after the last row and the last column of a value of `rank` dimensions.
  std::string pad(const std::string& value, const std::string& name, std::size_t rank,
                  std::int64_t rows, std::int64_t columns) {
    if (rows == 0 && columns == 0) return value;
    std::vector<std::int64_t> pads(2 * rank);
    if (rows != 0) pads[rank] = rows;
    pads.back() = columns;
    if (opset_ >= kPadTakesInputs) {
      return step("Pad", name, {value, graph_.add_integers(prefix_ + name + "_pads", pads)});
    }
    step("Pad", name, {value});
    set_attribute(*last_, "pads", pads);
    return last_->output(0);
  }

  /// Equal parts, which Split makes where no sizes are given.
  std::vector<std::string> split(const std::string& value, const std::string& name,
                                 std::int64_t axis, std::int64_t parts) {
    if (parts == 1) return {value};
    std::vector<std::string> outputs;
    for (std::int64_t i = 0; i < parts; ++i) {
      outputs.push_back(fmt::format("{}{}_{}", prefix_, name, i));
    }
    last_ = &graph_.add_node("Split", prefix_ + name, {value}, outputs);
    set_attribute(*last_, "axis", axis);
    if (opset_ >= kSplitCountsOutputs) set_attribute(*last_, "num_outputs", parts);
    return outputs;
  }

  Grid cut(const std::string& value, const std::string& name, const Cut& rows,
           std::int64_t column_axis, const Cut& columns) {
    Grid grid;
    for (const std::string& row : split(value, name, 0, rows.blocks())) {
      const std::string row_name = fmt::format("{}_{}", name, grid.size());
      grid.push_back(
          split(row, rows.blocks() == 1 ? name : row_name, column_axis, columns.blocks()));
    }
    return grid;
  }

  Grid cut_a() {
    std::string value = layer_.a;
    if (layer_.transpose_a) value = transpose(value, "a_transposed");
    if (flat_) value = reshape(value, "a_flat", {layer_.m.size, layer_.k.size});
    value = pad(value, "a_padded", static_cast<std::size_t>(last_axis_ + 1), layer_.m.padding(),
                layer_.k.padding());
    return cut(value, "a", layer_.m, last_axis_, layer_.k);
  }

  Grid cut_b() {
    std::string value = layer_.b;
    if (layer_.transpose_b) value = transpose(value, "b_transposed");
    value = pad(value, "b_padded", 2, layer_.k.padding(), layer_.n.padding());
    return cut(value, "b", layer_.k, 1, layer_.n);
  }

  std::string products(const Grid& a, const Grid& b) {
    std::vector<std::string> rows;
    for (std::size_t m = 0; m < a.size(); ++m) {
      std::vector<std::string> blocks;
      for (std::size_t n = 0; n < b.front().size(); ++n) {
        std::vector<std::string> partial;
        for (std::size_t k = 0; k < b.size(); ++k) {
          partial.push_back(
              step("MatMul", fmt::format("matmul_{}_{}_{}", m, n, k), {a[m][k], b[k][n]}));
        }
        blocks.push_back(partial.size() == 1
                             ? partial.front()
                             : step("Sum", fmt::format("sum_{}_{}", m, n), partial));
      }
      rows.push_back(concat(blocks, fmt::format("row_{}", m), last_axis_));
    }
    return concat(rows, "rows", 0);
  }

  /// Takes the padding off again.
  std::string slice(const std::string& value) {
    std::vector<std::int64_t> ends, axes;
    if (layer_.m.padding() != 0) {
      ends.push_back(layer_.m.size);
      axes.push_back(0);
    }
    if (layer_.n.padding() != 0) {
      ends.push_back(layer_.n.size);
      axes.push_back(last_axis_);
    }
    if (axes.empty()) return value;
    const std::vector<std::int64_t> starts(axes.size());
    if (opset_ >= kSliceTakesInputs) {
      return step("Slice", "sliced",
                  {value, graph_.add_integers(prefix_ + "slice_starts", starts),
                   graph_.add_integers(prefix_ + "slice_ends", ends),
                   graph_.add_integers(prefix_ + "slice_axes", axes)});
    }
    step("Slice", "sliced", {value});
    set_attribute(*last_, "starts", starts);
    set_attribute(*last_, "ends", ends);
    set_attribute(*last_, "axes", axes);
    return last_->output(0);
  }

  GraphBuilder& graph_;
  const LinearSite& layer_;
  const std::string prefix_;
  const std::int64_t opset_;
  const bool flat_;               // is `a` reshaped to two dimensions?
  const std::int64_t last_axis_;  // of `a` and of the output, as they are then
  onnx::NodeProto* last_ = nullptr;
};

}  // namespace

void append_blocked_linear(GraphBuilder& graph, const LinearSite& layer, const std::string& prefix,
                           std::int64_t opset) {
  BlockedLinear(graph, layer, prefix, opset).append();
}

}  // namespace gemm64
