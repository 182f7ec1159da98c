// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/rewrite_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <variant>

#include "host/graph/onnx/operator.hpp"
#include "host/graph/onnx/qdq_values.hpp"
#include "host/graph/onnx/supported.hpp"
#include "host/graph/onnx/work.hpp"
#include "host/graph/proto/attribute.hpp"
#include "host/util/error.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace {

// Before opset 7 the operands of Gemm and Add are broadcast by other rules.
constexpr std::int64_t kFirstOpset = 7;

using Found = std::variant<LinearSite, std::string>;  // or the reason why not

bool is_default_domain(const onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

bool is_product(const onnx::NodeProto& node) {
  return is_default_domain(node) && (node.op_type() == "Gemm" || node.op_type() == "MatMul");
}

/// Why a node other than Gemm and MatMul stays as it is; empty where it multiplies no matrices.
std::string why_left(const OnnxModel& model, const onnx::NodeProto& node) {
  if (find_operator(node.domain(), node.op_type()) == nullptr) {
    // The nodes inside are named themselves.
    return has_subgraph(node) ? "" : "gemm64 does not know this operator";
  }
  const std::optional<Work> work = work_of(model, node);
  if (work && work->macs == 0) return "";
  if (node.op_type().find("Conv") != std::string::npos) {
    return "a convolution, not a Linear layer";
  }
  return "only Gemm and MatMul are rewritten";
}

bool is_floating(int data_type) {
  return data_type == onnx::TensorProto::FLOAT || data_type == onnx::TensorProto::DOUBLE ||
         data_type == onnx::TensorProto::FLOAT16 || data_type == onnx::TensorProto::BFLOAT16;
}

/// Saturates; sizes come from files.
std::int64_t product(std::int64_t a, std::int64_t b) {
  if (a != 0 && b > std::numeric_limits<std::int64_t>::max() / a) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return a * b;
}

bool broadcasts_to(const std::vector<std::int64_t>& dims, std::int64_t m, std::int64_t n) {
  const std::int64_t target[] = {n, m};
  if (dims.size() > 2) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t dim = dims[dims.size() - 1 - i];
    if (dim != 1 && dim != target[i]) return false;
  }
  return true;
}

class Planner {
 public:
  Planner(const OnnxModel& model, std::int64_t block) : model_(model) {
    plan_.block = block;
    for (const onnx::NodeProto& node : model.graph().node()) {
      if (is_dequantize(node)) dequantized_.insert(node.output().begin(), node.output().end());
    }
  }

  RewritePlan plan() {
    const onnx::GraphProto& graph = model_.graph();
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto& node = graph.node(i);
      skip_inner_graphs(node, node_label(node, i));
      if (is_product(node)) {
        visit(node, i);
      } else if (std::string reason = why_left(model_, node); !reason.empty()) {
        plan_.skipped.push_back({node_label(node, i), operator_name(node), std::move(reason)});
      }
    }
    for (const std::string& input : model_.inputs()) {
      if (!model_.type(input)) plan_.open_inputs.push_back(model_.shape_to_give(input));
    }
    return std::move(plan_);
  }

 private:
  void visit(const onnx::NodeProto& node, int index) {
    const std::string name = node_label(node, index);
    Found found = node.op_type() == "Gemm" ? gemm(node, name) : matmul(node, name);
    if (const auto* reason = std::get_if<std::string>(&found)) {
      plan_.skipped.push_back({name, node.op_type(), *reason});
      return;
    }
    LinearSite& site = std::get<LinearSite>(found);
    site.node = index;
    site.name = name;
    site.op_type = node.op_type();
    site.output = node.output(0);
    matmuls_ = std::min(product(product(site.m.blocks(), site.k.blocks()), site.n.blocks()),
                        kMaxMatmuls + 1) +
               matmuls_;
    if (matmuls_ > kMaxMatmuls) {
      throw UsageError(fmt::format(
          "{}: node '{}' of {}x{}x{} would bring the MatMul nodes above {}; give a larger --block",
          model_.name(), name, site.m.size, site.k.size, site.n.size, grouped(kMaxMatmuls)));
    }
    plan_.layers.push_back(std::move(site));
  }

  Found gemm(const onnx::NodeProto& node, const std::string& name) const {
    if (model_.opset() < kFirstOpset) {
      return fmt::format("opset {}; Gemm is rewritten from opset {} on", model_.opset(),
                         kFirstOpset);
    }
    LinearSite site;
    site.transpose_a = attribute(node, "transA", std::int64_t{0}) != 0;
    site.transpose_b = attribute(node, "transB", std::int64_t{0}) != 0;
    site.alpha = attribute(node, "alpha", 1.0F);
    site.beta = attribute(node, "beta", 1.0F);
    if (std::optional<std::string> reason = operands(node, site)) return *reason;
    const std::vector<std::int64_t> b_dims = model_.type(site.b)->dims;
    if (site.a_dims.size() != 2 || b_dims.size() != 2) {
      throw UsageError(fmt::format("{}: node '{}': Gemm takes matrices, but is given {} and {}",
                                   model_.name(), name, dims_text(site.a_dims), dims_text(b_dims)));
    }
    const std::size_t a_row = site.transpose_a ? 1 : 0;
    const std::size_t b_row = site.transpose_b ? 1 : 0;
    cut(site, name, site.a_dims[a_row], site.a_dims[1 - a_row], b_dims[b_row], b_dims[1 - b_row]);
    if (node.input_size() > 2 && !node.input(2).empty() && site.beta != 0) {
      site.c = node.input(2);
      const std::optional<TensorType> type = model_.type(site.c);
      if (!type) return fmt::format("the shape of C is not known: {}", model_.why_unknown(site.c));
      if (!broadcasts_to(type->dims, site.m.size, site.n.size)) {
        throw UsageError(fmt::format("{}: node '{}': C of {} does not broadcast to {}x{}",
                                     model_.name(), name, dims_text(type->dims), site.m.size,
                                     site.n.size));
      }
    }
    return site;
  }

  Found matmul(const onnx::NodeProto& node, const std::string& name) const {
    if (model_.opset() < kFirstOpset) {
      return fmt::format("opset {}; MatMul is rewritten from opset {} on", model_.opset(),
                         kFirstOpset);
    }
    if (!model_.is_constant(node.input(0)) && !model_.is_constant(node.input(1))) {
      return "neither operand is constant, so it is not a Linear layer";
    }
    LinearSite site;
    if (std::optional<std::string> reason = operands(node, site)) return *reason;
    const std::vector<std::int64_t> b_dims = model_.type(site.b)->dims;
    if (b_dims.size() != 2) {
      return fmt::format("its second operand is {}, not a matrix", dims_text(b_dims));
    }
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < site.a_dims.size(); ++i) rows = product(rows, site.a_dims[i]);
    cut(site, name, rows, site.a_dims.back(), b_dims[0], b_dims[1]);
    return site;
  }

  /// Takes over names and types of A and B; says what keeps them from being cut.
  std::optional<std::string> operands(const onnx::NodeProto& node, LinearSite& site) const {
    site.a = node.input(0);
    site.b = node.input(1);
    for (const std::string& operand : {site.a, site.b}) {
      if (dequantized_.count(operand) != 0) {
        return "its operands are quantized; its blocks would be computed in float";
      }
      const std::optional<TensorType> type = model_.type(operand);
      if (!type) return fmt::format("a shape is not known: {}", model_.why_unknown(operand));
      if (!is_floating(type->data_type)) {
        return "its values are integers, which ONNX's Sum does not add";
      }
      if (type->dims.empty()) return "an operand is a scalar";
      if (std::count(type->dims.begin(), type->dims.end(), 0) != 0) return "an operand is empty";
    }
    site.a_dims = model_.type(site.a)->dims;
    site.data_type = model_.type(site.a)->data_type;
    return std::nullopt;
  }

  void cut(LinearSite& site, const std::string& name, std::int64_t m, std::int64_t k,
           std::int64_t b_rows, std::int64_t n) const {
    if (k != b_rows) {
      throw UsageError(fmt::format("{}: node '{}': A has {} and B {}; they must agree",
                                   model_.name(), name,
                                   counted(static_cast<std::uint64_t>(k), "column"),
                                   counted(static_cast<std::uint64_t>(b_rows), "row")));
    }
    site.m = {m, plan_.block};
    site.k = {k, plan_.block};
    site.n = {n, plan_.block};
  }

  void skip_inner_graphs(const onnx::NodeProto& node, const std::string& label) {
    const auto visit_graph = [&](const onnx::GraphProto& graph) {
      for (int i = 0; i < graph.node_size(); ++i) {
        const onnx::NodeProto& inner = graph.node(i);
        if (is_product(inner) || !why_left(model_, inner).empty()) {
          plan_.skipped.push_back(
              {node_label(inner, i), operator_name(inner), fmt::format("inside node '{}'", label)});
        }
        skip_inner_graphs(inner, label);
      }
    };
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_g()) visit_graph(attribute.g());
      for (const onnx::GraphProto& graph : attribute.graphs()) visit_graph(graph);
    }
  }

  const OnnxModel& model_;
  std::set<std::string> dequantized_;  // what DequantizeLinear nodes make
  RewritePlan plan_;
  std::int64_t matmuls_ = 0;
};

}  // namespace

std::int64_t RewritePlan::matmuls() const {
  std::int64_t sum = 0;
  for (const LinearSite& layer : layers) sum += layer.matmuls();
  return sum;
}

bool RewritePlan::fixes_batch() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LinearSite& layer) { return layer.m.blocks() > 1; });
}

RewritePlan plan_rewrite(const OnnxModel& model, std::int64_t block) {
  if (block < 1) throw UsageError(fmt::format("blocks of {}: give at least 1", block));
  return Planner(model, block).plan();
}

}  // namespace gemm64
