// SPDX-License-Identifier: Apache-2.0
// Operators that move values, and what makes and casts tensors.
#include "host/torchscript/call.hpp"

namespace gemm64::torchscript {
namespace {

/// A result that is, or is a view of, the argument `self`: written as one node, or as none where
/// the operator did nothing.
void give_view(Call& call, const std::string& op_type, const std::vector<std::string>& more,
               std::vector<Attribute> attributes = {}) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor result = call.shape_of_result();
  if (!result.is_same(self)) {
    std::vector<std::string> inputs{call.value("self")};
    inputs.insert(inputs.end(), more.begin(), more.end());
    call.recorder().add_node(op_type, std::move(inputs), {result}, std::move(attributes));
  }
  call.give(result);
}

void reshape(Call& call) {
  give_view(call, "Reshape", {call.recorder().integers(dims_of(call.shape_of_result()))});
}

void flatten(Call& call) {
  const at::Tensor self = call.tensor("self");
  const std::int64_t rank = self.dim();
  if (rank < 2 || call.dimension("start_dim", rank) != 1 ||
      call.dimension("end_dim", rank) != rank - 1) {
    return reshape(call);
  }
  // Also of a matrix, since it is a node in the file.
  const at::Tensor result = call.shape_of_result().view({self.size(0), -1});
  call.recorder().add_node("Flatten", {call.value("self")}, {result}, {{"axis", std::int64_t{1}}});
  call.give(result);
}

void permute(Call& call, const Dims& order) { give_view(call, "Transpose", {}, {{"perm", order}}); }

void permute_dims(Call& call) {
  Dims order = call.integers("dims");
  for (std::int64_t& dim : order) dim = c10::maybe_wrap_dim(dim, call.tensor("self").dim());
  permute(call, order);
}

/// t and transpose.
void transpose(Call& call) {
  const std::int64_t rank = call.tensor("self").dim();
  Dims order;
  for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
  if (call.has("dim0")) {
    std::swap(order[static_cast<std::size_t>(call.dimension("dim0", rank))],
              order[static_cast<std::size_t>(call.dimension("dim1", rank))]);
  } else if (rank == 2) {
    std::swap(order[0], order[1]);
  }
  permute(call, order);
}

void expand(Call& call) {
  give_view(call, "Expand", {call.recorder().integers(dims_of(call.shape_of_result()))});
}

/// What copies, or says where values lie, changes none.
void same_values(Call& call) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor result = call.shape_of_result();
  if (!result.is_same(self)) call.recorder().share_name(result, self);
  call.give(result);
}

at::Tensor cast(Recorder& recorder, const at::Tensor& tensor, at::ScalarType type) {
  if (tensor.scalar_type() == type) return tensor;
  return recorder.add_node("Cast", {recorder.name_of(tensor)}, dims_of(tensor), type,
                           {{"to", std::int64_t{onnx_type(type)}}});
}

/// to(): of a type; where it says a device, that is of no matter.
void to(Call& call) {
  at::ScalarType type = call.tensor("self").scalar_type();
  if (call.has("dtype")) type = call.argument("dtype").toScalarType();
  if (call.has("other")) type = call.tensor("other").scalar_type();
  call.give(cast(call.recorder(), call.tensor("self"), type));
}

void cat(Call& call) {
  const at::Tensor result = call.shape_of_result();
  std::vector<std::string> inputs;
  for (const at::Tensor& tensor : call.argument("tensors").toTensorVector()) {
    // An empty tensor of one dimension counts for nothing.
    if (tensor.dim() == 1 && tensor.numel() == 0 && result.dim() != 1) continue;
    inputs.push_back(call.recorder().name_of(cast(call.recorder(), tensor, result.scalar_type())));
  }
  call.recorder().add_node("Concat", std::move(inputs), {result},
                           {{"axis", call.dimension("dim", result.dim())}});
  call.give(result);
}

void stack(Call& call) {
  const at::Tensor result = call.shape_of_result();
  const std::int64_t dim = call.dimension("dim", result.dim());
  Dims one = dims_of(result);
  one[static_cast<std::size_t>(dim)] = 1;
  std::vector<std::string> inputs;
  for (const at::Tensor& tensor : call.argument("tensors").toTensorVector()) {
    inputs.push_back(call.recorder().name_of(call.recorder().add_node(
        "Unsqueeze", {call.recorder().name_of(tensor), call.recorder().integers({dim})}, one,
        result.scalar_type())));
  }
  call.recorder().add_node("Concat", std::move(inputs), {result}, {{"axis", dim}});
  call.give(result);
}

/// chunk, split, split_with_sizes.
void split(Call& call) {
  const std::int64_t dim = call.dimension("dim", call.tensor("self").dim());
  const std::vector<c10::IValue> results = call.run_on_shapes();
  Dims sizes;
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : results.at(0).toTensorVector()) {
    parts.push_back(part);
    sizes.push_back(part.size(dim));
  }
  call.recorder().add_node("Split", {call.value("self"), call.recorder().integers(sizes)}, parts,
                           {{"axis", dim}});
  call.give(results.at(0));
}

void unsqueeze(Call& call) {
  const std::int64_t rank = call.tensor("self").dim() + 1;
  give_view(call, "Unsqueeze", {call.recorder().integers({call.dimension("dim", rank)})});
}

void slice(Call& call) {
  const at::Tensor self = call.tensor("self");
  const std::int64_t dim = call.dimension("dim", self.dim());
  const std::int64_t size = self.size(dim);
  const auto bound = [&](const char* name, std::int64_t otherwise) {
    std::int64_t value = call.has(name) ? call.integer(name) : otherwise;
    if (value < 0) value += size;
    return std::min(std::max<std::int64_t>(value, 0), size);
  };
  const std::int64_t begin = bound("start", 0);
  const std::int64_t end = std::max(begin, bound("end", size));
  const std::int64_t step = call.integer("step");
  if (begin == 0 && end == size && step == 1) return same_values(call);
  Recorder& recorder = call.recorder();
  give_view(call, "Slice",
            {recorder.integers({begin}), recorder.integers({end}), recorder.integers({dim}),
             recorder.integers({step})});
}

void narrow(Call& call) {
  const std::int64_t dim = call.dimension("dim", call.tensor("self").dim());
  std::int64_t begin = call.integer("start");
  if (begin < 0) begin += call.tensor("self").size(dim);
  Recorder& recorder = call.recorder();
  give_view(call, "Slice",
            {recorder.integers({begin}), recorder.integers({begin + call.integer("length")}),
             recorder.integers({dim})});
}

void select(Call& call) {
  const at::Tensor self = call.tensor("self");
  const std::int64_t dim = call.dimension("dim", self.dim());
  const std::int64_t index = c10::maybe_wrap_dim(call.integer("index"), self.size(dim));
  give_view(call, "Gather", {call.recorder().name_of(at::scalar_tensor(index, at::kLong))},
            {{"axis", dim}});
}

void pad(Call& call) {
  const at::Tensor self = call.tensor("self");
  const Dims ends = call.integers("pad");
  const std::string mode = call.has("mode") ? call.argument("mode").toStringRef() : "constant";
  const double value = call.has("value") ? call.argument("value").toScalar().toDouble() : 0.0;
  if (mode != "constant" && mode != "reflect" && mode != "replicate") {
    call.refuse("mode '" + mode + "' is not supported");
  }
  const std::size_t rank = static_cast<std::size_t>(self.dim());
  if (ends.size() % 2 != 0 || ends.size() > 2 * rank) call.refuse("its sizes do not fit its input");
  // Torch: from the last dimension, each begin and end. ONNX: all begins, then all ends.
  Dims pads(2 * rank, 0);
  Dims dims = dims_of(self);
  for (std::size_t i = 0; i < ends.size() / 2; ++i) {
    const std::size_t dim = rank - 1 - i;
    pads[dim] = ends[2 * i];
    pads[rank + dim] = ends[2 * i + 1];
    dims[dim] += ends[2 * i] + ends[2 * i + 1];
    if (dims[dim] < 0) call.refuse("it cuts off more than there is");
  }
  Recorder& recorder = call.recorder();
  std::vector<std::string> inputs{call.value("self"), recorder.integers(pads)};
  if (mode == "constant")
    inputs.push_back(recorder.name_of(at::scalar_tensor(value, self.options().device(at::kCPU))));
  call.give(recorder.add_node("Pad", std::move(inputs), dims, self.scalar_type(),
                              {{"mode", mode == "replicate" ? std::string("edge") : mode}}));
}

}  // namespace

const std::vector<Translation> kLayoutOperators{
    {"aten::view", reshape},
    {"aten::reshape", reshape},
    {"aten::unflatten", reshape},
    {"aten::squeeze", reshape},
    {"aten::flatten", flatten},
    {"aten::unsqueeze", unsqueeze},
    {"aten::permute", permute_dims},
    {"aten::transpose", transpose},
    {"aten::t", transpose},
    {"aten::expand", expand},
    {"aten::expand_as", expand},
    {"aten::contiguous", same_values},
    {"aten::detach", same_values},
    {"aten::clone", same_values},
    {"aten::alias", same_values},
    {"aten::to", to},
    {"aten::type_as", to},
    {"aten::cat", cat},
    {"aten::concat", cat},
    {"aten::stack", stack},
    {"aten::chunk", split},
    {"aten::split", split},
    {"aten::split_with_sizes", split},
    {"aten::slice", slice},
    {"aten::narrow", narrow},
    {"aten::select", select},
    {"aten::pad", pad},
    {"aten::constant_pad_nd", pad},
};

}  // namespace gemm64::torchscript
