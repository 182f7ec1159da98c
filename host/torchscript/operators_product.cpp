// SPDX-License-Identifier: Apache-2.0
// Linear layers and products of matrices.
#include "host/torchscript/call.hpp"

namespace gemm64::torchscript {
namespace {

void count_macs(Call& call, const at::Tensor& result, std::int64_t k) {
  call.recorder().add_macs(static_cast<std::uint64_t>(result.numel()) *
                           static_cast<std::uint64_t>(k));
}

at::Tensor transposed(Call& call, const at::Tensor& matrix) {
  return call.recorder().add_node("Transpose", {call.recorder().name_of(matrix)},
                                  {matrix.size(1), matrix.size(0)}, matrix.scalar_type(),
                                  {{"perm", Dims{1, 0}}});
}

void linear(Call& call) {
  const at::Tensor input = call.tensor("input");
  const at::Tensor weight = call.tensor("weight");
  if (weight.dim() != 2) call.refuse("its weights are no matrix");
  const std::int64_t k = weight.size(1);
  if (input.dim() == 0 || input.size(-1) != k) {
    call.refuse("an input of " + shape_text(input.sizes()) + " does not fit weights of " +
                shape_text(weight.sizes()));
  }
  Dims dims = dims_of(input);
  dims.back() = weight.size(0);
  at::Tensor output;
  if (input.dim() == 2) {
    std::vector<std::string> inputs{call.value("input"), call.value("weight")};
    if (call.has("bias")) inputs.push_back(call.value("bias"));
    output = call.recorder().add_node("Gemm", std::move(inputs), dims, input.scalar_type(),
                                      {{"transB", std::int64_t{1}}});
  } else {
    const at::Tensor columns = transposed(call, weight);
    output =
        call.recorder().add_node("MatMul", {call.value("input"), call.recorder().name_of(columns)},
                                 dims, input.scalar_type());
    if (call.has("bias")) {
      output = call.recorder().add_node(
          "Add", {call.value("bias"), call.recorder().name_of(output)}, dims, input.scalar_type());
    }
  }
  count_macs(call, output, k);
  call.give(output);
}

/// a * b, and c added where it is given, of matrices.
void gemm(Call& call, const at::Tensor& a, const at::Tensor& b, const std::string& c, float alpha,
          float beta) {
  const at::Tensor parameter = call.recorder().transposed_parameter(b);
  std::vector<std::string> inputs{call.recorder().name_of(a),
                                  call.recorder().name_of(parameter.defined() ? parameter : b)};
  std::vector<Attribute> attributes;
  if (!c.empty()) inputs.push_back(c);
  if (alpha != 1) attributes.push_back({"alpha", alpha});
  if (beta != 1) attributes.push_back({"beta", beta});
  if (parameter.defined()) attributes.push_back({"transB", std::int64_t{1}});
  const at::Tensor output =
      call.recorder().add_node("Gemm", std::move(inputs), dims_of(call.shape_of_result()),
                               a.scalar_type(), std::move(attributes));
  count_macs(call, output, a.size(1));
  call.give(output);
}

void addmm(Call& call) {
  gemm(call, call.tensor("mat1"), call.tensor("mat2"), call.value("self"),
       static_cast<float>(call.number("alpha")), static_cast<float>(call.number("beta")));
}

/// mm, bmm, matmul: whatever the dimensions, as NumPy multiplies.
void matmul(Call& call) {
  const at::Tensor a = call.tensor("self");
  const at::Tensor b = call.tensor(call.has("mat2") ? "mat2" : "other");
  if (a.dim() == 2 && call.recorder().transposed_parameter(b).defined()) {
    return gemm(call, a, b, "", 1, 1);
  }
  const at::Tensor result = call.shape_of_result();
  const at::Tensor output =
      call.recorder().add_node("MatMul", {call.recorder().name_of(a), call.recorder().name_of(b)},
                               dims_of(result), result.scalar_type());
  count_macs(call, output, a.size(-1));
  call.give(output);
}

}  // namespace

const std::vector<Translation> kProductOperators{
    {"aten::linear", linear}, {"aten::addmm", addmm},   {"aten::mm", matmul},
    {"aten::bmm", matmul},    {"aten::matmul", matmul},
};

}  // namespace gemm64::torchscript
