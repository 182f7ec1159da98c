// SPDX-License-Identifier: Apache-2.0
#include "host/cli/network_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "host/execute/memory_need.hpp"
#include "host/execute/network_input.hpp"
#include "host/images/image.hpp"
#include "host/onnx/networks.hpp"
#include "host/onnx/quantized_graph.hpp"
#include "host/onnx/supported.hpp"
#include "host/text.hpp"

namespace gemm64 {
namespace {

std::string gibibytes(double bytes) {
  return grouped(static_cast<std::uint64_t>(std::ceil(bytes / (1 << 30))));
}

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

void check_memory(const OnnxModel& model, std::int64_t images_in_turn) {
  const double need = memory_need(model, images_in_turn);
  if (need <= machine_memory()) return;
  throw UsageError(fmt::format("{} needs {} GiB of memory for its values; this machine has {} GiB",
                               model.name(), gibibytes(need), gibibytes(machine_memory())));
}

/// A model for as many images as asked for, or for one where it can take no more.
struct LoadedModel {
  OnnxModel model;
  ImportOptions import;     // by which it was read
  std::int64_t images = 0;  // that run one after the other; 0: all at once
  std::string why_in_turn;
};

/// Does every input that the file leaves to the user hold one image?
bool takes_one_image(const OnnxModel& model) {
  const std::vector<std::string> names = model.inputs();
  return !names.empty() && std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    const std::optional<TensorType> type = model.type(name);
    return type && !type->dims.empty() && type->dims[0] == 1;
  });
}

/// Reads the file for `images` images by `import`. Where its shapes do not allow so many, though
/// they allow one: for one.
LoadedModel load_for(const std::string& file, const ImportOptions& import, std::int64_t images) {
  try {
    return {OnnxModel::load(file, import), import, 0, ""};
  } catch (const UsageError& error) {
    if (images < 2) throw;
    const std::string why = error.what();
    ImportOptions one = import;
    one.batch = 0;
    for (auto& [name, dims] : one.input_shapes) {
      if (!dims.empty() && dims[0] == images) dims[0] = 1;
    }
    try {
      OnnxModel alone = OnnxModel::load(file, one);
      if (takes_one_image(alone)) return {std::move(alone), one, images, why};
    } catch (const UsageError&) {  // then what was wrong is not the number of images
    }
    throw;
  }
}

/// How many images the tensors hold, each of one image where the model takes one; 0 where that is
/// not so.
std::int64_t images_of(const OnnxModel& model, const NamedTensors& inputs) {
  std::int64_t images = 0;
  for (const auto& [name, tensor] : inputs) {
    const std::int64_t count = tensor.rank() == 0 ? 0 : tensor.dim(0);
    if (!model.type(name) || (images != 0 && count != images)) return 0;
    images = count;
  }
  return images;
}

NetworkSource from_file(const NetworkOptions& options, ClaimedFiles& files,
                        const CheckModel& check) {
  ImportOptions import;
  import.batch = options.batch;
  const auto check_loaded = [&](const LoadedModel& loaded) {
    require_supported(loaded.model);
    try {
      check(loaded.model);
      check_memory(loaded.model, loaded.images);
    } catch (const UsageError& error) {
      if (options.batch == 0) throw;
      throw UsageError(fmt::format("--batch {}: {}", options.batch, error.what()));
    }
  };
  LoadedModel loaded = load_for(options.model, import, options.batch);
  claim_external_data(files, loaded.model);
  check_loaded(loaded);
  NamedTensors inputs =
      make_inputs(loaded.model, options.inputs, options.batch, options.seed, loaded.images);
  import.input_shapes = other_shapes(loaded.model, inputs);
  if (loaded.images == 0 && !import.input_shapes.empty()) {
    loaded = load_for(options.model, import,
                      takes_one_image(loaded.model) ? images_of(loaded.model, inputs) : 0);
    check_loaded(loaded);
  }
  loaded.model = with_quantized_operators(std::move(loaded.model), loaded.import);
  const std::string name = std::filesystem::path(options.model).filename().string();
  if (loaded.images != 0) {
    return {name, std::move(loaded.model),
            NetworkInputs::in_turn(std::move(inputs), loaded.images, loaded.why_in_turn),
            static_cast<std::uint64_t>(loaded.images)};
  }
  const std::vector<std::string> names = loaded.model.inputs();
  std::uint64_t batch = 1;
  if (!names.empty() && inputs.at(names[0]).rank() != 0) {
    batch = static_cast<std::uint64_t>(inputs.at(names[0]).dim(0));
  }
  return {name, std::move(loaded.model), NetworkInputs::of(std::move(inputs)), batch};
}

}  // namespace

NetworkSource open_network(const NetworkOptions& options, ClaimedFiles& files,
                           const CheckModel& check) {
  return options.model.empty() ? built_in(options) : from_file(options, files, check);
}

}  // namespace gemm64
