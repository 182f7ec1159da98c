// SPDX-License-Identifier: Apache-2.0
#include "host/graph/passes/fuse_shuffle.hpp"

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "host/graph/passes/fusion.hpp"
#include "host/graph/proto/attribute.hpp"

namespace gemm64 {
namespace {

using Dims = std::vector<std::int64_t>;
using onnx::NodeProto;
using onnx::TensorProto;

class ShuffleJoiner {
 public:
  explicit ShuffleJoiner(const OnnxModel& model) : model_(model), links_(model.graph()) {}

  /// `last` is the second Reshape.
  std::optional<Joined> join(const NodeProto& last) {
    const NodeProto* const transpose = only_maker(last, "Reshape", "Transpose");
    const NodeProto* const first =
        transpose == nullptr ? nullptr : only_maker(*transpose, "Transpose", "Reshape");
    if (first == nullptr) return std::nullopt;
    const auto from = model_.type(first->input(0)), parts = model_.type(first->output(0)),
               to = model_.type(last.output(0));
    if (!from || !parts || !to || from->dims != to->dims) return std::nullopt;
    if (from->data_type != TensorProto::INT8 && from->data_type != TensorProto::UINT8) {
      return std::nullopt;
    }
    // [N, C, ...] as [N, groups, channels of a group, ...], of which the two change places.
    const std::size_t rank = from->dims.size();
    if (rank < 2 || parts->dims.size() != rank + 1) return std::nullopt;
    Dims whole = parts->dims;
    whole[1] *= whole[2];
    whole.erase(whole.begin() + 2);
    Dims order(rank + 1);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[1], order[2]);
    if (whole != from->dims || attribute(*transpose, "perm", Dims()) != order) return std::nullopt;
    return joined(*first, *transpose, last, parts->dims[1], parts->dims[2]);
  }

 private:
  /// The node of a kind that makes the first input of a node of another kind, and of no other.
  const NodeProto* only_maker(const NodeProto& node, const char* kind, const char* maker) const {
    if (!is_onnx(&node, kind) || links_.only_reader(node.input(0)) == nullptr) return nullptr;
    const NodeProto* const made_by = links_.producer(node.input(0));
    return is_onnx(made_by, maker) ? made_by : nullptr;
  }

  Joined joined(const NodeProto& first, const NodeProto& transpose, const NodeProto& last,
                std::int64_t groups, std::int64_t channels) {
    TensorProto indices;
    indices.set_name(links_.new_name(last.output(0) + " channels"));
    indices.set_data_type(TensorProto::INT64);
    indices.add_dims(groups * channels);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      for (std::int64_t group = 0; group < groups; ++group) {
        indices.add_int64_data(group * channels + channel);
      }
    }
    NodeProto gather;
    gather.set_op_type("Gather");
    gather.set_name(last.name());
    gather.add_input(first.input(0));
    gather.add_input(indices.name());
    *gather.mutable_output() = last.output();
    set_integer(gather, "axis", 1);
    return {{gather}, {&first, &transpose}, {indices}};
  }

  const OnnxModel& model_;
  GraphLinks links_;
};

}  // namespace

OnnxModel fuse_shuffles(OnnxModel model, const ImportOptions& import) {
  return fuse_by<ShuffleJoiner>(std::move(model), import);
}

}  // namespace gemm64
