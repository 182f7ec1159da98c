// SPDX-License-Identifier: Apache-2.0
#include "host/models/conv.hpp"

#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>
#include <utility>

namespace gemm64 {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::dim to_dim(std::size_t value) { return static_cast<memory::dim>(value); }

memory::desc description(const memory::dims& dims, Tag tag) {
  return memory::desc(dims, memory::data_type::f32, tag);
}

memory::dim output_side(memory::dim side, std::size_t kernel, std::size_t stride,
                        std::size_t padding, const std::string& stage) {
  const memory::dim room = side + 2 * to_dim(padding) - to_dim(kernel);
  if (kernel == 0 || stride == 0 || room < 0) {
    throw std::invalid_argument(stage + ": a kernel of " + std::to_string(kernel) +
                                " with stride " + std::to_string(stride) + " and padding " +
                                std::to_string(padding) + " does not fit a side of " +
                                std::to_string(side));
  }
  return room / to_dim(stride) + 1;
}

// Runs stages on the first CPU engine; the images live in a oneDNN memory of any layout in between.
class Runner {
 public:
  Runner() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  memory operator()(const Convolution& stage, memory images) {
    check(stage, images.get_desc().dims());
    const memory::dims from = images.get_desc().dims();
    const memory::dims to = {
        from[0], to_dim(stage.out_channels),
        output_side(from[2], stage.kernel, stage.stride, stage.padding, stage.name),
        output_side(from[3], stage.kernel, stage.stride, stage.padding, stage.name)};
    const memory::dims weight_dims = {to_dim(stage.out_channels), to_dim(stage.in_channels),
                                      to_dim(stage.kernel), to_dim(stage.kernel)};
    const memory::dims strides = {to_dim(stage.stride), to_dim(stage.stride)};
    const memory::dims padding = {to_dim(stage.padding), to_dim(stage.padding)};
    const memory::desc bias = description({to_dim(stage.out_channels)}, Tag::x);

    dnnl::primitive_attr attributes;
    if (stage.relu) {
      dnnl::post_ops after;
      after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      attributes.set_post_ops(after);
    }
    // Direct, not Winograd: its sums are those of the definition, only in another order.
    const dnnl::convolution_forward::primitive_desc plan(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
         description(from, Tag::any), description(weight_dims, Tag::any), bias,
         description(to, Tag::any), strides, padding, padding},
        attributes, engine_);

    memory result(plan.dst_desc(), engine_);
    memory source = in_layout(std::move(images), plan.src_desc());
    memory weights =
        in_layout(wrap(description(weight_dims, Tag::oihw), stage.weights), plan.weights_desc());
    dnnl::convolution_forward(plan).execute(stream_, {{DNNL_ARG_SRC, source},
                                                      {DNNL_ARG_WEIGHTS, weights},
                                                      {DNNL_ARG_BIAS, wrap(bias, stage.bias)},
                                                      {DNNL_ARG_DST, result}});
    stream_.wait();
    return result;
  }

  memory operator()(const MaxPooling& stage, memory images) {
    const memory::dims from = images.get_desc().dims();
    const memory::dims to = {from[0], from[1],
                             output_side(from[2], stage.kernel, stage.stride, 0, "max pooling"),
                             output_side(from[3], stage.kernel, stage.stride, 0, "max pooling")};
    const memory::dims strides = {to_dim(stage.stride), to_dim(stage.stride)};
    const memory::dims window = {to_dim(stage.kernel), to_dim(stage.kernel)};
    const memory::dims padding = {0, 0};
    const dnnl::pooling_forward::primitive_desc plan(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::pooling_max, images.get_desc(),
         description(to, Tag::any), strides, window, padding, padding},
        engine_);

    memory result(plan.dst_desc(), engine_);
    dnnl::pooling_forward(plan).execute(stream_, {{DNNL_ARG_SRC, images}, {DNNL_ARG_DST, result}});
    stream_.wait();
    return result;
  }

  // oneDNN takes only pointers to mutable data; it does not write to what it reads.
  memory wrap(const memory::desc& desc, const std::vector<float>& values) {
    return memory(desc, engine_, const_cast<float*>(values.data()));
  }

  memory in_layout(memory values, const memory::desc& desc) {
    if (values.get_desc() == desc) return values;
    memory result(desc, engine_);
    copy(values, result);
    return result;
  }

  void copy(memory& from, memory& to) {
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
  }

 private:
  static void check(const Convolution& stage, const memory::dims& from) {
    const std::size_t weights =
        stage.out_channels * stage.in_channels * stage.kernel * stage.kernel;
    if (from[1] != to_dim(stage.in_channels)) {
      throw std::invalid_argument(stage.name + ": takes " + std::to_string(stage.in_channels) +
                                  " channels, is given " + std::to_string(from[1]));
    }
    if (stage.out_channels == 0 || stage.weights.size() != weights ||
        stage.bias.size() != stage.out_channels) {
      throw std::invalid_argument(stage.name + ": has " + std::to_string(stage.weights.size()) +
                                  " weights and " + std::to_string(stage.bias.size()) +
                                  " biases, needs " + std::to_string(weights) + " and " +
                                  std::to_string(stage.out_channels));
    }
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
};

}  // namespace

ImageBatch run_stages(const ImageBatch& input, const std::vector<Stage>& stages) {
  const std::size_t size = input.count * input.channels * input.height * input.width;
  if (size == 0 || input.values.size() != size) {
    throw std::invalid_argument("run_stages: " + std::to_string(input.values.size()) +
                                " values for images that need " + std::to_string(size));
  }
  Runner runner;
  const memory::dims dims = {to_dim(input.count), to_dim(input.channels), to_dim(input.height),
                             to_dim(input.width)};
  memory images = runner.wrap(description(dims, Tag::nchw), input.values);
  for (const Stage& stage : stages) {
    images = std::visit([&](const auto& kind) { return runner(kind, images); }, stage);
  }

  const memory::dims out = images.get_desc().dims();
  ImageBatch result{static_cast<std::size_t>(out[0]),
                    static_cast<std::size_t>(out[1]),
                    static_cast<std::size_t>(out[2]),
                    static_cast<std::size_t>(out[3]),
                    {}};
  result.values.resize(result.count * result.channels * result.height * result.width);
  memory plain = runner.wrap(description(out, Tag::nchw), result.values);
  runner.copy(images, plain);
  return result;
}

}  // namespace gemm64
