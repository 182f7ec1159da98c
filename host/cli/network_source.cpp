// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_source.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "host/execute/network_input.hpp"
#include "host/images/image.hpp"
#include "host/onnx/networks.hpp"
#include "host/onnx/supported.hpp"

namespace gemm64 {
namespace {

/// Image `index` as a network of one channel takes it.
ImageBatch grey_input(const GreyImages& images, std::size_t index, std::size_t rows,
                      std::size_t columns) {
  const std::size_t size = images.rows * images.columns;
  const auto first = images.pixels.begin() + static_cast<std::ptrdiff_t>(index * size);
  const Image image{
      images.rows, images.columns, 1, {first, first + static_cast<std::ptrdiff_t>(size)}};
  return network_input(image, 1, rows, columns);
}

/// Images first .. first + count - 1 as the network takes them.
NamedTensors image_tensor(const GreyImages& images, const std::string& name, const Dims& dims,
                          std::int64_t first, std::int64_t count) {
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  Tensor tensor(onnx::TensorProto::FLOAT, {count, dims[1], dims[2], dims[3]});
  float* to = tensor.mutable_values<float>();
  if (size(dims[1]) == kImageNetChannels) {
    const ImageBatch batch = imagenet_batch(images, size(first), size(count));
    std::copy(batch.values.begin(), batch.values.end(), to);
  } else {
    for (std::int64_t i = first; i < first + count; ++i) {
      const ImageBatch one = grey_input(images, size(i), size(dims[2]), size(dims[3]));
      to = std::copy(one.values.begin(), one.values.end(), to);
    }
  }
  return {{name, tensor}};
}

NetworkSource built_in(const NetworkOptions& options) {
  const auto images = std::make_shared<const GreyImages>(
      read_fashion_mnist_images(static_cast<std::size_t>(options.batch), options.data));
  OnnxModel model = OnnxModel::from_proto(
      make_network(options.network, options.batch, options.seed), options.network);
  const std::string name = model.inputs().at(0);
  const Dims dims = model.type(name)->dims;
  NetworkInputs inputs;
  inputs.images = options.batch;
  inputs.take = [images, name, dims](std::int64_t first, std::int64_t count) {
    return image_tensor(*images, name, dims, first, count);
  };
  return {options.network, std::move(model), std::move(inputs),
          static_cast<std::uint64_t>(options.batch)};
}

/// Shapes of inputs that are others than the model was read with.
std::map<std::string, Dims> other_shapes(const OnnxModel& model, const NamedTensors& inputs) {
  std::map<std::string, Dims> shapes;
  for (const auto& [name, tensor] : inputs) {
    const std::optional<TensorType> type = model.type(name);
    if (!type || type->dims != tensor.dims()) shapes[name] = tensor.dims();
  }
  return shapes;
}

NetworkSource from_file(const NetworkOptions& options, ClaimedFiles& files) {
  ImportOptions import;
  import.batch = options.batch;
  OnnxModel model = OnnxModel::load(options.model, import);
  claim_external_data(files, model);
  require_supported(model);
  NamedTensors inputs = make_inputs(model, options.inputs, options.batch, options.seed);
  import.input_shapes = other_shapes(model, inputs);
  if (!import.input_shapes.empty()) {
    const std::string name = model.name();
    model = OnnxModel::from_proto(std::move(model).release(), name, import);
  }
  const std::vector<std::string> names = model.inputs();
  std::uint64_t batch = 1;
  if (!names.empty() && inputs.at(names[0]).rank() != 0) {
    batch = static_cast<std::uint64_t>(inputs.at(names[0]).dim(0));
  }
  return {std::filesystem::path(options.model).filename().string(), std::move(model),
          NetworkInputs::of(std::move(inputs)), batch};
}

}  // namespace

NetworkSource open_network(const NetworkOptions& options, ClaimedFiles& files) {
  return options.model.empty() ? built_in(options) : from_file(options, files);
}

}  // namespace gemm64
