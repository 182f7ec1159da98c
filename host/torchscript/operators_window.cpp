// SPDX-License-Identifier: Apache-2.0
// Convolutions, pooling and normalisation.
#include "host/torchscript/call.hpp"

namespace gemm64::torchscript {
namespace {

/// [1, 2] as ONNX's pads [1, 2, 1, 2].
Dims both_ends(const Dims& pads) {
  Dims all = pads;
  all.insert(all.end(), pads.begin(), pads.end());
  return all;
}

/// The spatial rank of an input [batch, channels, ...].
std::size_t spatial_rank(const Call& call, const at::Tensor& input, std::int64_t expected) {
  if (input.dim() != expected + 2) {
    call.refuse("its input has " + std::to_string(input.dim()) + " dimensions; " +
                std::to_string(expected + 2) + " are supported");
  }
  return static_cast<std::size_t>(expected);
}

void convolution(Call& call) {
  const at::Tensor input = call.tensor("input");
  const at::Tensor weight = call.tensor("weight");
  const std::size_t rank = spatial_rank(call, input, weight.dim() - 2);
  const bool transposed = call.op().find("conv_transpose") != std::string::npos ||
                          (call.has("transposed") && call.flag("transposed"));
  const Dims strides = call.integers("stride", rank);
  const Dims dilations = call.integers("dilation", rank);
  const std::int64_t groups = call.integer("groups");
  const Dims kernel(weight.sizes().begin() + 2, weight.sizes().end());

  Dims begin(rank, 0), end(rank, 0);
  if (!call.argument("padding").isString()) {
    begin = end = call.integers("padding", rank);
  } else if (call.argument("padding").toStringRef() == "same") {
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t all = dilations[i] * (kernel[i] - 1);
      begin[i] = all / 2;
      end[i] = all - all / 2;
    }
  }
  Dims more(rank, 0);
  if (transposed) more = call.integers("output_padding", rank);

  Dims dims{input.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  std::uint64_t taps = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t in = input.size(static_cast<std::int64_t>(i) + 2);
    const std::int64_t window = dilations[i] * (kernel[i] - 1) + 1;
    const std::int64_t out = transposed
                                 ? (in - 1) * strides[i] - begin[i] - end[i] + window + more[i]
                                 : (in + begin[i] + end[i] - window) / strides[i] + 1;
    if (out < 1 || (!transposed && in + begin[i] + end[i] < window)) {
      call.refuse("an input of " + shape_text(input.sizes()) + " is smaller than its window");
    }
    dims.push_back(out);
    taps *= static_cast<std::uint64_t>(kernel[i]);
  }
  if (input.size(1) != (transposed ? weight.size(0) : weight.size(1) * groups)) {
    call.refuse("an input of " + shape_text(input.sizes()) + " does not fit weights of " +
                shape_text(weight.sizes()));
  }
  begin.insert(begin.end(), end.begin(), end.end());
  std::vector<Attribute> attributes{{"dilations", dilations},
                                    {"group", groups},
                                    {"kernel_shape", kernel},
                                    {"pads", begin},
                                    {"strides", strides}};
  if (transposed) attributes.push_back({"output_padding", more});
  std::vector<std::string> inputs{call.value("input"), call.value("weight")};
  if (call.has("bias")) inputs.push_back(call.value("bias"));
  const at::Tensor output =
      call.recorder().add_node(transposed ? "ConvTranspose" : "Conv", std::move(inputs), dims,
                               input.scalar_type(), std::move(attributes));
  call.recorder().add_macs(static_cast<std::uint64_t>((transposed ? input : output).numel()) *
                           static_cast<std::uint64_t>(weight.size(1)) * taps);
  call.give(output);
}

/// Max and average pooling over `rank` dimensions.
void pool(Call& call, std::int64_t dimensions) {
  const at::Tensor input = call.tensor("self");
  const std::size_t rank = spatial_rank(call, input, dimensions);
  const bool is_max = call.has("dilation");
  const Dims kernel = call.integers("kernel_size", rank);
  Dims strides = call.integers("stride", rank);
  if (strides.empty()) strides = kernel;
  const Dims pads = call.integers("padding", rank);
  const Dims dilations = is_max ? call.integers("dilation", rank) : Dims(rank, 1);
  const bool ceil = call.flag("ceil_mode");
  if (call.has("divisor_override")) call.refuse("divisor_override is not supported");

  Dims dims{input.size(0), input.size(1)};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t in = input.size(static_cast<std::int64_t>(i) + 2);
    const std::int64_t room = in + 2 * pads[i] - dilations[i] * (kernel[i] - 1) - 1;
    if (room < 0) {
      call.refuse("an input of " + shape_text(input.sizes()) + " is smaller than its window");
    }
    std::int64_t out = (room + (ceil ? strides[i] - 1 : 0)) / strides[i] + 1;
    // A window begins within the input or the padding before it.
    if (ceil && (out - 1) * strides[i] >= in + pads[i]) --out;
    dims.push_back(out);
  }
  std::vector<Attribute> attributes{{"ceil_mode", std::int64_t{ceil}},
                                    {"kernel_shape", kernel},
                                    {"pads", both_ends(pads)},
                                    {"strides", strides}};
  if (is_max) {
    attributes.push_back({"dilations", dilations});
  } else {
    attributes.push_back({"count_include_pad", std::int64_t{call.flag("count_include_pad")}});
  }
  call.give(call.recorder().add_node(is_max ? "MaxPool" : "AveragePool", {call.value("self")}, dims,
                                     input.scalar_type(), std::move(attributes)));
}

void adaptive_pool(Call& call, std::int64_t dimensions) {
  const at::Tensor input = call.tensor("self");
  const std::size_t rank = spatial_rank(call, input, dimensions);
  const bool is_max = call.op().find("max") != std::string::npos;
  const Dims sizes = call.integers("output_size", rank);
  Dims dims{input.size(0), input.size(1)};
  Dims kernel;
  bool global = true;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t in = input.size(static_cast<std::int64_t>(i) + 2);
    if (sizes[i] < 1 || in % sizes[i] != 0) {
      call.refuse("from " + shape_text(input.sizes()) + " to " + shape_text(sizes) +
                  " its windows are of different sizes; an input that is a multiple would do");
    }
    global = global && sizes[i] == 1;
    kernel.push_back(in / sizes[i]);
    dims.push_back(sizes[i]);
  }
  const std::string op = is_max ? "MaxPool" : "AveragePool";
  std::vector<Attribute> attributes;
  if (!global) attributes = {{"kernel_shape", kernel}, {"strides", kernel}};
  const at::Tensor output =
      call.recorder().add_node((global ? "Global" : "") + op, {call.value("self")}, dims,
                               input.scalar_type(), std::move(attributes));
  call.give(output);
  if (is_max) call.give(c10::IValue());  // the places of the maxima
}

template <int kDimensions>
void pool(Call& call) {
  pool(call, kDimensions);
}

template <int kDimensions>
void adaptive_pool(Call& call) {
  adaptive_pool(call, kDimensions);
}

/// A parameter of a normalisation, or what stands for one that is left out.
std::string value_or(Call& call, const char* name, const Dims& dims, double otherwise) {
  if (call.has(name)) return call.value(name);
  return call.recorder().name_of(at::full(dims, otherwise, at::kFloat));
}

void batch_norm(Call& call) {
  const at::Tensor input = call.tensor("input");
  if (call.flag("training") || !call.has("running_mean")) {
    call.refuse("it takes means and variances from the batch; save the network after eval()");
  }
  const Dims channels{input.size(1)};
  call.give(call.recorder().add_node(
      "BatchNormalization",
      {call.value("input"), value_or(call, "weight", channels, 1),
       value_or(call, "bias", channels, 0), call.value("running_mean"), call.value("running_var")},
      dims_of(input), input.scalar_type(),
      {{"epsilon", static_cast<float>(call.number("eps"))},
       {"momentum", static_cast<float>(1 - call.number("momentum"))}}));
}

void layer_norm(Call& call) {
  const at::Tensor input = call.tensor("input");
  const Dims normalized = call.integers("normalized_shape");
  std::vector<std::string> inputs{call.value("input"), value_or(call, "weight", normalized, 1)};
  if (call.has("bias")) inputs.push_back(call.value("bias"));
  call.give(call.recorder().add_node("LayerNormalization", std::move(inputs), dims_of(input),
                                     input.scalar_type(),
                                     {{"axis", -static_cast<std::int64_t>(normalized.size())},
                                      {"epsilon", static_cast<float>(call.number("eps"))}}));
}

}  // namespace

const std::vector<Translation> kWindowOperators{
    {"aten::_convolution", convolution},
    {"aten::_convolution_mode", convolution},
    {"aten::convolution", convolution},
    {"aten::conv1d", convolution},
    {"aten::conv2d", convolution},
    {"aten::conv3d", convolution},
    {"aten::conv_transpose1d", convolution},
    {"aten::conv_transpose2d", convolution},
    {"aten::conv_transpose3d", convolution},
    {"aten::max_pool1d", pool<1>},
    {"aten::max_pool2d", pool<2>},
    {"aten::max_pool3d", pool<3>},
    {"aten::avg_pool1d", pool<1>},
    {"aten::avg_pool2d", pool<2>},
    {"aten::avg_pool3d", pool<3>},
    {"aten::adaptive_avg_pool1d", adaptive_pool<1>},
    {"aten::adaptive_avg_pool2d", adaptive_pool<2>},
    {"aten::adaptive_avg_pool3d", adaptive_pool<3>},
    {"aten::adaptive_max_pool1d", adaptive_pool<1>},
    {"aten::adaptive_max_pool2d", adaptive_pool<2>},
    {"aten::adaptive_max_pool3d", adaptive_pool<3>},
    {"aten::batch_norm", batch_norm},
    {"aten::layer_norm", layer_norm},
};

}  // namespace gemm64::torchscript
