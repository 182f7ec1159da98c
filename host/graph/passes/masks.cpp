// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/masks.hpp"

#include <algorithm>
#include <map>

#include "host/graph/proto/tensor_data.hpp"

namespace gemm64 {
namespace {

constexpr float kMask = -1000;  // files have -10,000, -65,504, the least float32 and infinity

/// How many inputs, from which one on, an operator makes its output of; none: other operators,
/// whose output is no mask whatever they read.
struct Passed {
  int first, last;
};

Passed passed(const onnx::NodeProto& node) {
  static const std::map<std::string, Passed> kOperators = [] {
    std::map<std::string, Passed> operators{{"Where", {1, 3}}, {"ScatterND", {0, 3}}};
    for (const char* name : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Concat"}) {
      operators[name] = {0, 1 << 20};
    }
    for (const char* name : {"Cast", "CastLike", "Expand", "Flatten", "Gather", "GatherElements",
                             "GatherND", "Identity", "Neg", "Reshape", "Slice", "Split", "Squeeze",
                             "Tile", "Transpose", "Trilu", "Unsqueeze"}) {
      operators[name] = {0, 1};
    }
    return operators;
  }();
  const auto found = node.domain().empty() ? kOperators.find(node.op_type()) : kOperators.end();
  return found == kOperators.end() ? Passed{0, 0} : found->second;
}

class Masks {
 public:
  Masks(const OnnxModel& model, const Ranges& ranges) : model_(model), ranges_(ranges) {}

  std::set<std::string> find() {
    for (const onnx::NodeProto& node : model_.graph().node()) {
      const auto [first, last] = passed(node);
      bool masked = false;
      for (int i = first; i < std::min(last, node.input_size()); ++i) {
        masked = masked || is_mask(node.input(i));
      }
      // What a mask of integers becomes, or one that is filled in.
      const bool makes = node.op_type() == "Cast" || node.op_type() == "ConstantOfShape";
      if (makes && node.output_size() == 1) masked = masked || reaches(node.output(0));
      if (masked) found_.insert(node.output().begin(), node.output().end());
    }
    return std::move(found_);
  }

 private:
  bool reaches(const std::string& value) const {
    const auto range = ranges_.find(value);
    return range != ranges_.end() && range->second.first <= kMask;
  }

  bool is_mask(const std::string& value) {
    if (found_.count(value) != 0) return true;
    bool masked = false;
    if (const onnx::TensorProto* constant = model_.constant(value)) {
      const auto integers = integer_values(*constant, kMost);
      masked = integers ? std::any_of(integers->begin(), integers->end(),
                                      [](std::int64_t one) { return one <= kMask; })
                        : reaches(value);
    } else if (model_.is_graph_input(value)) {
      masked = reaches(value);
    }
    if (masked) found_.insert(value);
    return masked;
  }

  static constexpr std::int64_t kMost = 1 << 20;

  const OnnxModel& model_;
  const Ranges& ranges_;
  std::set<std::string> found_;
};

}  // namespace

std::set<std::string> find_masks(const OnnxModel& model, const Ranges& ranges) {
  return Masks(model, ranges).find();
}

}  // namespace gemm64
