// SPDX-License-Identifier: Apache-2.0
// Operators on each value by itself, and reductions.
#include <cmath>

#include "host/torchscript/call.hpp"

namespace gemm64::torchscript {
namespace {

/// A constant of one value, of the tensor's type.
std::string scalar(Call& call, const at::Tensor& like, double value) {
  return call.recorder().name_of(
      at::scalar_tensor(value, at::TensorOptions(at::kCPU).dtype(like.scalar_type())));
}

/// A node of the shape and type of `self`.
at::Tensor unary(Call& call, const std::string& op_type, std::vector<std::string> more = {},
                 std::vector<Attribute> attributes = {}) {
  const at::Tensor self = call.tensor("self");
  std::vector<std::string> inputs{call.value("self")};
  inputs.insert(inputs.end(), more.begin(), more.end());
  return call.recorder().add_node(op_type, std::move(inputs), dims_of(self), self.scalar_type(),
                                  std::move(attributes));
}

/// Operators that ONNX has too, with the values as their one input.
void same_in_onnx(Call& call) {
  static const std::map<std::string, const char*> names{
      {"aten::relu", "Relu"},
      {"aten::sigmoid", "Sigmoid"},
      {"aten::tanh", "Tanh"},
      {"aten::exp", "Exp"},
      {"aten::log", "Log"},
      {"aten::sqrt", "Sqrt"},
      {"aten::abs", "Abs"},
      {"aten::neg", "Neg"},
      {"aten::floor", "Floor"},
      {"aten::ceil", "Ceil"},
      {"aten::reciprocal", "Reciprocal"},
      {"aten::erf", "Erf"},
      {"aten::hardswish", "HardSwish"},
  };
  call.give(unary(call, names.at(call.op())));
}

void clip(Call& call, bool has_low, double low, bool has_high, double high) {
  const at::Tensor self = call.tensor("self");
  std::vector<std::string> bounds;
  if (has_low || has_high) bounds.push_back(has_low ? scalar(call, self, low) : "");
  if (has_high) bounds.push_back(scalar(call, self, high));
  call.give(unary(call, "Clip", std::move(bounds)));
}

void relu6(Call& call) { clip(call, true, 0, true, 6); }

void hardtanh(Call& call) {
  clip(call, true, call.number("min_val"), true, call.number("max_val"));
}

void clamp(Call& call) {
  for (const char* bound : {"min", "max"}) {
    if (call.has(bound) && call.argument(bound).isTensor()) {
      call.refuse("bounds that are tensors are not supported");
    }
  }
  const bool low = call.has("min"), high = call.has("max");
  clip(call, low, low ? call.number("min") : 0, high, high ? call.number("max") : 0);
}

void leaky_relu(Call& call) {
  call.give(
      unary(call, "LeakyRelu", {}, {{"alpha", static_cast<float>(call.number("negative_slope"))}}));
}

void elu(Call& call) {
  if (call.number("scale") != 1 || call.number("input_scale") != 1) {
    call.refuse("scales other than 1 are not supported");
  }
  call.give(unary(call, "Elu", {}, {{"alpha", static_cast<float>(call.number("alpha"))}}));
}

void hardsigmoid(Call& call) {
  call.give(unary(call, "HardSigmoid", {}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}}));
}

/// A node of two followed or constant tensors of the same type.
at::Tensor binary(Call& call, const std::string& op_type, const std::string& a,
                  const std::string& b, const at::Tensor& like) {
  return call.recorder().add_node(op_type, {a, b}, dims_of(like), like.scalar_type());
}

void silu(Call& call) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor gate = unary(call, "Sigmoid");
  call.give(binary(call, "Mul", call.value("self"), call.recorder().name_of(gate), self));
}

void gelu(Call& call) {
  if (call.has("approximate") && call.argument("approximate").toStringRef() != "none") {
    call.refuse("its approximation by tanh is not supported");
  }
  const at::Tensor self = call.tensor("self");
  Recorder& recorder = call.recorder();
  const auto next = [&](const std::string& op_type, const at::Tensor& tensor, double value) {
    return binary(call, op_type, recorder.name_of(tensor), scalar(call, self, value), self);
  };
  const at::Tensor scaled = next("Div", self, std::sqrt(2.0));
  const at::Tensor erf =
      recorder.add_node("Erf", {recorder.name_of(scaled)}, dims_of(self), self.scalar_type());
  const at::Tensor gate = next("Add", erf, 1);
  call.give(
      next("Mul", binary(call, "Mul", call.value("self"), recorder.name_of(gate), self), 0.5));
}

void prelu(Call& call) {
  at::Tensor slope = call.tensor("weight");
  Dims dims(static_cast<std::size_t>(std::max<std::int64_t>(call.tensor("self").dim() - 1, 1)), 1);
  dims[0] = slope.numel();
  // One slope a channel, broadcast over what follows.
  if (dims.size() > 1 && slope.numel() != 1) slope = slope.view(dims);
  call.give(unary(call, "PRelu", {call.recorder().name_of(slope)}));
}

void softmax(Call& call) {
  const at::Tensor self = call.tensor("self");
  if (call.has("dtype") && call.argument("dtype").toScalarType() != self.scalar_type()) {
    call.refuse("a result of another type is not supported");
  }
  call.give(unary(call, call.op() == "aten::softmax" ? "Softmax" : "LogSoftmax", {},
                  {{"axis", call.dimension("dim", self.dim())}}));
}

void dropout(Call& call) {
  const at::Tensor self = call.tensor("input");
  std::vector<std::string> inputs{call.value("input"), scalar(call, self, call.number("p"))};
  if (call.flag("train"))
    inputs.push_back(call.recorder().name_of(at::scalar_tensor(true, at::kBool)));
  // In evaluation the result is the very tensor that came in: what changes one in place changes
  // both.
  const at::Tensor result = self.view(self.sizes());
  call.recorder().add_node("Dropout", std::move(inputs), {result});
  call.give(result);
}

/// An operand as a constant or followed tensor of the given type.
std::string operand(Call& call, const char* name, at::ScalarType type) {
  Recorder& recorder = call.recorder();
  const c10::IValue& value = call.argument(name);
  if (!value.isTensor()) {
    return recorder.name_of(
        at::scalar_tensor(value.toScalar(), at::TensorOptions(at::kCPU).dtype(type)));
  }
  const at::Tensor tensor = value.toTensor();
  if (tensor.scalar_type() == type) return recorder.name_of(tensor);
  if (!recorder.follows(tensor)) return recorder.name_of(tensor.to(type));
  return recorder.name_of(recorder.add_node("Cast", {recorder.name_of(tensor)}, dims_of(tensor),
                                            type, {{"to", std::int64_t{onnx_type(type)}}}));
}

void arithmetic(Call& call, const std::string& op_type, bool reversed = false) {
  if (call.has("rounding_mode")) call.refuse("rounding is not supported");
  const at::Tensor result = call.shape_of_result();
  const at::ScalarType type = result.scalar_type();
  std::string a = operand(call, "self", type);
  std::string b = operand(call, "other", type);
  if (call.has("alpha") && call.number("alpha") != 1) {
    // Of x + alpha * y.
    const c10::IValue& other = call.argument("other");
    const at::Tensor scaled =
        call.recorder().add_node("Mul", {b, scalar(call, result, call.number("alpha"))},
                                 other.isTensor() ? dims_of(other.toTensor()) : Dims{}, type);
    b = call.recorder().name_of(scaled);
  }
  if (reversed) std::swap(a, b);
  call.give(binary(call, op_type, a, b, result));
}

void add(Call& call) { arithmetic(call, "Add"); }
void sub(Call& call) { arithmetic(call, "Sub"); }
void rsub(Call& call) { arithmetic(call, "Sub", true); }
void mul(Call& call) { arithmetic(call, "Mul"); }
void div(Call& call) { arithmetic(call, "Div"); }
void maximum(Call& call) { arithmetic(call, "Max"); }
void minimum(Call& call) { arithmetic(call, "Min"); }

void pow_(Call& call) {
  const at::Tensor result = call.shape_of_result();
  const at::ScalarType type = result.scalar_type();
  const std::string base = operand(call, "self", type);
  call.give(binary(call, "Pow", base, operand(call, "exponent", type), result));
}

/// mean and sum, over some dimensions or all.
void reduce(Call& call) {
  const at::Tensor self = call.tensor("self");
  const at::Tensor result = call.shape_of_result();
  if (result.scalar_type() != self.scalar_type()) {
    call.refuse("a result of another type is not supported");
  }
  Dims axes;
  if (call.has("dim")) axes = call.integers("dim");
  for (std::int64_t& axis : axes) axis = c10::maybe_wrap_dim(axis, self.dim());
  if (axes.empty()) {
    for (std::int64_t i = 0; i < self.dim(); ++i) axes.push_back(i);
  }
  const bool is_mean = call.op() == "aten::mean";
  std::vector<std::string> inputs{call.value("self")};
  std::vector<Attribute> attributes{
      {"keepdims", std::int64_t{call.has("keepdim") && call.flag("keepdim")}}};
  if (is_mean) {
    attributes.push_back({"axes", axes});
  } else {
    inputs.push_back(call.recorder().integers(axes));
  }
  call.give(call.recorder().add_node(is_mean ? "ReduceMean" : "ReduceSum", std::move(inputs),
                                     dims_of(result), result.scalar_type(), std::move(attributes)));
}

}  // namespace

const std::vector<Translation> kElementwiseOperators{
    {"aten::relu", same_in_onnx},
    {"aten::sigmoid", same_in_onnx},
    {"aten::tanh", same_in_onnx},
    {"aten::exp", same_in_onnx},
    {"aten::log", same_in_onnx},
    {"aten::sqrt", same_in_onnx},
    {"aten::abs", same_in_onnx},
    {"aten::neg", same_in_onnx},
    {"aten::floor", same_in_onnx},
    {"aten::ceil", same_in_onnx},
    {"aten::erf", same_in_onnx},
    {"aten::reciprocal", same_in_onnx},
    {"aten::hardswish", same_in_onnx},
    {"aten::relu6", relu6},
    {"aten::hardtanh", hardtanh},
    {"aten::clamp", clamp},
    {"aten::clip", clamp},
    {"aten::clamp_min", clamp},
    {"aten::clamp_max", clamp},
    {"aten::leaky_relu", leaky_relu},
    {"aten::elu", elu},
    {"aten::hardsigmoid", hardsigmoid},
    {"aten::silu", silu},
    {"aten::gelu", gelu},
    {"aten::prelu", prelu},
    {"aten::softmax", softmax},
    {"aten::log_softmax", softmax},
    {"aten::dropout", dropout},
    {"aten::feature_dropout", dropout},
    {"aten::alpha_dropout", dropout},
    {"aten::add", add},
    {"aten::sub", sub},
    {"aten::rsub", rsub},
    {"aten::mul", mul},
    {"aten::div", div},
    {"aten::maximum", maximum},
    {"aten::minimum", minimum},
    {"aten::pow", pow_},
    {"aten::mean", reduce},
    {"aten::sum", reduce},
};

}  // namespace gemm64::torchscript
