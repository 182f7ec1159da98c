// SPDX-License-Identifier: Apache-2.0
// Conv: images of few channels, and weights that are not known before the network runs, to the bit
// as ONNX Runtime, all else by oneDNN.
#include <fmt/format.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "host/kernels/float_image.hpp"
#include "host/kernels/operators.hpp"
#include "host/kernels/visit.hpp"
#include "host/kernels/window.hpp"
#include "host/util/text.hpp"

namespace gemm64 {
namespace host {
namespace {

using dnnl::memory;

/// The row-major layout of a tensor of `rank`.
memory::desc plain(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * std::max<memory::dim>(dims[axis], 1);
  }
  return {dims, memory::data_type::f32, strides};
}

memory::desc any(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

class Cpu {
 public:
  Cpu() : engine(dnnl::engine::kind::cpu, 0), stream_(engine) {}

  /// The tensor's values in the layout `wanted`; shared where they are in it.
  memory in_layout(const Tensor& tensor, const memory::dims& dims, const memory::desc& wanted) {
    // oneDNN takes only pointers to mutable data; it does not write to what it reads.
    memory values(plain(dims), engine, const_cast<float*>(tensor.values<float>()));
    if (wanted == values.get_desc()) return values;
    memory result(wanted, engine);
    dnnl::reorder(values, result).execute(stream_, values, result);
    stream_.wait();
    return result;
  }

  void copy_out(memory& from, const memory::dims& dims, Tensor& to) {
    memory target(plain(dims), engine, to.mutable_values<float>());
    dnnl::reorder(from, target).execute(stream_, from, target);
    stream_.wait();
  }

  void run(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
    primitive.execute(stream_, arguments);
    stream_.wait();
  }

  dnnl::engine engine;

 private:
  dnnl::stream stream_;
};

struct Operands {
  const Tensor& x;
  const Tensor& weights;
  const Tensor& bias;
  std::int64_t groups;
};

Operands checked_operands(const NodeContext& node, const Tensors& inputs) {
  const Operands operands{input(node, inputs, 0), input(node, inputs, 1), optional_input(inputs, 2),
                          attribute(*node.node, "group", std::int64_t{1})};
  const auto& [x, weights, bias, groups] = operands;
  for (const Tensor& tensor : inputs) {
    if (tensor.present() && tensor.type() != onnx::TensorProto::FLOAT) {
      throw failure(node, fmt::format("only float32 is supported, not {}", describe(tensor)));
    }
  }
  if (x.rank() < 3 || x.rank() > 5 || weights.rank() != x.rank()) {
    throw failure(node, fmt::format("its input is {} and its weights {}; convolutions of 1, 2 or 3 "
                                    "spatial axes can run",
                                    describe(x), describe(weights)));
  }
  if (groups < 1 || weights.dim(0) % groups != 0 || x.dim(1) % groups != 0 ||
      x.dim(1) / groups != weights.dim(1)) {
    throw failure(node, fmt::format("{} channels in {} groups do not fit weights of {}", x.dim(1),
                                    groups, dims_text(weights.dims())));
  }
  if (bias.present() && bias.dims() != Dims{weights.dim(0)}) {
    throw failure(node, fmt::format("its bias is {}, and must have {}", describe(bias),
                                    counted(static_cast<std::uint64_t>(weights.dim(0)), "value")));
  }
  const Dims kernel(weights.dims().begin() + 2, weights.dims().end());
  if (attribute(*node.node, "kernel_shape", kernel) != kernel) {
    throw failure(
        node, fmt::format("kernel_shape does not fit weights of {}", dims_text(weights.dims())));
  }
  return operands;
}

Tensor convolve(const NodeContext& node, const Operands& operands) {
  const auto& [x, weights, bias, groups] = operands;
  const SpatialWindow window =
      make_window(node, x.dims(), Dims(weights.dims().begin() + 2, weights.dims().end()));
  Dims dims{x.dim(0), weights.dim(0)};
  dims.insert(dims.end(), window.output.begin(), window.output.end());
  if (!node.packed_weights) return convolve_expanded(x, weights, bias, window, groups);
  if (has_few_channels(x.dims(), groups)) return convolve_image(x, weights, bias, window);
  Tensor result(onnx::TensorProto::FLOAT, dims);
  if (result.elements() == 0) return result;

  memory::dims weight_dims = weights.dims();
  if (groups != 1) {
    weight_dims[0] /= groups;
    weight_dims.insert(weight_dims.begin(), groups);
  }
  Dims gaps = window.dilations;  // oneDNN counts the values left out
  for (std::int64_t& gap : gaps) --gap;

  using Convolution = dnnl::convolution_forward;
  // Direct, not Winograd: its sums are those of the definition, only in another order.
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  const auto desc =
      bias.present() ? Convolution::desc(kKind, kAlgorithm, any(x.dims()), any(weight_dims),
                                         plain(bias.dims()), any(dims), window.strides, gaps,
                                         window.begin, window.end)
                     : Convolution::desc(kKind, kAlgorithm, any(x.dims()), any(weight_dims),
                                         any(dims), window.strides, gaps, window.begin, window.end);
  static Cpu cpu;
  const Convolution::primitive_desc plan(desc, cpu.engine);
  memory output(plan.dst_desc(), cpu.engine);
  std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, cpu.in_layout(x, x.dims(), plan.src_desc())},
      {DNNL_ARG_WEIGHTS, cpu.in_layout(weights, weight_dims, plan.weights_desc())},
      {DNNL_ARG_DST, output}};
  if (bias.present()) {
    arguments.emplace(DNNL_ARG_BIAS, cpu.in_layout(bias, bias.dims(), plain(bias.dims())));
  }
  cpu.run(Convolution(plan), arguments);
  cpu.copy_out(output, dims, result);
  return result;
}

}  // namespace

Tensors conv(const NodeContext& node, const Tensors& inputs) {
  const Operands operands = checked_operands(node, inputs);
  try {
    return {convolve(node, operands)};
  } catch (const dnnl::error& error) {
    throw failure(node, fmt::format("oneDNN cannot run it: {}", error.what()));
  }
}

}  // namespace host

}  // namespace gemm64
